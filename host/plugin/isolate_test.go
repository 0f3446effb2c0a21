package plugin

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/testdata/bubble"
)

// A table is a set of servers that use one plugin. Each has a connection while its process
// runs.
type table struct {
	*fake
	seats map[string]*seat
}

type seat struct {
	*processUser
	proc     *proc
	link     *link
	requests int
}

// connect opens the connection of a server unless it is open.
func (tb *table) connect(server string) *seat {
	tb.t.Helper()
	s := tb.seats[server]
	if s != nil && s.link.usable() {
		return s
	}
	tb.leave(server)
	s = &seat{processUser: &processUser{server: server}}
	waits := func() int { return s.requests }
	s.unanswered.Store(&waits)
	var err error
	if s.proc, s.link, err = tb.sup.acquire(tb.t.Context(), Spec{Name: "p"}, s.processUser); err != nil {
		tb.t.Fatalf("server %s: %v", server, err)
	}
	tb.seats[server] = s
	return s
}

func (tb *table) leave(server string) {
	if s := tb.seats[server]; s != nil {
		release(s.proc, s.link, s.processUser)
		delete(tb.seats, server)
	}
}

// crash ends the process of a server and reconnects all servers. It returns the servers
// that lost their connection.
func (tb *table) crash(server string) (lost []string) {
	tb.t.Helper()
	tb.connect(server).link.runner.proc.Kill()
	synctest.Wait()
	for name, s := range tb.seats {
		if !s.link.usable() {
			lost = append(lost, name)
		}
	}
	for _, name := range lost {
		tb.leave(name)
	}
	slices.Sort(lost)
	return lost
}

// running returns the number of processes.
func (tb *table) running() (n int) {
	for _, st := range tb.sup.Status() {
		if st.PID != 0 {
			n++
		}
	}
	return n
}

func withTable(t *testing.T, f func(tb *table)) {
	t.Helper()
	withFake(t, func(t *testing.T, p *fake) {
		tb := &table{fake: p, seats: map[string]*seat{}}
		f(tb)
		for name := range tb.seats {
			tb.leave(name)
		}
	})
}

func (tb *table) all(servers ...string) {
	for _, s := range servers {
		tb.connect(s)
	}
}

// TestServersInFlightAreSuspectedFirst checks that only the server with an unanswered
// request leaves the shared process, and that all leave it after a second crash.
func TestServersInFlightAreSuspectedFirst(t *testing.T) {
	withTable(t, func(tb *table) {
		tb.all("a", "b", "c")
		tb.seats["a"].requests = 1
		if lost := tb.crash("a"); len(lost) != 3 {
			t.Errorf("lost %q", lost)
		}
		now := time.Now()
		tb.all("a", "b", "c")
		if time.Since(now) > 0 {
			t.Errorf("the neighbours waited for %s", time.Since(now))
		}
		if tb.seats["a"].link == tb.seats["b"].link || tb.seats["b"].link != tb.seats["c"].link {
			t.Error("the suspect shares a process, or the other servers do not")
		}
		tb.seats["b"].requests = 1 // c shifts the suspicion to b
		tb.crash("c")
		tb.all("a", "b", "c")
		if n := tb.running(); n != 3 {
			t.Errorf("%d processes are running", n)
		}
		if lost := tb.crash("c"); !slices.Equal(lost, []string{"c"}) {
			t.Errorf("lost %q", lost)
		}
	})
}

// TestOnlyTheCrashingServerIsQuarantined checks that other servers, including later ones,
// are never in quarantine.
func TestOnlyTheCrashingServerIsQuarantined(t *testing.T) {
	for _, alone := range []bool{true, false} {
		withTable(t, func(tb *table) {
			if !alone {
				tb.all("b")
			}
			var err error
			crashes := 0
			for u := (&processUser{server: "a"}); ; crashes++ {
				p, l, e := tb.sup.acquire(tb.t.Context(), Spec{Name: "p"}, u)
				if err = e; err != nil {
					break
				}
				release(p, l, u)
				tb.crash("a")
				if !alone {
					tb.all("b")
				}
			}
			if f := fault.As(err); f.Code != fault.PluginQuarantined || crashes < 5 || crashes > 6 {
				t.Errorf("after %d crashes: %v", crashes, err)
			}
			tb.all("b", "c")
			if alone && tb.seats["b"].link != tb.seats["c"].link {
				t.Error("the other servers do not share a process")
			}
		})
	}
}

// TestOperatorEndsQuarantine checks that a server whose process is in quarantine starts at once
// when an operator ends the wait, and not when that of another server ends.
func TestOperatorEndsQuarantine(t *testing.T) {
	withTable(t, func(tb *table) {
		connect := func() error {
			u := &processUser{server: "a"}
			p, l, err := tb.sup.acquire(tb.t.Context(), Spec{Name: "p"}, u)
			if err == nil {
				release(p, l, u)
			}
			return err
		}
		for connect() == nil {
			tb.crash("a")
		}
		EndWait(tb.sup, Spec{Name: "p"}, "b")
		if err := connect(); !fault.Is(err, fault.PluginQuarantined) {
			t.Errorf("after the wait of another server: %v", err)
		}
		EndWait(tb.sup, Spec{Name: "p"}, "a")
		if err := connect(); err != nil {
			t.Errorf("after the wait: %v", err)
		}
		EndWait(tb.sup, Spec{Name: "p"}, "a") // it runs: nothing changes
		EndWait(tb.sup, Spec{Name: "q"}, "a")
		tb.crash("a")
		if err := connect(); !fault.Is(err, fault.PluginQuarantined) {
			t.Errorf("after a further crash: %v", err)
		}
	})
}

// TestProcessesForSuspectsAreBounded checks that a server that crashes its process without
// an unanswered request is isolated after a few crashes, with a bounded number of
// processes.
func TestProcessesForSuspectsAreBounded(t *testing.T) {
	for servers, rounds := range map[int]int{2: 1, 16: 1, 17: 2, 60: 3, 200: 6} {
		withTable(t, func(tb *table) {
			var names []string
			for i := range servers {
				names = append(names, fmt.Sprintf("s%03d", i))
			}
			bad := names[servers-1]
			most := 0
			for n := 0; ; n++ {
				tb.all(names...)
				most = max(most, tb.running())
				lost := tb.crash(bad)
				if len(lost) == 1 {
					if n > rounds {
						t.Errorf("%d servers: %d crashes were needed to isolate the server", servers, n)
					}
					break
				}
				if n > 20 {
					t.Fatalf("%d servers: not isolated, the last crash affected %d", servers, len(lost))
				}
			}
			if most > tb.sup.limits.groups+1 {
				t.Errorf("%d servers: %d processes", servers, most)
			}
		})
	}
}

// TestIsolatedServersReturn checks that a server returns to the shared process after its
// own has run for ten minutes, and for twenty the second time.
func TestIsolatedServersReturn(t *testing.T) {
	withTable(t, func(tb *table) {
		for _, trial := range []time.Duration{10 * time.Minute, 20 * time.Minute} {
			tb.all("a", "b")
			tb.seats["a"].requests = 1
			tb.crash("a")
			reconnect := func() bool {
				tb.leave("a")
				tb.all("a", "b")
				return tb.seats["a"].link == tb.seats["b"].link
			}
			if reconnect() {
				t.Fatal("the server is not isolated")
			}
			bubble.Sleep(trial - time.Second)
			if reconnect() {
				t.Errorf("the server returned before %s", trial)
			}
			bubble.Sleep(time.Second)
			if !reconnect() {
				t.Errorf("the server did not return after %s", trial)
			}
			bubble.Sleep(10 * time.Minute) // the first crash expires
		}
	})
}

// TestBlamedServerIsTheOnlySuspect checks that the server because of which the host ended
// the process is the only suspect.
func TestBlamedServerIsTheOnlySuspect(t *testing.T) {
	withTable(t, func(tb *table) {
		tb.all("a", "b", "c")
		tb.seats["b"].requests = 1
		tb.seats["a"].link.blame("a")
		tb.crash("a")
		tb.all("a", "b", "c")
		if tb.seats["b"].link != tb.seats["c"].link || tb.seats["a"].link == tb.seats["b"].link {
			t.Error("the wrong server is isolated")
		}
		for _, st := range tb.sup.Status() {
			if st.Alone != "" && st.Alone != "a" {
				t.Errorf("status %+v", st)
			}
		}
	})
}
