package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/sdk/process"
)

const (
	readCalls = 300 // of TestToolsThatReadChangeNothing in CI; a soak tries every program
	readEach  = 12  // of one program
)

// TestToolsThatReadChangeNothing calls the tools with a readOnlyHint of many programs with
// usual values, as on a kernel without Landlock: what the table says about a program has to be
// right by itself.
func TestToolsThatReadChangeNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("starts many programs")
	}
	calls := number(t, callsVariable, readCalls)
	if os.Getenv(arenaVariable) == "" &&
		unprivileged(t, time.Minute+time.Duration(calls)*100*time.Millisecond, withoutLandlock(t)) {
		return
	}
	if err := process.Adopt(); err != nil {
		t.Log(err)
	}
	var here []wrapped
	for _, w := range readPrograms(t) {
		if _, err := exec.LookPath(w.program); err == nil && !w.connects {
			here = append(here, w)
		}
	}
	seed := uint64(number(t, seedVariable, 1))
	rng := rand.New(rand.NewPCG(seed, 1))
	rng.Shuffle(len(here), func(i, j int) { here[i], here[j] = here[j], here[i] })
	chosen := here[:min(len(here), max(1, calls/readEach))]
	cache, slots := t.TempDir(), make(chan struct{}, 3)
	var tools, ran atomic.Int64
	t.Run("each", func(t *testing.T) {
		for i, w := range chosen {
			t.Run(fmt.Sprintf("%d %s", i, w.program), func(t *testing.T) {
				t.Parallel()
				slots <- struct{}{}
				defer func() { <-slots }()
				w.read(t, rand.New(rand.NewPCG(seed, uint64(i))), cache, &tools, &ran)
			})
		}
	})
	t.Logf("%d calls of %d tools that read, of %d programs", ran.Load(), tools.Load(), len(chosen))
}

// withoutLandlock builds the program that runs another one as on a kernel without Landlock,
// in a directory that every user can read.
func withoutLandlock(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "nolandlock")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "nolandlock")
	if text, err := exec.Command("go", "build", "-o", program,
		"../../testdata/nolandlock").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return program
}

// read calls the tools of one program that read.
func (w *wrapped) read(t *testing.T, rng *rand.Rand, cache string, tools, ran *atomic.Int64) {
	t.Helper()
	g := newGuard(t, w.program)
	all := map[string]any{"command": []string{w.program},
		"cwd": g.work, "env": g.variables(), "timeout": "2s", "common": 0, "max_output": 100000}
	if w.only != "" {
		all["only"] = []string{w.only}
	}
	settings, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	s := openSession(t, string(settings), cache)
	var read []listedTool
	for _, name := range slices.Sorted(maps.Keys(s.tools)) {
		if s.tools[name].Annotations.ReadOnlyHint {
			read = append(read, s.tools[name])
		}
	}
	tools.Add(int64(len(read)))
	r := &generator{Rand: rng, g: g}
	for range min(readEach, 4*len(read)) {
		one := read[r.IntN(len(read))]
		arguments := r.arguments(one, 0)
		before := g.files(g.work, "")
		answer := s.callAs(one.Name, arguments)
		if !strings.Contains(answer, "the arguments were rejected") {
			ran.Add(1)
		}
		did := g.harm(t, answer)
		if !maps.Equal(before, g.files(g.work, "")) {
			did = "changes the working directory"
			g.renew(t, w.program)
		}
		if did != "" {
			t.Errorf("%s %s %s: %s: %.300s", w.program, one.Name, arguments, did, answer)
		}
	}
}
