package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/host/lockfile"
)

// TestLockFileThatCannotBeRead returns an empty lock file with the reason.
func TestLockFileThatCannotBeRead(t *testing.T) {
	dir := t.TempDir()
	if lock, diags := ReadLock(filepath.Join(dir, lockfile.Name)); len(diags) > 0 || len(lock.Servers) > 0 {
		t.Errorf("no file: %v, %s", lock, rendered(diags))
	}
	if err := os.Mkdir(filepath.Join(dir, lockfile.Name), 0o700); err != nil {
		t.Fatal(err)
	}
	if lock, diags := ReadLock(filepath.Join(dir, lockfile.Name)); !diags.HasErrors() || len(lock.Servers) > 0 {
		t.Errorf("a directory: %v, %s", lock, rendered(diags))
	}
	path := filepath.Join(t.TempDir(), lockfile.Name)
	if err := os.WriteFile(path, make([]byte, lockfile.MaxBytes+1), 0o600); err != nil {
		t.Fatal(err)
	}
	if lock, diags := ReadLock(path); !diags.HasErrors() || len(lock.Servers) > 0 {
		t.Errorf("a huge file: %v, %s", lock, rendered(diags))
	}
}

// TestDefinitionsWithoutFile refuses pins for a configuration that has no place for a lock file.
func TestDefinitionsWithoutFile(t *testing.T) {
	const text = "server \"a\" {\n  definitions = %q\n  enabled = %t\n" +
		"  transport \"stdio\" {\n    command = [\"x\"]\n  }\n}\n"
	for _, test := range []struct {
		definitions string
		enabled     bool
		want        string
	}{
		{"any", true, ""},
		{"locked", false, ""},
		{"first_use", true, `definitions = "first_use" needs a lock file`},
		{"locked", true, `definitions = "locked" needs a lock file`},
		{"pinned", true, `"pinned"`},
	} {
		_, ds := Load(t.Context(), Options{
			Path: "$JUNCTOR_CONFIG_INLINE", Text: fmt.Appendf(nil, text, test.definitions, test.enabled),
			Lookup: fakeLookup, Describe: fakeDescribe,
		})
		if got := rendered(ds); ds.HasErrors() != (test.want != "") || !strings.Contains(got, test.want) {
			t.Errorf("%s, enabled = %t:\n%s", test.definitions, test.enabled, got)
		}
	}
}
