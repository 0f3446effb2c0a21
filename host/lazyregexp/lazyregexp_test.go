package lazyregexp

import (
	"os"
	"slices"
	"testing"
)

func TestRegexp(t *testing.T) {
	r := New(`^(a+)b$`)
	if !r.MatchString("aab") || r.Match([]byte("b")) || r.FindString("ab") != "ab" ||
		!slices.Equal(r.FindStringSubmatch("aab"), []string{"aab", "aa"}) {
		t.Error("the expression matches something else")
	}
}

// TestInvalid checks that tests find an invalid expression that they do not use.
func TestInvalid(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("New accepted an invalid expression")
		}
	}()
	New(`(`)
}

// TestOtherPrograms checks that only the names of test binaries compile at the start.
func TestOtherPrograms(t *testing.T) {
	for name, want := range map[string]bool{
		"/tmp/b001/host.test": true, `C:\b001\host.test.exe`: true, "junctor": false, "/tmp/bin/junctor.exe": false,
	} {
		if got := isTestBinary([]string{name, "-test.v"}); got != want {
			t.Errorf("isTestBinary(%q) = %v", name, got)
		}
	}
	if isTestBinary(nil) || !isTestBinary(os.Args) {
		t.Error("an empty command line is a test binary, or this one is not")
	}
}
