package secret

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/junctor-mcp/junctor/host/fault"
)

// TestKeptPasswordIsTheFirstOne: files that are created at once have one password.
func TestKeptPasswordIsTheFirstOne(t *testing.T) {
	path := filepath.Join(t.TempDir(), "secrets", "secrets.age.password")
	enter := func(context.Context, bool) ([]byte, error) { return nil, nil }
	var wg sync.WaitGroup
	got := make([]string, 8)
	for i := range got {
		wg.Go(func() {
			password, err := Passwords(PasswordOptions{Kept: path, Prompt: enter})(t.Context(), true)
			if err != nil {
				t.Error(err)
			}
			got[i] = string(password)
		})
	}
	wg.Wait()
	for _, password := range got {
		if password != got[0] || len(password) < 40 {
			t.Errorf("passwords %q and %q", got[0], password)
		}
	}
}

// TestKeptPasswordOfOtherFiles: an encrypted file in a project never has its password
// beside it, and two of them do not share one.
func TestKeptPasswordOfOtherFiles(t *testing.T) {
	dir := t.TempDir()
	own := KeptPath(dir, filepath.Join(dir, "secrets.age"))
	one, two := KeptPath(dir, "/project/one/secrets.age"), KeptPath(dir, "/project/two/secrets.age")
	for _, path := range []string{own, one, two} {
		if filepath.Dir(path) != dir {
			t.Errorf("%s is not in %s", path, dir)
		}
	}
	if own == one || one == two {
		t.Errorf("shared: %s, %s, %s", own, one, two)
	}
}

// TestKeptPasswordIsNotAskedForAgain: an empty answer for a file that exists is no
// password, and nothing is kept.
func TestKeptPasswordIsNotAskedForAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kept")
	asked := 0
	prompt := func(context.Context, bool) ([]byte, error) { asked++; return nil, nil }
	password := Passwords(PasswordOptions{Kept: path, Prompt: prompt})
	if got, err := password(t.Context(), false); len(got) != 0 || err != nil || asked != 1 {
		t.Errorf("%q, %v, asked %d times", got, err, asked)
	}
	if _, err := os.Lstat(path); err == nil {
		t.Error("a password was kept for a file that has another one")
	}
	if err := os.WriteFile(path, []byte("kept\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := password(t.Context(), false); string(got) != "kept" || err != nil || asked != 1 {
		t.Errorf("%q, %v, asked %d times", got, err, asked)
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := password(t.Context(), false)
	wantCode(t, err, fault.SecretLocked)
}
