package discover

import (
	"slices"
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/plugins/cli/model"
)

func option(description string, kind model.Kind, names ...string) model.Option {
	return model.Option{Names: names, Description: description, Value: model.Value{Kind: kind}}
}

// TestJoin checks that a second text fills gaps of the first one and changes
// nothing else.
func TestJoin(t *testing.T) {
	w := &walk{program: &model.Program{}}
	n := &node{cmd: &model.Command{Confidence: 0.9, Options: []model.Option{
		option("In colour", model.Bool, "--color"),
		option("", model.Bool, "-o"),
		option("People's sizes", model.Bool, "-h"),
		option("Shows this", model.Bool, "--help"),
		option("How many", model.Integer, "--number"),
	}}}
	w.join(n, &model.Command{Confidence: 1, Summary: "Does it", Options: []model.Option{
		option("Something else", model.Enum, "--color"),
		option("Where to", model.Path, "-o", "--output"),
		option("Help", model.Bool, "-h", "--help"),
		option("Only here", model.Bool, "--extra"),
		{Names: []string{"--number"}, Value: model.Value{Kind: model.String, Default: "7"}},
	}})
	var got []string
	for _, o := range n.cmd.Options {
		got = append(got, strings.Join(o.Names, " ")+": "+o.Description+": "+string(o.Value.Kind)+o.Value.Default)
	}
	want := []string{
		"--color: In colour: bool", "--output -o: Where to: path",
		"-h: People's sizes: bool", "--help: Shows this: bool",
		"--number: How many: integer7", "--extra: Only here: bool",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if n.cmd.Summary != "Does it" || n.cmd.Confidence != 0.9 {
		t.Errorf("%+v", n.cmd)
	}
}

func TestJoinBoundsTheOptions(t *testing.T) {
	w := &walk{program: &model.Program{}}
	n := &node{cmd: &model.Command{}}
	other := &model.Command{}
	for i := range maxOptions + 5 {
		other.Options = append(other.Options, option("", model.Bool, "--o"+strings.Repeat("x", i)))
	}
	w.join(n, other)
	if len(n.cmd.Options) != maxOptions || len(w.program.Incomplete) != 1 ||
		!strings.Contains(w.program.Incomplete[0], "5 options") {
		t.Errorf("%d, %q", len(n.cmd.Options), w.program.Incomplete)
	}
}

// TestFindMore checks when the list of a man page counts as a list of commands.
func TestFindMore(t *testing.T) {
	for _, c := range []struct {
		known, page string
		named       bool
		want        string
	}{
		{"add get put", "add get put extra", false, "add get put extra"},
		{"add get", "add get a b c d", true, "add get a b c d"},

		{"add get", "add get a b c d", false, "add get"},
		{"add get put", "add get", false, "add get put"},
		{"add get put", "add alpha beta gamma", false, "add get put"},
		{"add get put", "alpha beta", false, "add get put"},
		{"add get put", "alpha beta", true, "add get put"},
		{"add get put", "add get put Note THE -x a/b", false, "add get put"},
		{"", "add get put", false, ""},
		{"", "add get put", true, ""},
	} {
		n := &node{cmd: &model.Command{}}
		n.find(tree(strings.Fields(c.known)...).Commands)
		n.findMore(tree(strings.Fields(c.page)...).Commands, c.named)
		var got []string
		for _, f := range n.found {
			got = append(got, lastWord(f))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%q and %q: %q", c.known, c.page, got)
		}
	}
}

func TestManPageMustBeInstalledWithTheProgram(t *testing.T) {
	for _, c := range []struct {
		page, program string
		want          bool
	}{
		{"/usr/share/man/man1/x.1.gz", "/usr/bin/x", true},
		{"/usr/share/man/man1/x.1.gz", "/bin/x", true},
		{"/usr/local/share/man/man1/x.1", "/usr/local/bin/x", true},
		{"/opt/x/man/man1/x.1", "/opt/x/bin/x", true},
		{"/usr/share/man/man1/x.1.gz", "/usr/local/bin/x", false},
		{"/usr/share/man/man1/x.1.gz", "/var/somebody/bin/x", false},
		{"/usrx/man/man1/x.1", "/usr/bin/x", false},
		{"", "/usr/bin/x", false},
	} {
		if got := installedWith(c.page, c.program); got != c.want {
			t.Errorf("%s, %s: %t", c.page, c.program, got)
		}
	}
}
