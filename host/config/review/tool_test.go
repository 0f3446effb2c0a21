package review

import (
	"strings"
	"testing"
)

// TestOutlineShowsTheProgramsOfTools checks that a review shows the command, the directory and
// the variables of a tool block as those of its transport.
func TestOutlineShowsTheProgramsOfTools(t *testing.T) {
	for name, c := range map[string]struct{ transport, tool, want, absent string }{
		"a command": {"", `command = ["./other", "-v"]`, "runs DIR/other -v", ""},
		"a command with arguments": {"", "command = [\"./other\"]\n argv = [\"a\", \"{b}\"]",
			"runs DIR/other a {b}", ""},
		"nested arguments": {"", `argv = [["-e", "{b}"], "c"]`, `runs … ["-e", "{b}"] c`, ""},
		"a command in a directory": {"", "command = [\"./other\"]\n cwd = \"sub\"",
			"runs DIR/sub/other, in DIR/sub", ""},
		"a command in the transport's place": {`cwd = "at"`, `command = ["./other"]`, "runs DIR/at/other", ""},
		"a command in a computed place": {`cwd = env("A")`, `command = ["./other"]`,
			"runs ./other", "DIR/other"},
		"a directory alone":          {"", `cwd = "/srv"`, "runs …, in /srv", ""},
		"a directory with arguments": {"", "cwd = \"/srv\"\n argv = [\"x\"]", "runs … x, in /srv", ""},
		"a computed command":         {"", `command = [env("A")]`, `runs env("A")`, ""},
		"a program of a name":        {"", `command = ["other"]`, "runs other (not found)", ""},
		"a program of the PATH of the tool": {"", "command = [\"other\"]\n env = { PATH = \"/nowhere\" }",
			"runs other (not found in the PATH that is set)", ""},
		"a program of the transport's PATH": {`env = { PATH = "/nowhere" }`,
			`command = ["other"]`, "runs other (not found in the PATH that is set)", ""},
		"a variable": {"", `env = { LD_PRELOAD = "./x.so" }`,
			"sets environment variable LD_PRELOAD=\"./x.so\"", ""},
		"what a known program needs": {"", `command = ["gh"]`,
			"reads ~/.config/gh, ~/.gitconfig, ~/.config/git/config, by its program", ""},
		"arguments that values stand for": {"", "argument \"f\" {\n map = { fast = [\"--exec=sh\"] }\n }",
			`--exec=sh`, ""},
		"text in a command that shows nothing":  {"", `command = ["./a\u200bb"]`, `runs DIR/a\u200bb`, ""},
		"a text that looks like other commands": {"", `command = ["./a", "b c"]`, `runs DIR/a 'b c'`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := outlineOf(t, "server \"s\" {\n transport \"cli\" {\n command = [\"./x\"]\n "+c.transport+
				"\n tool \"t\" {\n "+c.tool+"\n }\n }\n}\n")
			if !strings.Contains(got+"\n", c.want) || c.absent != "" && strings.Contains(got, c.absent) {
				t.Errorf("outline\n%s\nwant %q, not %q", got, c.want, c.absent)
			}
		})
	}
}
