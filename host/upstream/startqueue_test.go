package upstream

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/junctor-mcp/junctor/testdata/bubble"
	conversation "github.com/junctor-mcp/junctor/testdata/conversations"
)

// A fleet is a set of servers that share a start queue. It records the order of starts.
type fleet struct {
	t       *testing.T
	queue   *StartQueue
	mu      sync.Mutex
	order   []string // guarded by mu
	running int      // guarded by mu
	most    int      // guarded by mu
}

// add adds a server with the given start duration.
func (f *fleet) add(name string, takes time.Duration, launcher string) *Upstream {
	e := &conversation.Server{Revision: "2025-11-25"}
	o := usual(newRecorder(), nil)
	o.Name, o.Starts, o.Launcher, o.Install = name, f.queue, launcher, 5*time.Minute
	o.Open = func(ctx context.Context) (Link, error) {
		f.mu.Lock()
		f.order = append(f.order, name)
		f.running++
		f.most = max(f.most, f.running)
		f.mu.Unlock()
		select {
		case <-time.After(takes):
		case <-ctx.Done():
		}
		f.mu.Lock()
		f.running--
		f.mu.Unlock()
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return e.Open(), nil
	}
	u := New(o)
	f.t.Cleanup(u.Close)
	return u
}

// list starts a server like a list request. It reports how long it waited.
func list(t *testing.T, u *Upstream, wg *sync.WaitGroup, priority Priority, ready func(time.Duration)) {
	begun := time.Now()
	wg.Go(func() {
		if err := u.connectFor(t.Context(), priority); err != nil {
			t.Errorf("%s: %v", u.Name(), err)
		}
		ready(time.Since(begun))
	})
	synctest.Wait()
}

func nothing(time.Duration) {}

// TestStartQueueBound checks the number of concurrent starts, and that time in the queue
// does not count as start time.
func TestStartQueueBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fleet{t: t, queue: NewStartQueue(4)}
		var wg sync.WaitGroup
		for i := range 100 {
			list(t, f.add(fmt.Sprint(i), time.Second, ""), &wg, ForList, nothing)
		}
		begun := time.Now()
		wg.Wait()
		if took := time.Since(begun); f.most != 4 || took != 25*time.Second {
			t.Errorf("%d concurrent starts, %s in total", f.most, took)
		}
	})
}

// TestStartQueueOrder checks that starts for calls precede starts for lists, even if the
// list came first.
func TestStartQueueOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fleet{t: t, queue: NewStartQueue(2)}
		all := map[string]*Upstream{}
		var wg sync.WaitGroup
		for _, name := range strings.Fields("a b c d e f") {
			all[name] = f.add(name, 100*time.Millisecond, "")
			list(t, all[name], &wg, ForList, nothing)
		}
		list(t, f.add("upkeep", 100*time.Millisecond, ""), &wg, ForUpkeep, nothing)
		list(t, f.add("call", 100*time.Millisecond, ""), &wg, ForCall, nothing)
		list(t, all["f"], &wg, ForCall, nothing)
		all["e"].Raise(ForCall)
		wg.Wait()
		for pair := range slices.Chunk(f.order, 2) {
			slices.Sort(pair) // two start at the same moment
		}
		if want := strings.Fields("a b e f c call d upkeep"); !slices.Equal(f.order, want) {
			t.Errorf("started in the order %v, want %v", f.order, want)
		}
	})
}

// TestStartQueueStuck checks that unresponsive servers delay other starts by at most two
// seconds, and starts for calls by at most half a second.
func TestStartQueueStuck(t *testing.T) {
	for _, c := range []struct {
		name, launcher string
		hanging        int
		priority       Priority
		within         time.Duration
	}{
		{"some hang", "", 3, ForList, 100 * time.Millisecond},
		{"as many as there are places", "", 4, ForList, placeTime + 100*time.Millisecond},
		{"a call", "", 4, ForCall, callWait + 100*time.Millisecond},
		{"installations", "npx", 20, ForList, 100 * time.Millisecond},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &fleet{t: t, queue: NewStartQueue(4)}
				for i := range c.hanging {
					u := f.add(fmt.Sprint("hangs", i), time.Hour, c.launcher)
					go func() { _ = u.Connect(t.Context()) }()
					synctest.Wait()
				}
				var wg sync.WaitGroup
				list(t, f.add("good", 100*time.Millisecond, ""), &wg, c.priority, func(took time.Duration) {
					if took > c.within {
						t.Errorf("the start took %s, want %s", took, c.within)
					}
				})
				wg.Wait()
			})
		})
	}
}

// TestStartQueueReserve: installations for calls do not take the place that is reserved for other
// starts, and one of them takes that of an installation for a list.
func TestStartQueueReserve(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := NewStartQueue(4)
		enter := func(priority Priority, installs bool) *place {
			p := q.enter(priority, installs)
			synctest.Wait()
			return p
		}
		admitted := func(p *place) bool {
			select {
			case <-p.admitted:
				return true
			default:
				return false
			}
		}
		held := []*place{enter(ForCall, true), enter(ForCall, true), enter(ForCall, true), enter(ForList, false)}
		installs := enter(ForCall, true)
		bubble.Sleep(2 * callWait)
		if admitted(installs) {
			t.Error("an installation takes the reserved place")
		}
		call := enter(ForCall, false)
		bubble.Sleep(2 * callWait)
		if !admitted(call) {
			t.Error("a call waits for installations")
		}
		for _, p := range append(held, installs, call) {
			p.leave()
		}
		held = []*place{enter(ForList, true), enter(ForCall, true), enter(ForCall, true), enter(ForCall, false)}
		installs = enter(ForCall, true)
		bubble.Sleep(2 * callWait)
		if !admitted(installs) {
			t.Error("an installation for a call waits for one for a list")
		}
		for _, p := range append(held, installs) {
			p.leave()
		}
	})
}

// TestStartQueueClose checks that a closed server leaves the queue.
func TestStartQueueClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fleet{t: t, queue: NewStartQueue(2)}
		var wg sync.WaitGroup
		list(t, f.add("a", time.Second, ""), &wg, ForList, nothing)
		list(t, f.add("b", time.Second, ""), &wg, ForList, nothing)
		waits := f.add("waits", time.Second, "")
		go func() { _ = waits.Connect(t.Context()) }()
		synctest.Wait()
		if s := waits.Status(); s.State != Starting || !s.Start.Queued {
			t.Errorf("%+v", s)
		}
		waits.Close()
		list(t, f.add("c", time.Second, ""), &wg, ForList, nothing)
		wg.Wait()
		synctest.Wait()
		f.queue.mu.Lock()
		defer f.queue.mu.Unlock()
		if left := len(f.queue.waiting) + len(f.queue.holding); left > 0 ||
			!slices.Equal(f.order, []string{"a", "b", "c"}) {
			t.Errorf("%v started; %d are left in the queue", f.order, left)
		}
	})
}
