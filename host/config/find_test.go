package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/host/fault"
)

func TestFind(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	touch := func(path string) string {
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	explicit, named := touch("explicit.hcl"), touch("named.hcl")
	xdg, home := touch("xdg/junctor/junctor.hcl"), touch("home/.config/junctor/junctor.hcl")
	own := touch("own/config/junctor.hcl")

	cases := []struct {
		name, explicit string
		env            map[string]string
		want           string // or "!" and a part of the error
	}{
		{"explicit wins", explicit, map[string]string{"JUNCTOR_CONFIG": named}, explicit},
		{"explicit is missing", "gone.hcl", map[string]string{"JUNCTOR_CONFIG": named}, "!gone.hcl"},
		{"a directory", dir, nil, dir},
		{"JUNCTOR_CONFIG",
			"", map[string]string{"JUNCTOR_CONFIG": named, "XDG_CONFIG_HOME": filepath.Join(dir, "xdg")}, named},
		{"JUNCTOR_CONFIG is missing", "",
			map[string]string{"JUNCTOR_CONFIG": "gone.hcl", "XDG_CONFIG_HOME": filepath.Join(dir, "xdg")},
			"!JUNCTOR_CONFIG"},
		{"XDG", "",
			map[string]string{"XDG_CONFIG_HOME": filepath.Join(dir, "xdg"), "HOME": filepath.Join(dir, "home")}, xdg},
		{"relative XDG is ignored",
			"", map[string]string{"XDG_CONFIG_HOME": "xdg", "HOME": filepath.Join(dir, "home")}, home},
		{"home", "", map[string]string{"HOME": filepath.Join(dir, "home")}, home},
		{"JUNCTOR_HOME", "",
			map[string]string{"JUNCTOR_HOME": filepath.Join(dir, "own"), "XDG_CONFIG_HOME": filepath.Join(dir, "xdg")},
			own},
		{"nothing", "", map[string]string{"HOME": filepath.Join(dir, "nobody")},
			"!looked at junctor.hcl here and in the directories above, and at " + filepath.Join(dir, "nobody")},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { checkFind(t, c.explicit, c.env, c.want) })
	}
	touch("junctor.hcl")
	checkFind(t, "", map[string]string{"XDG_CONFIG_HOME": filepath.Join(dir, "xdg")}, "junctor.hcl")
}

func checkFind(t *testing.T, explicit string, env map[string]string, want string) {
	t.Helper()
	got, err := Find(explicit, func(name string) (string, bool) { v, ok := env[name]; return v, ok })
	says, fails := strings.CutPrefix(want, "!")
	if !fails {
		if got.Path != want || err != nil {
			t.Errorf("got %q, %v; want %q", got.Path, err, want)
		}
		return
	}
	if !fault.Is(err, fault.ConfigMissing) || !strings.Contains(err.Error(), says) || fault.As(err).Hint == "" {
		t.Errorf("got %q, %v; want an error about %q", got.Path, err, says)
	}
}

// TestFindTreatsLinkToOwnAsFound checks a link in another directory to the user's own
// configuration. Relative paths in it resolve differently.
func TestFindTreatsLinkToOwnAsFound(t *testing.T) {
	dir := t.TempDir()
	own, clone := filepath.Join(dir, "config"), filepath.Join(dir, "clone")
	for _, d := range []string{own, clone} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(own, FoundName), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(clone, FoundName)
	if err := os.Symlink(filepath.Join(own, FoundName), link); err != nil {
		t.Skip(err)
	}
	lookup := func(name string) (string, bool) {
		return map[string]string{"JUNCTOR_HOME": dir}[name], name == "JUNCTOR_HOME"
	}
	t.Chdir(clone)
	if at, err := Find("", lookup); err != nil || !at.Found || at.Own {
		t.Errorf("found: %+v, %v", at, err)
	}
	if at, err := Find(link, lookup); err != nil || at.Own {
		t.Errorf("named: %+v, %v", at, err)
	}
	at := Location{Path: link}
	if path, err := at.Canonical(); err != nil || filepath.Base(filepath.Dir(path)) != "clone" {
		t.Errorf("canonical: %s, %v", path, err)
	}
	t.Chdir(own)
	if at, err := Find("", lookup); err != nil || at.Found || !at.Own {
		t.Errorf("own: %+v, %v", at, err)
	}
}
