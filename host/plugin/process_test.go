package plugin

import (
	"context"
	"errors"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/testdata/bubble"
)

// A fake is a proc whose processes exist only in this program, in a synctest bubble.
type fake struct {
	*proc
	t     *testing.T
	begun []time.Time                     // times of the starts
	begin func(ctx context.Context) error // may delay or fail a start
	slow  time.Duration                   // time for a process to exit
	deaf  atomic.Int32                    // health checks to ignore
	asked atomic.Int32                    // health checks so far
	alive []*fakeProcess
}

// withFake runs a test with a fake, in a bubble, and waits until all its goroutines have ended.
func withFake(t *testing.T, f func(t *testing.T, p *fake)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := New(Options{Log: hclog.NewNullLogger(), Lookup: func(string) (string, bool) { return "", false }})
		p := &fake{t: t}
		s.begin = p.launch
		var err error
		if p.proc, err = s.process(Spec{Name: "p"}); err != nil {
			t.Fatal(err)
		}
		f(t, p)
		s.Stop(time.Second)
		for _, process := range p.alive {
			if process.Ended() == "" {
				t.Error("a process remains")
			}
		}
	})
}

// launch starts a fake process.
func (p *fake) launch(ctx context.Context, spec Spec, _ *startStep) (*link, error) {
	p.begun = append(p.begun, time.Now())
	if p.begin != nil {
		if err := p.begin(ctx); err != nil {
			return nil, err
		}
	}
	process := &fakeProcess{fake: p, done: make(chan struct{})}
	p.alive = append(p.alive, process)
	l := &link{
		name: spec.Name, limits: p.sup.limits, log: hclog.NewNullLogger(), journal: &journal{}, control: process,
		lost: make(chan struct{}), cleaned: make(chan struct{}),
	}
	l.runner = &processRunner{proc: process, journal: l.journal}
	go func() { <-l.exited(); l.clean() }()
	return l, nil
}

// A fakeProcess ends when it is killed or told to exit.
type fakeProcess struct {
	fake *fake
	done chan struct{}
	once sync.Once
}

func (p *fakeProcess) PID() int              { return 1 }
func (p *fakeProcess) Done() <-chan struct{} { return p.done }
func (p *fakeProcess) Kill()                 { p.once.Do(func() { close(p.done) }) }

func (p *fakeProcess) Ended() string {
	if closed(p.done) {
		return "ended"
	}
	return ""
}

func (p *fakeProcess) Wait(d time.Duration) bool {
	select {
	case <-p.done:
		return true
	case <-time.After(d):
		return false
	}
}

func (p *fakeProcess) Health(ctx context.Context) error {
	p.fake.asked.Add(1)
	if p.fake.deaf.Add(-1) >= 0 {
		<-ctx.Done()
	}
	return ctx.Err()
}

func (p *fakeProcess) Shutdown(context.Context, time.Duration) error {
	bubble.Sleep(p.fake.slow)
	time.AfterFunc(time.Millisecond, p.Kill) // after its lifeline is closed
	return nil
}

// must returns the link of get. It fails the test on an error.
func (p *fake) must() *link {
	p.t.Helper()
	l, err := p.get(p.t.Context())
	if err != nil {
		p.t.Fatal(err)
	}
	return l
}

// is fails the test if the state differs.
func (p *fake) is(want State) {
	p.t.Helper()
	synctest.Wait()
	if got := p.status().State; got != want {
		p.t.Fatalf("the state is %s, want %s", got, want)
	}
}

var errCrash = fault.New(fault.PluginHandshake, "it does not start")

func fails(err error) func(context.Context) error { return func(context.Context) error { return err } }

// TestBackoff checks that the wait between attempts is random, up to 100 ms, and doubles
// after each failure, up to 30 s. L19
func TestBackoff(t *testing.T) {
	withFake(t, func(t *testing.T, p *fake) {
		p.sup.limits.crashes = math.MaxInt
		p.begin = fails(errCrash)
		for range 300 {
			if _, err := p.get(t.Context()); !fault.Is(err, fault.PluginHandshake) {
				t.Fatal(err)
			}
		}
		shortest, longest := time.Hour, time.Duration(0)
		for i := range len(p.begun) - 1 {
			d, most := p.begun[i+1].Sub(p.begun[i]), min(100*time.Millisecond<<min(i, 20), 30*time.Second)
			if d > most+time.Millisecond {
				t.Errorf("attempt %d came after %s, at most %s is allowed", i+1, d, most)
			}
			if i > 20 {
				shortest, longest = min(shortest, d), max(longest, d)
			}
		}
		if shortest > 3*time.Second || longest < 27*time.Second {
			t.Errorf("no jitter: waits between %s and %s", shortest, longest)
		}
	})
}

// TestBackoffReset checks that the backoff is reset after a minute of uptime.
func TestBackoffReset(t *testing.T) {
	withFake(t, func(t *testing.T, p *fake) {
		p.sup.limits.crashes = math.MaxInt
		pause := func(run time.Duration) (longest time.Duration) {
			for range 20 {
				p.begin = fails(errCrash)
				for range 12 {
					_, _ = p.get(t.Context())
				}
				p.begin = nil
				p.must().runner.proc.(*fakeProcess).Kill()
				p.put()
				p.is(Backoff)
				l := p.must()
				bubble.Sleep(run)
				l.runner.proc.Kill()
				p.put()
				p.is(Backoff)
				longest = max(longest, time.Until(p.status().Retry))
			}
			return longest
		}
		if d := pause(59 * time.Second); d < time.Second {
			t.Errorf("before a minute the wait is %s", d)
		}
		if d := pause(61 * time.Second); d > 100*time.Millisecond {
			t.Errorf("after a minute the wait is %s", d)
		}
	})
}

// TestQuarantine checks that five crashes in ten minutes lead to quarantine until the
// first of them is ten minutes old, and that one more attempt follows. L19
func TestQuarantine(t *testing.T) {
	withFake(t, func(t *testing.T, p *fake) {
		begun := time.Now()
		for range 5 {
			p.must().runner.proc.Kill()
			p.put()
			synctest.Wait()
		}
		p.is(Quarantined)
		now := time.Now()
		_, err := p.get(t.Context())
		f := fault.As(err)
		if f.Code != fault.PluginQuarantined || f.Plugin != "p" || time.Now() != now || f.RetryAfter < 8*time.Minute ||
			!strings.Contains(f.Message,
				"crashed 5 times within 10m0s, most recently because the plugin's process ended") ||
			!errors.Is(f, f.Err) {
			t.Errorf("got %+v", f)
		}
		if st := p.status(); st.Retry.Sub(begun) < 10*time.Minute || st.Retry.Sub(begun) > 11*time.Minute ||
			st.Starts != 5 {
			t.Errorf("status %+v", st)
		}
		bubble.Sleep(f.RetryAfter - time.Second)
		if _, err := p.get(t.Context()); !fault.Is(err, fault.PluginQuarantined) {
			t.Errorf("a second early: %v", err)
		}
		bubble.Sleep(time.Second)
		p.must().runner.proc.Kill()
		p.put()
		p.is(Quarantined)
		if n := p.status().Starts; n != 6 {
			t.Errorf("%d starts", n)
		}
		bubble.Sleep(11 * time.Minute)
		l := p.must()
		bubble.Sleep(time.Hour)
		if !l.usable() {
			t.Error("the process is not running")
		}
		p.put()
	})
}

// TestRareCrashes checks that a plugin that crashes every three minutes is always
// restarted.
func TestRareCrashes(t *testing.T) {
	withFake(t, func(t *testing.T, p *fake) {
		for range 40 {
			l := p.must()
			bubble.Sleep(3 * time.Minute)
			l.runner.proc.Kill()
			p.put()
			p.is(Backoff)
		}
	})
}

// TestPermanent checks that a permanent failure is returned without another attempt during
// the backoff, does not count as a crash, and can be fixed by the user.
func TestPermanent(t *testing.T) {
	withFake(t, func(t *testing.T, p *fake) {
		p.begin = fails(fault.New(fault.PluginNotAllowed, "others may write to it").WithHint("chmod"))
		for range 20 {
			_, err := p.get(t.Context())
			if !fault.Is(err, fault.PluginNotAllowed) {
				t.Fatal(err)
			}
			now := time.Now()
			if _, again := p.get(t.Context()); again != err || time.Now() != now {
				t.Errorf("again: %v, after %s", again, time.Since(now))
			}
			bubble.Sleep(31 * time.Second)
		}
		p.begin = nil
		p.must()
		p.put()
	})
}

// TestSingleStart checks that concurrent callers share one start and its result.
func TestSingleStart(t *testing.T) {
	withFake(t, func(t *testing.T, p *fake) {
		p.begin = func(context.Context) error { bubble.Sleep(time.Second); return errCrash }
		var all sync.WaitGroup
		for range 50 {
			all.Go(func() {
				if _, err := p.get(t.Context()); !fault.Is(err, fault.PluginHandshake) {
					t.Error(err)
				}
			})
		}
		all.Wait()
		p.begin = func(context.Context) error { bubble.Sleep(time.Second); return nil }
		for range 50 {
			all.Go(func() { p.must() })
		}
		all.Wait()
		if st := p.status(); st.Starts != 2 || st.Connections != 50 || st.State != Ready || st.Err != nil {
			t.Errorf("status %+v", st)
		}
	})
}

// TestGetCancellation checks that callers stop waiting with their context, and get the
// last error or the stage of the start.
func TestGetCancellation(t *testing.T) {
	withFake(t, func(t *testing.T, p *fake) {
		p.sup.limits.crashes = math.MaxInt
		p.begin = func(context.Context) error { bubble.Sleep(10 * time.Second); return errCrash }
		asking := func() error {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			begun := time.Now()
			_, err := p.get(ctx)
			if d := time.Since(begun); d > time.Second {
				t.Errorf("get waited for %s", d)
			}
			return err
		}
		if err := asking(); !fault.Is(err, fault.PluginStartTimeout) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("during a start: %v", err)
		}
		bubble.Sleep(10 * time.Second)
		p.is(Backoff)
		p.begin = fails(errCrash)
		for range 12 {
			_, _ = p.get(t.Context())
		}
		for range 20 {
			if err := asking(); !fault.Is(err, fault.PluginHandshake) {
				t.Errorf("during a backoff: %v", err)
			}
		}
	})
}

// TestGetAfterCrash checks that get right after a crash returns a new process.
func TestGetAfterCrash(t *testing.T) {
	withFake(t, func(t *testing.T, p *fake) {
		old := p.must()
		orphaned := make(chan struct{})
		p.sup.opts.Orphans = func() { <-orphaned } // delay the cleanup
		old.runner.proc.Kill()
		synctest.Wait()
		got := make(chan *link)
		go func() { got <- p.must() }()
		bubble.Sleep(time.Second)
		close(orphaned)
		if l := <-got; l == old || !l.usable() {
			t.Error("get returned the old link")
		}
		p.put()
		p.put()
	})
}

// TestIdle checks that an unused process is stopped after ten minutes.
func TestIdle(t *testing.T) {
	withFake(t, func(t *testing.T, p *fake) {
		p.must()
		p.must()
		bubble.Sleep(time.Hour)
		p.put()
		bubble.Sleep(time.Hour)
		p.is(Ready)
		p.put()
		bubble.Sleep(9 * time.Minute)
		p.must()
		bubble.Sleep(9 * time.Minute)
		p.put()
		bubble.Sleep(9 * time.Minute)
		p.is(Ready)
		bubble.Sleep(time.Minute + time.Second)
		p.is(Stopped)
		if st := p.status(); st.PID != 0 || st.Err != nil || st.Starts != 1 {
			t.Errorf("status %+v", st)
		}
		if p.alive[0].Ended() == "" {
			t.Error("the process is running")
		}
		p.must()
		p.is(Ready)
		p.put()
	})
}

// TestSlowIdleStop checks that the end of an idle process does not affect its successor.
func TestSlowIdleStop(t *testing.T) {
	withFake(t, func(t *testing.T, p *fake) {
		p.slow = 900 * time.Millisecond
		old := p.must()
		p.put()
		bubble.Sleep(10*time.Minute + time.Millisecond)
		p.is(Stopped)
		if !old.usable() {
			t.Fatal("the process has already ended")
		}
		l := p.must()
		old.runner.proc.Kill()
		bubble.Sleep(time.Minute)
		p.is(Ready)
		if st := p.status(); st.Starts != 2 || st.PID == 0 || !l.usable() {
			t.Errorf("status %+v", st)
		}
		p.put()
	})
}

// TestStopDuringStart checks that a process that becomes ready after Stop is stopped.
func TestStopDuringStart(t *testing.T) {
	withFake(t, func(t *testing.T, p *fake) {
		started := make(chan struct{})
		p.begin = func(context.Context) error { <-started; return nil }
		got := make(chan error, 1)
		go func() {
			_, err := p.get(t.Context())
			got <- err
		}()
		synctest.Wait()
		stopped := make(chan struct{})
		go func() { defer close(stopped); p.stop(time.Second) }()
		synctest.Wait()
		if err := <-got; !fault.Is(err, fault.UpstreamStopped) {
			t.Errorf("the waiting caller got %v", err)
		}
		close(started)
		<-stopped
		p.is(Stopped)
		if len(p.alive) != 1 || p.alive[0].Ended() == "" {
			t.Error("the process is running")
		}
	})
}

// TestHealth checks that a plugin is checked every five seconds and killed after three
// consecutive failures. L12
func TestHealth(t *testing.T) {
	withFake(t, func(t *testing.T, p *fake) {
		l := p.must()
		bubble.Sleep(time.Minute + time.Second)
		if n := p.asked.Load(); n != 12 {
			t.Errorf("%d health checks in a minute", n)
		}
		for range 5 {
			p.deaf.Store(2)
			bubble.Sleep(20 * time.Second)
		}
		if !l.usable() {
			t.Fatal("two failures ended the process")
		}
		p.deaf.Store(3)
		begun := time.Now()
		<-l.cleaned
		if d := time.Since(begun); d > 12*time.Second {
			t.Errorf("detection took %s", d)
		}
		p.is(Backoff)
		if err := p.status().Err; !fault.Is(err, fault.PluginUnresponsive) {
			t.Errorf("the error is %v", err)
		}
		p.put()
		p.deaf.Store(0)
		p.must()
		p.put()
	})
}
