package review

import (
	"strings"
	"testing"
)

// TestOutlineShowsTheSandbox checks that an outline shows what a wrapped program
// may reach, by the block and because it is a known program.
func TestOutlineShowsTheSandbox(t *testing.T) {
	for name, c := range map[string]struct {
		transport, text, want, absent string
	}{
		"settings of a known program": {"cli", `command = ["gh"]`,
			"reads ~/.config/gh, ~/.gitconfig, ~/.config/git/config, by its program: its settings with its token",
			"contacts"},
		"caches of a known program": {"cli", `command = ["go", "vet"]`,
			"writes ~/.cache/junctor-programs/SERVER/go-build/, by its program: what it has built",
			"~/.cache/go-build"},
		"a program behind env":           {"cli", `command = ["env", "A=b", "kubectl"]`, "reads ~/.kube", ""},
		"an unknown program":             {"cli", `command = ["./x"]`, "runs DIR/x", "by its program"},
		"a program of another transport": {"stdio", `command = ["gh"]`, "runs", "by its program"},
		"paths that may be read": {"cli", "command = [\"x\"]\n sandbox {\n read = [\"~/.ssh\"]\n }",
			`reads ["~/.ssh"], by its program`, ""},
		"paths that may be changed": {"cli", "command = [\"x\"]\n sandbox {\n write = [\"/srv\"]\n }",
			`writes ["/srv"], by its program`, ""},
		"the network": {"cli", "command = [\"x\"]\n sandbox {\n network = true\n }",
			"contacts any address, by its program", ""},
		"ports": {"cli", "command = [\"x\"]\n sandbox {\n network = [53, 443]\n }",
			"contacts TCP ports [53, 443] of any host, by its program", ""},
		"a network that is computed": {"cli", "command = [\"x\"]\n sandbox {\n network = env(\"A\") == \"\"\n }",
			`contacts TCP ports env("A") == "" of any host, by its program`, ""},
		"no network": {"cli", "command = [\"x\"]\n sandbox {\n network = false\n }",
			"runs", "contacts"},
		"unix sockets": {"cli", "command = [\"x\"]\n sandbox {\n unix_sockets = true\n }",
			"contacts unix sockets of this machine, by its program", ""},
		"paths anywhere": {"cli", "command = [\"x\"]\n paths = \"any\"",
			"writes files anywhere but the system's and private ones, by its program", ""},
		"paths anywhere, of a tool": {"cli", "command = [\"x\"]\n tool \"t\" {\n paths = \"any\"\n }",
			"reads files anywhere but private ones, by its program", ""},
		"paths that are computed": {"cli", "command = [\"x\"]\n paths = env(\"A\")",
			"reads files anywhere but private ones, by its program", ""},
		"paths in the working directory": {"cli", "command = [\"x\"]\n paths = \"cwd\"", "runs", "anywhere"},
		"paths of another transport":     {"stdio", "command = [\"x\"]\n paths = \"any\"", "runs", "anywhere"},
		"a setting of a later version": {"cli", "command = [\"x\"]\n sandbox {\n later = \"y\"\n }",
			`sets later = "y"`, ""},
		"text in a path that shows nothing": {"cli", "command = [\"x\"]\n sandbox {\n read = [\"a\\u200bb\"]\n }",
			`reads ["a\u200bb"], by its program`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := outlineOf(t, "server \"s\" {\n  transport \""+c.transport+"\" {\n    "+c.text+"\n  }\n}\n")
			if !strings.Contains(got, c.want) || c.absent != "" && strings.Contains(got, c.absent) {
				t.Errorf("outline\n%s\nwant %q, not %q", got, c.want, c.absent)
			}
		})
	}
}
