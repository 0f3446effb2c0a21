package interoptest

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// left are the tests that were left out, by the reason.
var left = struct {
	mu    sync.Mutex
	tests map[string][]string // guarded by mu
}{tests: map[string][]string{}}

// skip leaves out a test for want of something that is not Go.
func skip(t *testing.T, why string) {
	t.Helper()
	left.mu.Lock()
	left.tests[why] = append(left.tests[why], t.Name())
	left.mu.Unlock()
	report(t)
	t.Skip("SKIPPED: " + why)
}

// report writes for "make test" what was left out, because go test shows
// nothing of a package that passes. That a test has written into the source
// tree just now also makes go test forget the result: it does not know that
// the result is another one as soon as somebody installs node.
func report(t *testing.T) {
	t.Helper()
	file := filepath.Join(repository, ".cache", "interop", "skipped")
	err := os.MkdirAll(filepath.Dir(file), 0o755)
	if err == nil {
		left.mu.Lock()
		err = os.WriteFile(file, []byte(summary()), 0o644)
		left.mu.Unlock()
	}
	if err != nil {
		t.Logf("saying what was left out: %v", err)
	}
}

// summary is a line for each reason. The caller holds the lock, or is the last.
func summary() string {
	var b strings.Builder
	for _, why := range slices.Sorted(maps.Keys(left.tests)) {
		fmt.Fprintf(&b, "host/interoptest, tests left out: %d, %s\n", len(left.tests[why]), why)
	}
	return b.String()
}

// watchSources lets go test see what the programs are built from: it knows
// what a test imports and which files it looks at while it runs, and would
// repeat an old result after a change to anything else.
var watchSources = sync.OnceValue(func() error {
	for _, dir := range []string{"cmd", "host", "plugins", "sdk", "testdata"} {
		look := func(_ string, _ fs.DirEntry, err error) error { return err }
		if err := filepath.WalkDir(filepath.Join(repository, dir), look); err != nil {
			return err
		}
	}
	for _, file := range []string{"go.mod", "go.sum"} {
		if _, err := os.Stat(filepath.Join(repository, file)); err != nil {
			return err
		}
	}
	return nil
})
