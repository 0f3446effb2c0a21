//go:build unix

package doctor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestMendFollowsNoForeignLink plants links and files of another user where --fix takes rights
// away. Root may run doctor in the home of a user.
func TestMendFollowsNoForeignLink(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can give files away")
	}
	dir := t.TempDir()
	for _, name := range []string{"system", "theirs", "mine"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	planted, kept := filepath.Join(dir, "planted"), filepath.Join(dir, "kept")
	for link, to := range map[string]string{planted: "system", kept: "mine", filepath.Join(dir, "up"): "."} {
		if err := os.Symlink(to, link); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{planted, filepath.Join(dir, "up"), filepath.Join(dir, "theirs")} {
		if err := os.Lchown(name, 4242, 4242); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]string{
		planted: "planted is a link of the user 4242", filepath.Join(dir, "up",
			"system"): "up is a link of the user 4242",
		filepath.Join(dir, "theirs"): "theirs belongs to the user 4242", filepath.Join(dir, "gone"): "no such file",
	} {
		if done, err := tighten("go-rwx", path)(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %q, %v", path, done, err)
		}
	}
	if _, err := tighten("go-rwx", kept)(t.Context()); err != nil {
		t.Error(err)
	}
	for name, want := range map[string]os.FileMode{"system": 0o644, "theirs": 0o644, "mine": 0o600} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s has mode %v, %v", name, info.Mode(), err)
		}
	}
}

// TestMendAsksAboutNamedFiles checks a file of Junctor, and one that the configuration names.
func TestMendAsksAboutNamedFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key.pem")
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	found := Private([]string{path}, []string{path, path + ".gone"}).Run(t.Context())
	if len(found) != 2 || found[0].Ask != "" || found[1].Ask == "" || found[0].Mend == nil || found[1].Mend == nil {
		t.Errorf("%+v", found)
	}
}
