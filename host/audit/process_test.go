package audit

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"
)

// rounds is the number of times that a process is killed.
const rounds = 4

// TestKillLosesNoCommittedRow kills a process that writes, again and again.
func TestKillLosesNoCommittedRow(t *testing.T) {
	for _, sync := range []string{"full", "normal"} {
		t.Run(sync, func(t *testing.T) {
			path := newPath(t)
			for round := range rounds {
				c := startChild(t, path, sync)
				<-time.After(time.Duration(50+rand.IntN(150)) * time.Millisecond)
				prefix := fmt.Sprintf("%d-", c.cmd.Process.Pid)
				acked, stored := c.kill(t), 0
				for _, row := range rowsOf(t, path, Filter{}) {
					if strings.HasPrefix(row.RequestID, prefix) {
						if stored++; row.Count != stored {
							t.Fatalf("row %d has event %d, want %d", row.Seq, row.Count, stored)
						}
					}
				}
				lost := acked - stored
				t.Logf("round %d: %d acknowledged, %d stored", round, acked, stored)
				if sync == "full" && lost > 0 || lost > maxBatch {
					t.Errorf("%d of %d events are lost", lost, acked)
				}
				verified(t, path)
			}
		})
	}
}

// TestProcessesShareFile writes from three processes at once, one of which is killed.
func TestProcessesShareFile(t *testing.T) {
	path := newPath(t)
	children := make([]*child, 3)
	var starting sync.WaitGroup
	for i := range children {
		starting.Go(func() { children[i] = startChild(t, path, "full") }) // one of them creates the file
	}
	starting.Wait()
	<-time.After(400 * time.Millisecond)
	total := 0
	for _, c := range children {
		total += c.kill(t)
	}
	rep := verified(t, path)
	if rep.Rows < int64(total) || rep.Rows > int64(total+len(children)) {
		t.Errorf("the file has %d rows, and %d were acknowledged", rep.Rows, total)
	}
	seen := map[string]bool{}
	for _, row := range rowsOf(t, path, Filter{}) {
		pid, _, _ := strings.Cut(row.RequestID, "-")
		seen[pid] = true
	}
	if len(seen) != 3 {
		t.Errorf("rows of %d processes are in the file", len(seen))
	}
}
