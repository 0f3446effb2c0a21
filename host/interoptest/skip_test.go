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

// skipped are the skipped tests by reason.
var skipped = struct {
	mu    sync.Mutex
	tests map[string][]string // guarded by mu
}{tests: map[string][]string{}}

// skip skips a test because a program other than Go is missing.
func skip(t *testing.T, why string) {
	t.Helper()
	skipped.mu.Lock()
	skipped.tests[why] = append(skipped.tests[why], t.Name())
	skipped.mu.Unlock()
	report(t)
	t.Skip("SKIPPED: " + why)
}

// report writes the skipped tests for "make test", because go test prints
// nothing of a package that passes. Writing into the source tree also keeps go
// test from caching the result, which changes when the missing program is
// installed.
func report(t *testing.T) {
	t.Helper()
	file := filepath.Join(repository, ".cache", "interop", "skipped")
	err := os.MkdirAll(filepath.Dir(file), 0o755)
	if err == nil {
		skipped.mu.Lock()
		err = os.WriteFile(file, []byte(summary()), 0o644)
		skipped.mu.Unlock()
	}
	if err != nil {
		t.Logf("writing the skipped tests: %v", err)
	}
}

// summary returns a line for each reason. The caller holds the lock, or is the
// last.
func summary() string {
	var b strings.Builder
	for _, why := range slices.Sorted(maps.Keys(skipped.tests)) {
		fmt.Fprintf(&b, "host/interoptest, tests left out: %d, %s\n", len(skipped.tests[why]), why)
	}
	return b.String()
}

// watchSources makes go test depend on the sources of the programs. Otherwise
// it would repeat a cached result after a change.
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

// allCombinations reports whether tests use all combinations of server,
// transport and era. Most of them use the same code with another program, which
// is slow to start. Each code path runs every time, all combinations run in
// "make soak".
func allCombinations() bool { return os.Getenv("JUNCTOR_SOAK") != "" }

// rarely skips a subtest outside "make soak".
func rarely(t *testing.T) {
	t.Helper()
	if !allCombinations() {
		t.Skip("covered by make soak")
	}
}
