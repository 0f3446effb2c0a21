package gateway

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/junctor-mcp/junctor/testdata/bubble"
)

// TestResultFollowsProgressAfterAWhile: a client that reads the last progress and the result
// together loses the progress, so they are sent apart. Other requests do not wait.
func TestResultFollowsProgressAfterAWhile(t *testing.T) {
	for name, c := range map[string]struct {
		reports int
		pause   time.Duration // between the last report and the result
		want    time.Duration
	}{
		"no progress":            {0, 0, 0},
		"progress just before":   {1, 0, resultAfter},
		"held progress":          {2, 0, resultAfter},
		"progress shortly ago":   {1, resultAfter - time.Millisecond, time.Millisecond},
		"progress some time ago": {1, time.Second, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			var p progress
			p.begin(nil, []byte("1"), func([]byte) {})
			for range c.reports {
				p.report([]byte(`{"progress":1}`))
			}
			bubble.Sleep(c.pause)
			begun := time.Now()
			p.end()
			if took := time.Since(begun); took != c.want {
				t.Errorf("%s: the result waited %s, want %s", name, took, c.want)
			}
		})
	}
}

// TestProgress: at most one report in a while, the last one always, none after
// the end, however late the timer.
func TestProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p progress
		var mu sync.Mutex
		var sent []string // guarded by mu
		p.begin(nil, []byte(`"c"`), func(params []byte) {
			mu.Lock()
			defer mu.Unlock()
			sent = append(sent, string(params))
		})
		report := func(i int) { p.report(fmt.Appendf(nil, `{"progressToken":7,"progress":%d}`, i)) }
		expect := func(want ...int) {
			t.Helper()
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			var all []string
			for _, i := range want {
				all = append(all, fmt.Sprintf(`{"progressToken":"c","progress":%d}`, i))
			}
			if fmt.Sprint(sent) != fmt.Sprint(all) {
				t.Errorf("%v, want %v", sent, all)
			}
			sent = nil
		}
		report(1)
		report(2)
		report(3)
		expect(1)
		bubble.Sleep(progressEvery)
		expect(3)
		report(4)
		bubble.Sleep(progressEvery - 1)
		report(5)
		expect()
		bubble.Sleep(time.Nanosecond)
		expect(5)
		bubble.Sleep(time.Second)
		report(6)
		report(7)
		p.end()
		report(8)
		bubble.Sleep(time.Second)
		expect(6, 7)
		p.end()
	})
}

// TestProgressDropped: nothing is sent after a modern client has cancelled.
func TestProgressDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p progress
		var sent atomic.Int32
		p.begin(nil, []byte("1"), func([]byte) { sent.Add(1) })
		p.report([]byte(`{"progress":1}`))
		p.report([]byte(`{"progress":2}`))
		p.discard()
		p.report([]byte(`{"progress":3}`))
		p.end()
		bubble.Sleep(time.Second)
		synctest.Wait()
		if n := sent.Load(); n != 1 {
			t.Errorf("%d were sent", n)
		}
	})
}
