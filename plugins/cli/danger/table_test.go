package danger

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/plugins/cli/model"
)

var update = flag.Bool("update", false, "rewrite the golden file")

// mostWrapped are programs that the table must contain.
var mostWrapped = strings.Fields(`git tar find rsync ssh scp curl wget sort awk sed jq grep rg fd docker kubectl helm terraform npm npx yarn pip uv cargo go make
	cmake openssl ffmpeg convert magick pandoc zip unzip 7z gpg psql mysql sqlite3 redis-cli aws gcloud az gh systemctl journalctl apt-get dpkg rpm python node perl
	ruby vim less man xargs env nice timeout watch strace gdb tcpdump nmap socat nc date wc diff patch`)

func TestTableHasMostWrappedPrograms(t *testing.T) {
	table, err := readTable()
	if err != nil {
		t.Fatal(err)
	}
	for _, program := range mostWrapped {
		if len(table[program]) == 0 {
			t.Errorf("%s is not in the table", program)
		}
	}
	for program, rows := range table {
		for _, r := range rows {
			if r.evidence == "" {
				t.Errorf("line %d, %s: no evidence", r.line, program)
			}
		}
	}
}

func TestParseTableRejectsInvalidLines(t *testing.T) {
	for _, line := range []string{"git", "git . -c runs", "git . -c explodes git(1)",
		"git . c runs git(1)", "git . --x~( runs git(1)"} {
		if _, err := parseTable(line); err == nil {
			t.Errorf("%q was accepted", line)
		}
	}
}

// TestTriedRowsHaveAnAttack checks that attacks.txt tries every row that says
// "tried".
func TestTriedRowsHaveAnAttack(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "testdata", "attacks.txt"))
	if err != nil {
		t.Fatal(err)
	}
	table, err := readTable()
	if err != nil {
		t.Fatal(err)
	}
	tried, claimed := map[int]bool{}, map[int]string{}
	for program, rows := range table {
		for _, r := range rows {
			if r.effect == quirk || !strings.Contains(r.evidence, "tried") {
				continue
			}
			claimed[r.line] = program
			for line := range strings.Lines(string(text)) {
				if name, _, _ := strings.Cut(line, " "); name == program || known(table, name) == program {
					tried[r.line] = tried[r.line] || r.triedBy(line)
				}
			}
		}
	}
	for line, program := range claimed {
		if !tried[line] {
			t.Errorf("line %d, %s: no attack tries it", line, program)
		}
	}
}

// triedBy reports whether an attack tries the row.
func (r *row) triedBy(attack string) bool {
	_, attack, _ = strings.Cut(attack, " | ")
	argv, _, _ := strings.Cut(attack, " | ")
	if r.command != nil && !strings.Contains(argv, " "+strings.Join(r.command, " ")) {
		return false
	}
	if r.whole || r.force != nil || r.scan != nil || slices.Contains(r.options, "<*>") {
		return true
	}
	return slices.ContainsFunc(r.options, func(option string) bool {
		letters := len(option) == 2 &&
			regexp.MustCompile(` -[A-Za-z0-9]*`+regexp.QuoteMeta(option[1:])).MatchString(argv)
		return letters || strings.Contains(argv, " "+option)
	})
}

// TestRules checks the findings for single options and commands.
func TestRules(t *testing.T) {
	for _, c := range []struct {
		command, path, option string
		want                  Effect
	}{
		{"git", "log", "--output", Writes}, {"git", "log", "-c", ""}, {"git", "log", "--oneline", ""},
		{"git", "", "-c", Runs}, {"git", "grep", "-O", Runs}, {"git", "diff", "-O", Reads},
		{"git", "check-ignore", "--no-index", ""}, {"git", "diff", "--no-index", Reads},
		{"git", "clone", "--upload-pack", Runs}, {"git", "log", "-S", ""}, {"git", "commit", "-S", Runs},
		{"git.exe", "log", "--output", Writes}, {"/usr/bin/git", "log", "--output", Writes},
		{"env git", "log", "--output", Writes}, {"nice -n 5 git", "log", "--output", Writes},
		{"git -C dir", "log", "--output", Writes}, {"git archive", "", "--prefix", ""},
		{"git", "archive", "--prefix", ""}, {"git", "checkout-index", "--prefix", Writes},
		{"python3 -m pip", "list", "--log", Writes}, {"pip3.11", "list", "--log", Writes},
		{"kubectl", "logs", "-f", ""}, {"kubectl", "apply", "-f", Reads}, {"unheard-of", "", "--diff-program", Runs},
		{"unheard-of", "", "--exec-batch", Runs}, {"unheard-of", "", "--config-file", Loads},
		{"unheard-of", "", "--output-file", Writes}, {"unheard-of", "", "--output-format", ""},
		{"unheard-of", "", "--name", ""}, {"unheard-of", "", "--log-level", ""}, {"unheard-of", "", "--pager", Runs},
		{"unheard-of", "", "--plugin", Loads},
	} {
		r := For(strings.Fields(c.command), "")
		f, ok := r.Option(strings.Fields(c.path),
			&model.Option{Names: []string{c.option}, Value: model.Value{Kind: model.String}})
		if f.Effect == safe {
			f.Effect = ""
		}
		if f.Effect != c.want || ok != (c.want != "") {
			t.Errorf("%s %s %s: %q, want %q", c.command, c.path, c.option, f.Effect, c.want)
		}
	}
	for command, want := range map[string]Effect{
		"awk": "", "gawk": "", "goawk": Runs, "python3": Runs, "python3.11": Runs, "python3 script.py": "",
		"python3 -m pip": "", "sh": Runs, "sh -c": Runs, "env": Runs, "env A=b": Runs, "env git": "",
		"xargs": Runs, "ffmpeg": "", "ffplay": Ordered, "git": "", "unheard-of": "", "busybox": Runs, "busybox wc": "",
		"timeout 5 git": "", "ssh": Runs, "make": Runs, "lua5.4": Runs, "sed": Runs,
	} {
		f, ok := For(strings.Fields(command), "").Command(&model.Command{})
		if f.Effect != want || ok != (want != "") {
			t.Errorf("%s: %q, want %q", command, f.Effect, want)
		}
	}
	var none *Rules
	if _, ok := none.Command(&model.Command{}); ok || none.Forced(nil) != nil || none.Values(nil) != nil ||
		none.DataCodes(nil) != nil || none.Spellings(nil) != nil || none.Is(nil, "x") {
		t.Error("nil Rules report a finding")
	}
	if codes := For([]string{"git"}, "").DataCodes([]string{"grep"}); !slices.Equal(codes, []int{1}) {
		t.Errorf("data codes of git grep: %v", codes)
	}
}

// TestPatternHits compares the options of real programs that only the patterns
// find with the golden file.
func TestPatternHits(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "..", "..", "testdata", "clis", "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatal("no corpus", err)
	}
	var b strings.Builder
	all, hits := 0, 0
	for _, file := range files {
		var c struct {
			Program string
			Pages   []struct {
				Path []string
				Long map[string]string
			}
		}
		text, err := os.ReadFile(file)
		if err != nil || json.Unmarshal(text, &c) != nil {
			t.Fatal(file, err)
		}
		rules := For([]string{c.Program}, "")
		known, only, kept := map[string]bool{}, map[string]bool{}, 0
		for _, p := range c.Pages {
			for option, kind := range p.Long {
				o := &model.Option{Names: []string{option}, Value: model.Value{Kind: model.String}}
				if kind == "flag" {
					o.Value.Kind = model.Bool
				}
				all++
				f, dangerous := rules.Option(p.Path, o)
				switch {
				case !dangerous:
					kept++
				case f.Evidence != "":
					known[option] = true
					hits++
				default:
					only[option] = true
					hits++
				}
			}
		}
		fmt.Fprintf(&b, "%s: %d offered; by the table %d; by patterns:%s\n", c.Program, kept, len(known), sorted(only))
	}
	fmt.Fprintf(&b, "all: %d of %d left out\n", hits, all)
	golden := filepath.Join("testdata", "patterns.golden")
	if *update {
		if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil || string(want) != b.String() {
		t.Errorf("the hits differ from %s (%v); -update rewrites it:\n%s", golden, err, &b)
	}
	if 100*hits > 12*all {
		t.Errorf("%d of %d options are left out", hits, all)
	}
}

func sorted(set map[string]bool) string {
	var names []string
	for name := range set {
		names = append(names, " "+name)
	}
	slices.Sort(names)
	return strings.Join(names, "")
}
