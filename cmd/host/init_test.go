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
	// has 194 KiB, of which the texts about the language for editors are the most.
	initOwn = 208 << 10
	// initAll is the most that all packages may, in bytes. It is 2.5 MiB, of which the
	// library for JSON Schema has 1.6.
	initAll = 4 << 20
)

// TestInit checks that packages prepare little before main, because each command pays for
// it. The bytes are the same in each run; times are not.
func TestInit(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program")
	}
	junctor := filepath.Join(t.TempDir(), "junctor")
	build(t, junctor, "./cmd/host")
	cmd := exec.Command(junctor, "version")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	// init host/config @2.1 ms, 0.11 ms clock, 18280 bytes, 170 allocs
	all := 0
	for _, line := range regexp.MustCompile(`(?m)^init (\S+) @.* (\d+) bytes,`).FindAllStringSubmatch(string(out), -1) {
		bytes, err := strconv.Atoi(line[2])
		if err != nil {
			t.Fatal(err)
		}
		all += bytes
		ours := line[1] == "main" || strings.HasPrefix(line[1], "github.com/junctor-mcp/")
		if ours && bytes > initOwn {
			t.Errorf("%s allocates %d bytes before main, more than %d", line[1], bytes, initOwn)
		}
	}
	if all == 0 || all > initAll {
		t.Errorf("all packages allocate %d bytes before main, want at most %d", all, initAll)
	}
	t.Logf("%d bytes", all)
}
