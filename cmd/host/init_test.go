package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

const (
	// initOwn is the most that a package of ours may allocate before main, in bytes. host/config
	// has 209 KiB, of which the texts about the language for editors are the most.
	initOwn = 224 << 10
	// initAll is the most that all packages may, in bytes. It is 2.5 MiB, of which the
	// library for JSON Schema has 1.6.
	initAll = 4 << 20
)

// TestInit checks that packages prepare little before main, because each command pays for
// it. The bytes are the same in each run, but for those of goroutines that run meanwhile.
func TestInit(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program")
	}
	junctor := filepath.Join(t.TempDir(), "junctor")
	build(t, junctor, "./cmd/host")
	least := map[string]int{}
	for range 5 {
		for name, bytes := range initBytes(t, junctor) {
			if before, seen := least[name]; !seen || bytes < before {
				least[name] = bytes
			}
		}
	}
	all := 0
	for name, bytes := range least {
		all += bytes
		ours := name == "main" || strings.HasPrefix(name, "github.com/junctor-mcp/")
		if ours && bytes > initOwn {
			t.Errorf("%s allocates %d bytes before main, more than %d", name, bytes, initOwn)
		}
	}
	if all == 0 || all > initAll {
		t.Errorf("all packages allocate %d bytes before main, want at most %d", all, initAll)
	}
	t.Logf("%d bytes", all)
}

// initBytes returns what each package allocates in one start.
func initBytes(t *testing.T, program string) map[string]int {
	t.Helper()
	cmd := exec.Command(program, "version")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	all := map[string]int{}
	// init host/config @2.1 ms, 0.11 ms clock, 18280 bytes, 170 allocs
	for _, line := range regexp.MustCompile(`(?m)^init (\S+) @.* (\d+) bytes,`).FindAllStringSubmatch(string(out), -1) {
		if all[line[1]], err = strconv.Atoi(line[2]); err != nil {
			t.Fatal(err)
		}
	}
	return all
}
