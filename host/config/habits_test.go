package config

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/junctor-mcp/junctor/host/config/expression"
	"github.com/junctor-mcp/junctor/host/config/language"
)

// leastHabits is the number of habits from other programs that have a fixture.
const leastHabits = 45

// habitsFile has a fixture for each mistake that users of other MCP clients make.
var habitsFile = filepath.Join("..", "..", "testdata", "config", "habits.txtar")

// TestHabitsGetHintsThatSayWhatToWrite loads the fixtures. Each begins with lines
// "# says: REGEXP", and each REGEXP must match a hint. A new golden text can therefore not
// lose the hint.
func TestHabitsGetHintsThatSayWhatToWrite(t *testing.T) {
	archive, err := txtar.ParseFile(habitsFile)
	if err != nil || len(archive.Files) < 2*leastHabits {
		t.Fatalf("%v, or fewer than %d fixtures", err, leastHabits)
	}
	for i := 0; i+1 < len(archive.Files); i += 2 {
		fixture, golden := &archive.Files[i], &archive.Files[i+1]
		name := strings.TrimSuffix(fixture.Name, ".hcl")
		if name == fixture.Name || golden.Name != name+".golden" {
			t.Fatalf("%s is followed by %s", fixture.Name, golden.Name)
		}
		t.Run(name, func(t *testing.T) {
			_, ds := Load(context.Background(),
				Options{Path: fixture.Name, Text: fixture.Data, Lookup: fakeLookup, Describe: fakeDescribe})
			var hints []string
			for _, d := range ds {
				hints = append(hints, d.Hint)
				if d.Hint == "" {
					t.Errorf("no hint for: %s", d.Summary)
				}
			}
			for _, says := range saysOf(t, fixture) {
				if !slices.ContainsFunc(hints, says.MatchString) {
					t.Errorf("no hint matches %s:\n%s", says, strings.Join(hints, "\n"))
				}
			}
			got := rendered(ds)
			if strings.Contains(got, "hunter2") {
				t.Errorf("the diagnostics repeat a secret:\n%s", got)
			}
			if *update {
				golden.Data = []byte(got)
			} else if got != string(golden.Data) {
				t.Errorf("the diagnostics differ; got:\n%s\nwant:\n%s", got, golden.Data)
			}
		})
	}
	if *update {
		if err := os.WriteFile(habitsFile, txtar.Format(archive), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// saysOf returns the expressions at the head of a fixture.
func saysOf(t *testing.T, fixture *txtar.File) (all []*regexp.Regexp) {
	for line := range strings.Lines(string(fixture.Data)) {
		expr, ok := strings.CutPrefix(strings.TrimSpace(line), "# says: ")
		if !ok {
			break
		}
		all = append(all, regexp.MustCompile(expr))
	}
	if len(all) == 0 {
		t.Fatalf("%s does not begin with # says: REGEXP", fixture.Name)
	}
	return all
}

// TestForeignNamesFitTheirBlocks checks that no foreign name is a name of its block with
// the same meaning, and that entries need names that the block has.
func TestForeignNamesFitTheirBlocks(t *testing.T) {
	forms := map[string]language.Form{
		"": *Language(), "server": *language.FormOf[Server](), "gateway": *language.FormOf[Gateway](),
		"http": *language.FormOf[HTTP](), "policy": *language.FormOf[policyBlock](),
		"role":  *language.FormOf[roleBlock](),
		"allow": *language.FormOf[ruleBlock](), "deny": *language.FormOf[ruleBlock](),
		"confirm": *language.FormOf[confirmBlock](), "variable": *language.FormOf[expression.Variable](),
		"tools": *language.FormOf[Tools](), "timeouts": *language.FormOf[Timeouts](),
	}
	for kind, entries := range foreignNames {
		f, known := forms[kind]
		for _, e := range entries {
			if !strings.Contains(e.hint, "write ") && !strings.Contains(e.hint, "remove it") &&
				!strings.HasPrefix(e.hint, "put ") {
				t.Errorf("%s, %s: the hint does not say what to write: %s", kind, e.names, e.hint)
			}
			if e.instead && e.needs == "" {
				t.Errorf("%s, %s: replaces nothing", kind, e.names)
			}
			if known && e.needs != "" && !slices.Contains(f.Names(), e.needs) {
				t.Errorf("%s, %s: the block has no %q", kind, e.names, e.needs)
			}
			for _, name := range strings.Fields(e.names) {
				if slices.Contains(f.AttributeNames(), name) {
					t.Errorf("%s: %q is an attribute of the block", kind, name)
				}
			}
		}
	}
}

// TestForeignTextsLeaveOthersAlone loads settings that look like habits and are not.
func TestForeignTextsLeaveOthersAlone(t *testing.T) {
	for _, setting := range []string{
		`command = ["sh", "-c", "$HOME/bin/server"]`,
		`command = ["ssh", "host", "$HOME/server"]`, `command = ["/opt/My Server/bin"]`,
		`command = ["a", "$5", "$home", "US$HOME", "a$HOME/b"]`, `command = ["bash", "-lc", "npx -y server"]`,
		"command = [\"x\"]\n    env = { DATABASE = \"file:///srv/x.db\" }",
		"command = [\"x\"]\n    env = { API_TOKEN = \"a%AB%c\" }",
		"command = [\"x\"]\n    env = { API_TOKEN = \"xkeyring:a\", B = \"{env:a}\", C = \"{env:}\", D = \"~/x\" }",
		"command = [\"docker\"]\n    args = [\"run\", \"--command\", \"$HOME\"]",
		"command = [\"sh\"]\n    args = [\"$HOME/x\"]",
	} {
		_, ds := loadText(t, "server \"a\" {\n  transport \"stdio\" {\n    "+setting+"\n  }\n}\n")
		if len(ds) > 0 {
			t.Errorf("%s:\n%s", setting, rendered(ds))
		}
	}
}

// TestHintsDoNotRepeatSecrets loads secrets in places where hints repeat words.
func TestHintsDoNotRepeatSecrets(t *testing.T) {
	for _, setting := range []string{
		`env = { T = HUNTER2SECRET }`, `env = { T = hunter2secret }`, `env = { T = "${hunter2secret}" }`,
		`env = { T = "${HUNTER2SECRET}" }`, `env = { T = "${env:hunter2secret}" }`,
		`env = { T = "${HUNTER2SECRET:-x}" }`, `env = { T = "${input:hunter2secret}" }`,
		`env = { T = env.hunter2secret }`, `env = { T = env.HUNTER2SECRET }`, `env = { T = env(HUNTER2SECRET) }`,
		`env = "hunter2secret"`, `env = ["T=hunter2secret"]`, `token = "hunter2secret"`,
		`env = { T = 'hunter2secret' }`, `env = { T = hunter2secret:x }`, `env = { T = "keyring:hunter2secret" }`,
		`env = { T = "{file:hunter2secret}" }`, `env = { API_TOKEN = "file://hunter2secret" }`,
		`token: "hunter2secret"`, `token "hunter2secret"`, `token = "hunter2secret",`,
		`env = { T = "${{ hunter2secret }}" }`, `headers = { T = "hunter2secret" }`,
	} {
		_, ds := loadText(t,
			"server \"a\" {\n  transport \"stdio\" {\n    command = [\"x\"]\n    "+setting+"\n  }\n}\n")
		if got := rendered(ds); len(ds) == 0 || strings.Contains(strings.ToLower(got), "hunter2") {
			t.Errorf("%s:\n%s", setting, got)
		}
	}
	_, ds := loadText(t, "server \"a\" {\n  transport \"stdio\" {\n    command = \"x --token hunter2secret\"\n  }\n}\n")
	for _, d := range ds {
		if strings.Contains(d.Hint, "hunter2") {
			t.Errorf("%s", d.Hint)
		}
	}
}

// TestNumbersGetUnits checks the hints for durations, sizes and addresses.
func TestNumbersGetUnits(t *testing.T) {
	for text, want := range map[string]string{
		"30":    `write x = "30s" for 30 seconds`,
		"60000": `write x = "1m" for 60000 milliseconds`, "1500": `write x = "1.5s" for 1500 milliseconds`,
		"5 min": `write x = "5m"`, "2 hours": `write x = "2h"`, "30sec": `write x = "30s"`,
		"1d": `write x = "24h"`, "30 S": `write x = "30s"`,
		"": "", "soon": "", "12345678901234567890": "", "-1": "", "3 weeks": "", "0": "",
	} {
		if got := language.DurationHint("x", text); got != want {
			t.Errorf("duration %q: %s, want %s", text, got, want)
		}
	}
	for text, want := range map[string]string{
		"16MB": `write x = "16MiB"`, "16 m": `write x = "16MiB"`,
		"512kb": `write x = "512KiB"`, "1GB": `write x = "1024MiB"`, "1048576": `write x = "1MiB" for 1048576 bytes`,
		"": "", "16": `write x = "16MiB"`, "0MB": "", "16TB": "", "99999GB": "", "1.5MB": "",
	} {
		if got := language.SizeHint("x", text); got != want {
			t.Errorf("size %q: %s, want %s", text, got, want)
		}
	}
	for text, want := range map[string]string{
		"8080": `"127.0.0.1:8080"`, ":8080": `"127.0.0.1:8080"`,
		"http://localhost:80/mcp": `"localhost:80"`, "0.0.0.0": `"0.0.0.0:7575"`,
		"": listenHint, "99999": listenHint, "http://user@host:80": listenHint,
		"http://": listenHint, "a b": listenHint, strings.Repeat("a", 200): listenHint,
	} {
		if got := listenHintFor(text, "listen = %q"); !strings.Contains(got, want) {
			t.Errorf("listen %q: %s, want %s", text, got, want)
		}
	}
}
