package secret

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/host/fault"
)

func TestPasswordOrder(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	a, b := file("a", "from a\n"), file("b", "from b\r\nmore")
	prompt := func(context.Context, bool) ([]byte, error) { return []byte("typed"), nil }
	for name, c := range map[string]struct {
		o    PasswordOptions
		vars map[string]string
		want string
	}{
		"the file before all": {PasswordOptions{File: a, Prompt: prompt},
			map[string]string{fileVariable: b}, "from a"},
		"the variable": {PasswordOptions{Prompt: prompt}, map[string]string{fileVariable: b}, "from b"},
		"a person":     {PasswordOptions{Prompt: prompt}, nil, "typed"},
		"an empty variable": {PasswordOptions{Prompt: prompt},
			map[string]string{fileVariable: "", fdVariable: ""}, "typed"},
		"the variable of the file": {PasswordOptions{}, map[string]string{fileVariable: b, fdVariable: "77"}, "from b"},
	} {
		c.o.Lookup = func(name string) (string, bool) { v, ok := c.vars[name]; return v, ok }
		if got, err := Passwords(c.o)(t.Context(), false); err != nil || string(got) != c.want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

func TestPasswordErrors(t *testing.T) {
	dir := t.TempDir()
	at := func(name string, mode os.FileMode, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	lookup := func(value string) func(string) (string, bool) {
		return func(name string) (string, bool) { v, ok := map[string]string{fdVariable: value}[name]; return v, ok }
	}
	for name, o := range map[string]PasswordOptions{
		"nothing":                    {},
		"no such file":               {File: filepath.Join(dir, "none")},
		"a directory":                {File: dir},
		"an empty file":              {File: at("empty", 0o600, "")},
		"an empty line":              {File: at("line", 0o600, "\nsecond")},
		"a file that a group reads":  {File: at("group", 0o640, "canary")},
		"a file that all write":      {File: at("all", 0o602, "canary")},
		"a file with no end":         {File: at("long", 0o600, strings.Repeat("canary", 1000))},
		"a descriptor of ours":       {FD: 1},
		"no descriptor":              {FD: 987},
		"a variable of words":        {Lookup: lookup("three")},
		"a variable for stdin":       {Lookup: lookup("0")},
		"a variable for what is not": {Lookup: lookup("987")},
	} {
		switch name {
		case "a file that all write":
			_ = os.Chmod(o.File, 0o602) // whatever the umask is
		case "a file that a group reads":
			_ = os.Chown(o.File, -1, 4321) // root's own group may read it; other users cannot change the group
		}
		got, err := Passwords(o)(t.Context(), false)
		if got != nil || strings.Contains(fmt.Sprintf("%v %+v", err, fault.As(err)), "canary") {
			t.Errorf("%s: %q, %v", name, got, err)
		}
		t.Run(name, func(t *testing.T) { wantCode(t, err, fault.SecretLocked) })
	}
	if _, err := Passwords(PasswordOptions{})(t.Context(), false); !strings.Contains(fault.As(err).Hint,
		fileVariable) ||
		!strings.Contains(fault.As(err).Hint, fdVariable) || !strings.Contains(fault.As(err).Hint, "terminal") {
		t.Errorf("the hint names not all passwordHint: %v", fault.As(err).Hint)
	}
}
