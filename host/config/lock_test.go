package config

import (
	"fmt"
	"maps"
	"math/rand"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"

	"github.com/junctor-mcp/junctor/host/config/source"
)

const someDigest = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

// parseLockText reads the text of a lock file.
func parseLockText(text string) (*Lock, source.Diagnostics) {
	files := source.NewSet(languageWords())
	lock := parseLock(files, LockName, []byte(text))
	return lock, files.Diagnostics()
}

// reread fails the test if the text of a lock does not say the same as the lock.
func reread(t *testing.T, lock *Lock) {
	t.Helper()
	text := string(lock.HCL())
	again, diags := parseLockText(text)
	if diags.HasErrors() {
		t.Fatalf("%s\n%.2000s", rendered(diags), text)
	}
	if !reflect.DeepEqual(again.Servers, lock.Servers) || !reflect.DeepEqual(again.Plugins, lock.Plugins) {
		t.Errorf("%q\nbecame %q\nby %.2000s", lock, again, text)
	}
	if second := string(again.HCL()); second != text {
		t.Errorf("%.2000s\nbecame\n%.2000s", text, second)
	}
}

// hostileNames are names that a server may give its tools.
var hostileNames = []string{
	"", "for", "null", "true", "in", "if", "each", "sha256", "tool", "server", "1", "-", "a b", "a.b", "a/b", "a-b", "a__b",
	"${x}", "$${x}", "$$${x}", "${", "$", "$$", "%{if}", "%%{if}", "%{", "%", "%%", "}", "{", "~}", "${~ x ~}",
	`"`, `\`, `\"`, `\n`, `\u0041`, `\\`, "'", "`", "<<EOT", "<<-EOT\nx\nEOT\n", "#", "//", "/* x", "*/", "=", ",",
	"a\nb", "\n", "\r\n", "\t", "\x00", "\x7f", "\u202egnp", "\ufeff", "\u200b", "\u0301", "e\u0301", "\u00e9", "\u212b", "\U0001f600",
	"x\" { sha256 = \"" + someDigest + "\" } tool \"y", strings.Repeat("x", 128), strings.Repeat("${", 64), strings.Repeat("%{", 512), strings.Repeat(`"`, 1024),
}

// TestLockFileKeepsHostileNames reads what was written of names that mean something in HCL.
func TestLockFileKeepsHostileNames(t *testing.T) {
	for _, name := range hostileNames {
		lock := NewLock(LockName)
		lock.Servers[name] = map[string]string{name: someDigest}
		lock.Plugins[name] = LockedPlugin{Version: norm.NFC.String(name), SHA256: map[string]string{name: someDigest}}
		if reread(t, lock); t.Failed() {
			t.Fatalf("name %q", name)
		}
	}
	lock := NewLock(LockName)
	lock.Servers["a"] = map[string]string{}
	for _, name := range hostileNames {
		lock.Servers["a"][name] = someDigest // two of them differ in their normal form only
	}
	reread(t, lock)
	random := rand.New(rand.NewSource(1))
	for range 200 {
		lock := NewLock(LockName)
		for range random.Intn(4) {
			tools := map[string]string{}
			for range random.Intn(8) {
				tools[hostileNames[random.Intn(len(hostileNames))]+hostileNames[random.Intn(len(hostileNames))]] = someDigest
			}
			lock.Servers[hostileNames[random.Intn(len(hostileNames))]] = tools
		}
		if reread(t, lock); t.Failed() {
			t.Fatal("a random lock file")
		}
	}
}

// TestLockFileThatFitsCanBeReadAgain fills lock files with names that have many tokens of HCL.
func TestLockFileThatFitsCanBeReadAgain(t *testing.T) {
	fitted := 0
	for _, part := range []string{"x", "$", "é"} {
		for _, tools := range []int{100, 4000} {
			name := strings.Repeat(part, 1024/len(part))
			lock, pins := NewLock(LockName), map[string]string{}
			for i := range tools {
				pins[fmt.Sprint(name, i)] = someDigest
			}
			lock.Servers["a"] = pins
			_, diags := parseLockText(string(lock.HCL()))
			if lock.Fits() {
				fitted++
			}
			if lock.Fits() != !diags.HasErrors() {
				t.Errorf("%d names of %q: Fits is %t:\n%s", tools, part, lock.Fits(), rendered(diags))
			}
		}
	}
	if fitted < 3 {
		t.Errorf("only %d lock files fit", fitted)
	}
}

// TestLockFileThatCannotBeRead returns an empty Lock with the reason.
func TestLockFileThatCannotBeRead(t *testing.T) {
	dir := t.TempDir()
	if lock, diags := ReadLock(filepath.Join(dir, LockName)); len(diags) > 0 || len(lock.Servers) > 0 {
		t.Errorf("no file: %v, %s", lock, rendered(diags))
	}
	if err := os.Mkdir(filepath.Join(dir, LockName), 0o700); err != nil {
		t.Fatal(err)
	}
	if lock, diags := ReadLock(filepath.Join(dir, LockName)); !diags.HasErrors() || len(lock.Servers) > 0 {
		t.Errorf("a directory: %v, %s", lock, rendered(diags))
	}
	path := filepath.Join(t.TempDir(), LockName)
	if err := os.WriteFile(path, make([]byte, maxLock+1), 0o600); err != nil {
		t.Fatal(err)
	}
	if lock, diags := ReadLock(path); !diags.HasErrors() || len(lock.Servers) > 0 {
		t.Errorf("a huge file: %v, %s", lock, rendered(diags))
	}
}

// TestDefinitionsWithoutFile refuses pins for a configuration that has no place for a lock file.
func TestDefinitionsWithoutFile(t *testing.T) {
	const text = "server \"a\" {\n  definitions = %q\n  enabled = %t\n  transport \"stdio\" {\n    command = [\"x\"]\n  }\n}\n"
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
		_, ds := Load(t.Context(), Options{Path: "$JUNCTOR_CONFIG_INLINE", Text: []byte(fmt.Sprintf(text, test.definitions, test.enabled)), Lookup: fakeLookup, Describe: fakeDescribe})
		if got := rendered(ds); ds.HasErrors() != (test.want != "") || !strings.Contains(got, test.want) {
			t.Errorf("%s, enabled = %t:\n%s", test.definitions, test.enabled, got)
		}
	}
}

// FuzzReadLock checks that a lock file that can be read says the same when it is written again.
func FuzzReadLock(f *testing.F) {
	for _, name := range hostileNames {
		lock := NewLock(LockName)
		lock.Servers["a"] = map[string]string{name: someDigest}
		f.Add(lock.HCL())
	}
	paths, err := filepath.Glob("../../testdata/config/*lock*/" + LockName)
	if err != nil || len(paths) < 5 {
		f.Fatalf("%q, %v", paths, err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		lock, diags := parseLockText(string(text))
		for _, sum := range digestsOf(lock) {
			if len(sum) != 64 {
				t.Errorf("digest %q", sum)
			}
		}
		if !diags.HasErrors() && lock.Fits() {
			reread(t, lock)
		}
	})
}

// digestsOf returns all digests of a lock.
func digestsOf(lock *Lock) (all []string) {
	for _, tools := range lock.Servers {
		for sum := range maps.Values(tools) {
			all = append(all, sum)
		}
	}
	for _, p := range lock.Plugins {
		for sum := range maps.Values(p.SHA256) {
			all = append(all, sum)
		}
	}
	return all
}
