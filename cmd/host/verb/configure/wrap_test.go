package configure

import (
	"strings"
	"testing"
)

func TestLabelOf(t *testing.T) {
	for program, want := range map[string]string{
		"git": "git", "/usr/bin/ssh-keygen": "ssh-keygen",
		"7z": "program-7z", "2to3-3.11": "program-2to3-3-11", "Foo Bar.EXE": "foo-bar",
		"é": "program", "_x": "x", strings.Repeat("a", 63) + "-b": strings.Repeat("a", 63),
	} {
		if got := labelOf(program); got != want {
			t.Errorf("%s is %q, want %q", program, got, want)
		}
	}
}
