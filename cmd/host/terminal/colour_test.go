package terminal

import (
	"strings"
	"testing"
)

// TestMessagesAreColoured checks which words of messages have a colour. Texts of servers, which
// are further in, have none.
func TestMessagesAreColoured(t *testing.T) {
	for text, want := range map[string]string{
		"error: no\n":                       "<1;31>error:</> no\n",
		"warning: w\nhint: h\n":             "<1;33>warning:</> w\n<32>hint:</> h\n",
		"note: n\ncode: usage\n":            "<36>note:</> n\n<2>code:</> usage\n",
		"  hint: of a diagnostic\n":         "  <32>hint:</> of a diagnostic\n",
		"+ runs x\n- runs y\n~ a: b\n":      "<32>+ runs x</>\n<31>- runs y</>\n<33>~ a: b</>\n",
		"error: a\n      hint: of a server": "<1;31>error:</> a\n      hint: of a server",
		"    | error: a line of a server\n": "    | error: a line of a server\n",
		"an error: in a sentence\n":         "an error: in a sentence\n",
		"errors: 3\n":                       "errors: 3\n",
		"-1 is no number\n":                 "-1 is no number\n",
		"--flag is unknown\n":               "--flag is unknown\n",
		"+\n":                               "+\n",
		"\n":                                "\n",
		"":                                  "",
		"2026-11-27T10:00 [ERROR] error: x": "2026-11-27T10:00 [ERROR] error: x",
		"error: half a line":                "<1;31>error:</> half a line",
	} {
		got := strings.NewReplacer("\x1b[0m", "</>", "\x1b[", "<").Replace(string(paintMessages([]byte(text))))
		for _, code := range []string{"1;31", "1;33", "32", "36", "31", "33", "2"} {
			got = strings.ReplaceAll(got, "<"+code+"m", "<"+code+">")
		}
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestColoursNeedATerminal checks when colours are written.
func TestColoursNeedATerminal(t *testing.T) {
	for _, c := range []struct {
		terminal bool
		env      map[string]string
		want     bool
	}{
		{true, map[string]string{"TERM": "xterm-256color"}, true},
		{true, map[string]string{"TERM": "xterm", "NO_COLOR": ""}, true},
		{false, map[string]string{"TERM": "xterm"}, false},
		{true, map[string]string{"TERM": "xterm", "NO_COLOR": "1"}, false},
		{true, map[string]string{"TERM": "xterm", "NO_COLOR": "0"}, false},
		{true, map[string]string{"TERM": "dumb"}, false},
		{true, map[string]string{"TERM": ""}, false},
		{true, nil, false},
	} {
		e := &Terminal{Lookup: func(name string) (string, bool) { v, ok := c.env[name]; return v, ok }}
		if got := e.Coloured(c.terminal); got != c.want {
			t.Errorf("terminal %t, %v: %t", c.terminal, c.env, got)
		}
	}
}
