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
)

// A fake is a proc whose processes exist in this program only, in a bubble of
// time of its own.
type fake struct {
	*proc
	t     *testing.T
	begun []time.Time                     // when processes were started
	begin func(ctx context.Context) error // may delay a start or make it fail
	slow  time.Duration                   // how long a process takes to end once it was told to
	deaf  atomic.Int32                    // how many questions about its health it does not hear
	asked atomic.Int32                    // how many it was asked
	alive []*fakeProcess
}

// bubble runs a test with a fake. Everything has ended when it returns.
func bubble(t *testing.T, f func(t *testing.T, p *fake)) {
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
				t.Error("a process is left")
			}
		}
	})
}

// launch starts a process, or what passes for one.
func (p *fake) launch(ctx context.Context, spec Spec, _ *stage) (*link, error) {
	p.begun = append(p.begun, time.Now())
	if p.begin != nil {
		if err := p.begin(ctx); err != nil {
			return nil, err
		}
	}
	process := &fakeProcess{fake: p, done: make(chan struct{})}
	p.alive = append(p.alive, process)
	l := &link{
		name: spec.Name, limits: p.sup.limits, log: hclog.NewNullLogger(), journal: &journal{}, pulse: process,
		lost: make(chan struct{}), cleaned: make(chan struct{}),
	}
	l.runner = &processRunner{proc: process, journal: l.journal}
	go func() { <-l.exited(); l.clean() }()
	return l, nil
}

// A fakeProcess ends when it is killed, or told to.
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
	time.Sleep(p.fake.slow)
	time.AfterFunc(time.Millisecond, p.Kill) // once its lifeline is cut
	return nil
}

// must returns the link that get must return.
func (p *fake) must() *link {
	p.t.Helper()
	l, err := p.get(p.t.Context())
	if err != nil {
		p.t.Fatal(err)
	}
	return l
}

// is fails the test when the state is another.
func (p *fake) is(want State) {
	p.t.Helper()
	synctest.Wait()
	if got := p.status().State; got != want {
		p.t.Fatalf("the state is %s, want %s", got, want)
	}
}

var errCrash = fault.New(fault.PluginHandshake, "it does not start")

func fails(err error) func(context.Context) error { return func(context.Context) error { return err } }

// TestBackoff: between two attempts lies any time up to 100 ms, twice as much
// after each failure, at most 30 s. L19
func TestBackoff(t *testing.T) {
	bubble(t, func(t *testing.T, p *fake) {
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
			t.Errorf("there is no jitter: between %s and %s", shortest, longest)
		}
	})
}

// TestCalm: the backoff begins anew after a minute of running, and not before.
func TestCalm(t *testing.T) {
	bubble(t, func(t *testing.T, p *fake) {
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
				time.Sleep(run)
				l.runner.proc.Kill()
				p.put()
				p.is(Backoff)
				longest = max(longest, time.Until(p.status().Retry))
			}
			return longest
		}
		if d := pause(59 * time.Second); d < time.Second {
			t.Errorf("before its time the pause is %s", d)
		}
		if d := pause(61 * time.Second); d > 100*time.Millisecond {
			t.Errorf("after a minute the pause is %s", d)
		}
	})
}

// TestQuarantine: after five crashes in ten minutes a plugin is left alone until
// the first of them is ten minutes old, and then gets one more chance. L19
func TestQuarantine(t *testing.T) {
	bubble(t, func(t *testing.T, p *fake) {
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
			!strings.Contains(f.Message, "crashed 5 times within 10m0s, last because the plugin's process ended") || !errors.Is(f, f.Err) {
			t.Errorf("got %+v", f)
		}
		if st := p.status(); st.Retry.Sub(begun) < 10*time.Minute || st.Retry.Sub(begun) > 11*time.Minute || st.Starts != 5 {
			t.Errorf("status %+v", st)
		}
		time.Sleep(f.RetryAfter - time.Second)
		if _, err := p.get(t.Context()); !fault.Is(err, fault.PluginQuarantined) {
			t.Errorf("a second early: %v", err)
		}
		time.Sleep(time.Second)
		p.must().runner.proc.Kill()
		p.put()
		p.is(Quarantined)
		if n := p.status().Starts; n != 6 {
			t.Errorf("%d starts", n)
		}
		time.Sleep(11 * time.Minute)
		l := p.must()
		time.Sleep(time.Hour)
		if !l.usable() {
			t.Error("it does not run")
		}
		p.put()
	})
}

// TestSeldomCrashes: a plugin that crashes every three minutes is started again
// each time.
func TestSeldomCrashes(t *testing.T) {
	bubble(t, func(t *testing.T, p *fake) {
		for range 40 {
			l := p.must()
			time.Sleep(3 * time.Minute)
			l.runner.proc.Kill()
			p.put()
			p.is(Backoff)
		}
	})
}

// TestPermanent: a failure that another attempt does not cure is answered
// without one while the pause lasts, is no crash, and is cured by the user.
func TestPermanent(t *testing.T) {
	bubble(t, func(t *testing.T, p *fake) {
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
			time.Sleep(31 * time.Second)
		}
		p.begin = nil
		p.must()
		p.put()
	})
}

// TestSingleStart: however many ask, one starts it, and all learn how it went.
func TestSingleStart(t *testing.T) {
	bubble(t, func(t *testing.T, p *fake) {
		p.begin = func(context.Context) error { time.Sleep(time.Second); return errCrash }
		var all sync.WaitGroup
		for range 50 {
			all.Go(func() {
				if _, err := p.get(t.Context()); !fault.Is(err, fault.PluginHandshake) {
					t.Error(err)
				}
			})
		}
		all.Wait()
		p.begin = func(context.Context) error { time.Sleep(time.Second); return nil }
		for range 50 {
			all.Go(func() { p.must() })
		}
		all.Wait()
		if st := p.status(); st.Starts != 2 || st.Connections != 50 || st.State != Ready || st.Err != nil {
			t.Errorf("status %+v", st)
		}
	})
}

// TestGivesUp: nobody waits longer than they want, for a start or a pause, and
// each learns what there is to know.
func TestGivesUp(t *testing.T) {
	bubble(t, func(t *testing.T, p *fake) {
		p.sup.limits.crashes = math.MaxInt
		p.begin = func(context.Context) error { time.Sleep(10 * time.Second); return errCrash }
		asking := func() error {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			begun := time.Now()
			_, err := p.get(ctx)
			if d := time.Since(begun); d > time.Second {
				t.Errorf("it waited for %s", d)
			}
			return err
		}
		if err := asking(); !fault.Is(err, fault.PluginStartTimeout) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("while it starts: %v", err)
		}
		time.Sleep(10 * time.Second)
		p.is(Backoff)
		p.begin = fails(errCrash)
		for range 12 {
			_, _ = p.get(t.Context())
		}
		for range 20 {
			if err := asking(); !fault.Is(err, fault.PluginHandshake) {
				t.Errorf("in a pause: %v", err)
			}
		}
	})
}

// TestJustDied: who asks in the moment after a crash gets a process, not the
// crash.
func TestJustDied(t *testing.T) {
	bubble(t, func(t *testing.T, p *fake) {
		old := p.must()
		orphaned := make(chan struct{})
		p.sup.opts.Orphans = func() { <-orphaned } // it takes a while to clean up
		old.runner.proc.Kill()
		synctest.Wait()
		got := make(chan *link)
		go func() { got <- p.must() }()
		time.Sleep(time.Second)
		close(orphaned)
		if l := <-got; l == old || !l.usable() {
			t.Error("it got the old one")
		}
		p.put()
		p.put()
	})
}

// TestIdle: a process without connections is stopped after ten minutes.
func TestIdle(t *testing.T) {
	bubble(t, func(t *testing.T, p *fake) {
		p.must()
		p.must()
		time.Sleep(time.Hour)
		p.put()
		time.Sleep(time.Hour)
		p.is(Ready)
		p.put()
		time.Sleep(9 * time.Minute)
		p.must()
		time.Sleep(9 * time.Minute)
		p.put()
		time.Sleep(9 * time.Minute)
		p.is(Ready)
		time.Sleep(time.Minute + time.Second)
		p.is(Stopped)
		if st := p.status(); st.PID != 0 || st.Err != nil || st.Starts != 1 {
			t.Errorf("status %+v", st)
		}
		if p.alive[0].Ended() == "" {
			t.Error("it runs")
		}
		p.must()
		p.is(Ready)
		p.put()
	})
}

// TestIdleEndsLate: the end of a process that was idle does not disturb the one
// that was started meanwhile.
func TestIdleEndsLate(t *testing.T) {
	bubble(t, func(t *testing.T, p *fake) {
		p.slow = 900 * time.Millisecond
		old := p.must()
		p.put()
		time.Sleep(10*time.Minute + time.Millisecond)
		p.is(Stopped)
		if !old.usable() {
			t.Fatal("it has ended already")
		}
		l := p.must()
		old.runner.proc.Kill()
		time.Sleep(time.Minute)
		p.is(Ready)
		if st := p.status(); st.Starts != 2 || st.PID == 0 || !l.usable() {
			t.Errorf("status %+v", st)
		}
		p.put()
	})
}

// TestStopLate: a process that gets ready after Stop is ended all the same.
func TestStopLate(t *testing.T) {
	bubble(t, func(t *testing.T, p *fake) {
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
			t.Errorf("who waited got %v", err)
		}
		close(started)
		<-stopped
		p.is(Stopped)
		if len(p.alive) != 1 || p.alive[0].Ended() == "" {
			t.Error("it runs")
		}
	})
}

// TestHealth: a plugin is asked every five seconds, may miss two answers, and is
// ended after three. L12
func TestHealth(t *testing.T) {
	bubble(t, func(t *testing.T, p *fake) {
		l := p.must()
		time.Sleep(time.Minute + time.Second)
		if n := p.asked.Load(); n != 12 {
			t.Errorf("it was asked %d times in a minute", n)
		}
		for range 5 {
			p.deaf.Store(2)
			time.Sleep(20 * time.Second)
		}
		if !l.usable() {
			t.Fatal("two misses ended it")
		}
		p.deaf.Store(3)
		begun := time.Now()
		<-l.cleaned
		if d := time.Since(begun); d > 12*time.Second {
			t.Errorf("it took %s", d)
		}
		p.is(Backoff)
		if err := p.status().Err; !fault.Is(err, fault.PluginUnresponsive) {
			t.Errorf("because %v", err)
		}
		p.put()
		p.deaf.Store(0)
		p.must()
		p.put()
	})
}
