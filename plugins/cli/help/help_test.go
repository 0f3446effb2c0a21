package help

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/plugins/cli/model"
)

// TestLayouts parses each layout.
func TestLayouts(t *testing.T) {
	for _, c := range slices.Concat(layouts, commandLayouts, alternativeLayouts, fileLayouts, valueLayouts,
		conventionLayouts) {
		t.Run(c.name, func(t *testing.T) {
			parse := Parse
			if c.man {
				parse = ParseMan
			}
			cmd, ok := parse(c.text, c.about)
			if !ok {
				t.Error("Parse understood nothing")
			}
			if got, want := strings.TrimSpace(shown(cmd)), strings.TrimSpace(c.want); got != want {
				t.Errorf("parsed:\n%s\n\nwant:\n%s", got, want)
			}
			checkSound(t, c.text, wrap(cmd))
		})
	}
}

// TestSummary checks the summary from the first line or from the heading NAME.
func TestSummary(t *testing.T) {
	for text, want := range map[string]string{
		"odd - does odd things\n\nUsage: odd [--loud] INPUT\n\n  --loud   shout\n":                     "odd - does odd things",
		"NAME\n     odd \u2014 does odd things\n\nSYNOPSIS\n     odd [-l]\n\nDESCRIPTION\n     Odd.\n": "does odd things",
	} {
		cmd, _ := Parse(text, About{Program: "odd"})
		if cmd.Summary != want {
			t.Errorf("the summary of %q is %q", text, cmd.Summary)
		}
	}
}

// TestNumbered checks whether a number after a dash is an option.
func TestNumbered(t *testing.T) {
	for text, want := range map[string]bool{
		"Usage: p [-5] FILE\n  -q  quiet\n":                 true,
		"Usage: p [-NUM] FILE\n  -q  quiet\n":               true,
		"Usage: p FILE\n  -<n>, -n N   lines\n":             true,
		"Usage: p FILE\n  -1, --fast  compress faster\n":    true,
		"Usage: p FILE\n  -#  the number of columns\n":      true,
		"Usage: p FILE\n  -n NUM  lines\n":                  false,
		"Usage: p FILE\n  --n-5  a name\n  -q  1-5\n":       false,
		"Usage: p FILE\n  -n, --number  number the lines\n": false,
	} {
		if cmd, _ := Parse(text, About{Program: "p"}); cmd.Numbered != want {
			t.Errorf("%q: %t", text, cmd.Numbered)
		}
	}
}

// wrap gives commands the paths that checkSound expects.
func wrap(cmd *model.Command) *model.Command {
	c := *cmd
	c.Commands = nil
	for _, k := range cmd.Commands {
		c.Commands = append(c.Commands, &model.Command{Path: []string{"", k.Path[len(k.Path)-1]}})
	}
	return &c
}

// TestTextsWithoutOptions parses texts that contain neither options nor
// commands.
func TestTextsWithoutOptions(t *testing.T) {
	for _, c := range refused {
		t.Run(c.name, func(t *testing.T) {
			for name, parse := range map[string]func(string, About) (*model.Command, bool){"help": Parse,
				"man": ParseMan} {
				cmd, _ := parse(c.text, About{Program: "prog"})
				if len(cmd.Options)+len(cmd.Commands) > 0 {
					t.Errorf("parsed as %s:\n%s", name, shown(cmd))
				}
			}
		})
	}
}

// shown formats what was parsed, one fact a line.
func shown(cmd *model.Command) string {
	var b strings.Builder
	for _, o := range cmd.Options {
		b.WriteString(strings.Join(o.Names, " "))
		if o.Negation != "" {
			b.WriteString(" /" + o.Negation)
		}
		value(&b, o.Value)
		flag(&b, "many", o.Repeatable)
		flag(&b, "required", o.Required)
		if o.Env != "" {
			b.WriteString(" env:" + o.Env)
		}
		flag(&b, "inherited", o.Inherited)
		b.WriteByte('\n')
	}
	for _, p := range cmd.Positionals {
		fmt.Fprintf(&b, "<%s> %s", p.Name, p.Value.Kind)
		flag(&b, "required", p.Required)
		flag(&b, "many", p.Repeatable)
		flag(&b, "after", p.AfterTerminator)
		b.WriteByte('\n')
	}
	for _, a := range cmd.Aliases {
		fmt.Fprintf(&b, "alias %s\n", a)
	}
	for _, set := range cmd.Conflicts {
		fmt.Fprintf(&b, "conflict %s\n", strings.Join(set, " "))
	}
	listCommands(&b, cmd.Commands, "")
	flag(&b, "terminator\n", cmd.Terminator)
	for _, u := range cmd.Unparsed {
		fmt.Fprintf(&b, "unparsed %s\n", u)
	}
	if cmd.Runnable {
		b.WriteString("runnable\n")
	}
	return strings.ReplaceAll(b.String(), "\n ter", "\nter")
}

func value(b *strings.Builder, v model.Value) {
	fmt.Fprintf(b, " %s", v.Kind)
	if v.Placeholder != "" {
		b.WriteString(" " + v.Placeholder)
	}
	if v.Choices != nil {
		fmt.Fprintf(b, " {%s}", strings.Join(v.Choices, ","))
	}
	if v.Default != "" {
		b.WriteString(" =" + v.Default)
	}
	flag(b, "eq", v.Equals)
	flag(b, "opt", v.Optional)
	flag(b, "glued", v.Glued)
	if v.Arity > 1 {
		fmt.Fprintf(b, " x%d", v.Arity)
	}
}

func flag(b *strings.Builder, name string, set bool) {
	if set {
		b.WriteString(" " + name)
	}
}

func listCommands(b *strings.Builder, all []*model.Command, indent string) {
	for _, c := range all {
		fmt.Fprintf(b, "%scmd %s", indent, c.Path[len(c.Path)-1])
		if len(c.Aliases) > 0 {
			fmt.Fprintf(b, " (%s)", strings.Join(c.Aliases, ","))
		}
		for _, o := range c.Options {
			b.WriteString(" " + o.Names[0])
		}
		for _, p := range c.Positionals {
			b.WriteString(" <" + p.Name + ">")
		}
		if c.Summary != "" {
			b.WriteString(": " + c.Summary)
		}
		b.WriteByte('\n')
		listCommands(b, c.Commands, indent+"  ")
	}
}

// TestOrder: arguments that the usage has before the options come first, unless the program
// has long options. A help without a usage says nothing about arguments.
func TestOrder(t *testing.T) {
	for text, want := range map[string]string{
		"Usage: wn [ word ] [-h] [-over ...]\n":                    "1",
		"Usage: p IN OUT [-v]\n":                                   "2",
		"Usage: p IN [-v] OUT\n":                                   "1",
		"Usage: p [-v] IN OUT\n":                                   "0",
		"Usage: p IN OUT\n":                                        "0",
		"Usage: p IN [--verbose]\n":                                "0",
		"Usage: p IN [flags]\n\nFlags:\n  --all  all of it\n":      "0",
		"Usage: p IN [options]\n\nOptions:\n  -a  all of it\n":     "1",
		"Usage of p:\n  -color\n    \tPrint color diff\n":          "0 no usage",
		"Usage:\n  p [-v]\n\nOptions:\n  -v  say more than that\n": "0",
	} {
		cmd, _ := Parse(text, About{Program: "p"})
		got := strconv.Itoa(cmd.Leading)
		if cmd.NoUsage {
			got += " no usage"
		}
		if got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

// TestDiffLinesAreNotOptions checks that lines of a diff in a man page do not
// count as unparsed options.
func TestDiffLinesAreNotOptions(t *testing.T) {
	for line, want := range map[string]bool{
		"--- a/describe.c": true, "+++ b/describe.c": true,
		"-static void describe(struct commit *cmit, int last_one)": true, "--full-history results.": true,
		"-x = 1;": true, "---": true,
		"-x FILE  a file": false, "--all  everything there is": false,
		"-NUM  same as --context=NUM": false, "--output=FILE": false, "-o, --output": false,
	} {
		if patch.MatchString(line) != want {
			t.Errorf("%q: %t", line, !want)
		}
	}
}

// TestUsageOfTheWholeProgram: a usage that a command prints for the whole program, such as that
// in an error of aws, gives the command no arguments.
func TestUsageOfTheWholeProgram(t *testing.T) {
	for text, want := range map[string]int{
		"usage: prog [options] <command> <subcommand> [<subcommand> ...] [parameters]\n\nUnknown options: --help\n": 0,
		"usage: prog [options] COMMAND\n":                             0,
		"usage: prog [options] a sub <file>\n":                        1,
		"usage: sub <command>\n":                                      1,
		"usage: prog a sub <command> <file>\n":                        2,
		"usage: prog [options] <command>\nusage: prog a sub <file>\n": 1,
		"usage: prog [options] <file>\n":                              1,
	} {
		cmd, _ := Parse(text, About{Program: "prog", Path: []string{"a", "sub"}})
		if got := len(cmd.Positionals); got != want {
			t.Errorf("%q: %+v, want %d", text, cmd.Positionals, want)
		}
	}
}

// TestOptionalByWords: an argument is optional if the usage has "or NONE" behind it.
func TestOptionalByWords(t *testing.T) {
	for text, want := range map[string]bool{"Usage: p ls <uri> or NONE\n": false,
		"Usage: p ls <uri> or <path>\n": true, "Usage: p ls <uri>\n": true} {
		cmd, _ := Parse(text, About{Program: "p", Path: []string{"ls"}})
		if len(cmd.Positionals) != 1 || cmd.Positionals[0].Required != want {
			t.Errorf("%q: %+v", text, cmd.Positionals)
		}
	}
}
