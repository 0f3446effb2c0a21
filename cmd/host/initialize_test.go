package main

import (
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"testing"
)

// TestPackagesInitializeQuickly measures what packages do before main begins, which every
// command waits for. A busy machine can make one run slow, so the best of several counts.
func TestPackagesInitializeQuickly(t *testing.T) {
	const most, attempts = 10.0, 5 // milliseconds
	took := regexp.MustCompile(`(?m)^init (\S+) @\S+ ms, (\S+) ms clock`)
	best := map[string]float64{}
	for range attempts {
		cmd := exec.Command("junctor", "--version")
		cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
		text, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		for _, m := range took.FindAllStringSubmatch(string(text), -1) {
			ms, err := strconv.ParseFloat(m[2], 64)
			if err != nil {
				t.Fatal(err)
			}
			if before, seen := best[m[1]]; !seen || ms < before {
				best[m[1]] = ms
			}
		}
	}
	if len(best) < 20 {
		t.Fatalf("the trace has %d packages", len(best))
	}
	for name, ms := range best {
		if ms > most {
			t.Errorf("%s takes %.1f ms of every command", name, ms)
		}
	}
}
