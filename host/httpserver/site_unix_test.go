//go:build unix

package httpserver

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// TestOwnAnswers: fifty clients who all number their calls alike get their own
// answers, ten thousand of them.
func TestOwnAnswers(t *testing.T) {
	t.Parallel()
	calls := 200
	if testing.Short() {
		calls = 40
	}
	s := openSite(t, t.TempDir(), blocks(t, "", "ok"), "127.0.0.1:0")
	var answered atomic.Int64
	var work sync.WaitGroup
	for c := range 50 {
		work.Go(func() {
			v := s.visit(t)
			if c%2 == 0 {
				v.greet()
			}
			for id := range calls {
				argument := fmt.Sprintf(`{"who":"%d of %d"}`, id, c)
				m, header := legacyCall(id, "a__echo", argument), []string(nil)
				if c%2 == 1 {
					m, header = modernCall(id, "a__echo", argument)
				}
				status, text, _, err := v.post(m, header...)
				if err != nil || status != http.StatusOK || !strings.HasPrefix(text, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":`, id)) || !strings.Contains(text, argument) {
					t.Errorf("client %d, call %d: %d, %v: %.300s", c, id, status, err, text)
					return
				}
				answered.Add(1)
			}
		})
	}
	work.Wait()
	if n := answered.Load(); n != int64(50*calls) {
		t.Errorf("%d own answers", n)
	}
}

// TestThousandSessions: a thousand sessions with a thousand open streams, each of
// which learns what happens.
func TestThousandSessions(t *testing.T) {
	sessions := 1000
	if testing.Short() {
		sessions = 200
	}
	s := openSite(t, t.TempDir(), blocks(t, "", "rugpull"), "127.0.0.1:0")
	first := s.visit(t).greet()
	first.must(legacyCall(1, "a__echo", `{}`))
	feeds := make([]*feed, sessions)
	var work sync.WaitGroup
	for worker := range 10 {
		work.Go(func() {
			for i := worker; i < sessions; i += 10 {
				v := first
				if i > 0 {
					v = newVisitor(t, first.url, first.http.Transport.(*http.Transport)).greet()
				}
				feeds[i] = v.follow("")
				if e, err := feeds[i].next(); err != nil || e.id != "0-0" {
					t.Errorf("stream %d: %+v, %v", i, e, err)
				}
			}
		})
	}
	work.Wait()
	if t.Failed() {
		return
	}
	first.must(legacyCall(2, "a__bad", `{}`)) // its lists change
	for i, f := range feeds {
		e, err := f.next()
		for err == nil && e.kind == "" {
			e, err = f.next()
		}
		if err != nil || !strings.Contains(e.data, "list_changed") {
			t.Fatalf("stream %d: %+v, %v", i, e, err)
		}
	}
	if mib := rss(t, s.cmd.Process.Pid); mib > 300 {
		t.Errorf("%d sessions with streams take %d MiB", sessions, mib)
	} else {
		t.Logf("%d sessions with streams take %d MiB", sessions, mib)
	}
	if sessions == 1000 {
		status, text, header, _ := s.visit(t).post(greeting)
		refusedFor(t, status, http.StatusServiceUnavailable, header, text, "overloaded")
	}
}

// rss is what a process has in memory, in MiB.
func rss(t *testing.T, pid int) int {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Skip(err)
	}
	_, after, _ := strings.Cut(string(text), "VmRSS:")
	kib, err := strconv.Atoi(strings.Fields(after)[0])
	if err != nil {
		t.Fatal(err)
	}
	return kib >> 10
}

// TestGoneAway: a modern client that goes away does not want the answer any longer,
// and the program that its call runs ends; a legacy one may come back for it.
func TestGoneAway(t *testing.T) {
	t.Parallel()
	withCLI(t)
	dir := t.TempDir()
	script := filepath.Join(dir, "work")
	if err := os.WriteFile(script, []byte("#!/bin/sh\necho $$ > \"$1.pid\"\nsleep \"$2\"\necho done > \"$1.done\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	config := fmt.Sprintf(`server "w" {
  transport "cli" {
    command = [%q]
    tool "work" {
      description = "Works for a while."
      argv        = ["{name}", "{time}"]
      argument "name" {
        type        = "string"
        required    = true
        description = "What its files are called."
      }
      argument "time" {
        type        = "integer"
        required    = true
        description = "Seconds."
      }
    }
  }
}
`, script)
	s := openSite(t, dir, config, "127.0.0.1:0")
	began := func(name string) (pid int) {
		t.Helper()
		for until := time.Now().Add(patience); time.Now().Before(until); time.Sleep(5 * time.Millisecond) {
			if text, err := os.ReadFile(filepath.Join(dir, name+".pid")); err == nil && bytes.HasSuffix(text, []byte("\n")) {
				pid, _ = strconv.Atoi(strings.TrimSpace(string(text)))
				return pid
			}
		}
		t.Fatal("the program does not run")
		return 0
	}
	leave := func(v *visitor, name, m string, header ...string) (pid int, gone time.Time) {
		t.Helper()
		ctx, cancel := context.WithCancel(t.Context())
		over := make(chan struct{})
		go func() {
			defer close(over)
			if resp, err := v.request(ctx, http.MethodPost, m, header...); err == nil {
				_, _ = io.Copy(io.Discard, resp.Body)
				_ = resp.Body.Close()
			}
		}()
		pid = began(name)
		cancel()
		<-over
		return pid, time.Now()
	}
	name := filepath.Join(dir, "modern")
	m, header := modernCall(1, "w__work", fmt.Sprintf(`{"name":%q,"time":60}`, name))
	pid, gone := leave(s.visit(t), "modern", m, header...)
	for syscall.Kill(pid, 0) == nil {
		if took := time.Since(gone); took > 2*time.Second && (soak() || took > patience) {
			t.Fatal("the program goes on without its client")
		}
		time.Sleep(5 * time.Millisecond)
	}
	v := s.visit(t).greet()
	name = filepath.Join(dir, "legacy")
	leave(v, "legacy", legacyCall(1, "w__work", fmt.Sprintf(`{"name":%q,"time":1}`, name)))
	for until := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		if _, err := os.Stat(name + ".done"); err == nil {
			break
		}
		if time.Now().After(until) {
			t.Fatal("the program of a legacy client did not come to its end")
		}
	}
}

// TestDrainHTTP ends the gateway while calls come in all the time: those that were
// let in are answered.
func TestDrainHTTP(t *testing.T) {
	t.Parallel()
	s := openSite(t, t.TempDir(), blocks(t, "", "late 50"), "127.0.0.1:0")
	v := s.visit(t)
	legacy := newVisitor(t, v.url, v.http.Transport.(*http.Transport)).greet()
	stream := legacy.follow("")
	legacy.must(legacyCall(0, "a__bad", `{}`))
	var answered, refused atomic.Int64
	var work sync.WaitGroup
	ticks := time.NewTicker(5 * time.Millisecond) // 200 a second
	defer ticks.Stop()
	stop := time.After(patience)
	ended := make(chan struct{})
	var signalled atomic.Bool
	for i, over := 1, false; !over; i++ {
		if answered.Load() >= 100 && !signalled.Swap(true) {
			stop = time.After(3 * time.Second)
			work.Go(func() {
				s.close() // expects exit 0
				close(ended)
			})
		}
		select {
		case <-stop:
			over = true
		case <-ended:
			over = true
		case <-ticks.C:
			work.Go(func() {
				var status int
				var text string
				var err error
				if i%2 == 0 {
					status, text, _, err = legacy.post(legacyCall(i, "a__bad", `{}`))
				} else {
					m, header := modernCall(i, "a__bad", `{}`)
					status, text, _, err = v.post(m, header...)
				}
				switch {
				case err == nil && status == http.StatusOK && strings.Contains(text, `"result":`):
					answered.Add(1)
				case err != nil && signalled.Load() && (strings.Contains(err.Error(), "connection refused") || strings.Contains(err.Error(), "connection reset")):
					refused.Add(1) // also who had not been let in when the listener closed, and saw it only then
				default:
					t.Errorf("call %d failed: %d, %v: %.300s", i, status, err, text)
				}
			})
		}
	}
	work.Wait()
	if answered.Load() < 100 || refused.Load() == 0 {
		t.Errorf("%d were answered and %d came too late: this shows nothing", answered.Load(), refused.Load())
	}
	var last event
	for {
		e, err := stream.next()
		if err != nil {
			break
		}
		last = e
	}
	if last.kind != "shutdown" {
		t.Errorf("the last event is %+v", last)
	}
}

// restartRounds is how often the gateway is killed in the midst of a stream.
func restartRounds() int {
	switch {
	case soak():
		return 200
	case testing.Short():
		return 10
	}
	return 40
}

// chatter is how much the server says in the course of one call.
const chatter = 1000

// TestRestarts kills the gateway again and again while it streams, and goes on
// with the same session: what the client had is still there, what comes behind it
// follows on, and a call that was cut off ends with an answer that says so.
func TestRestarts(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	// A path of a socket is short.
	dir, err := os.MkdirTemp("", "j")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	address := "unix:" + filepath.Join(dir, "s")
	config := blocks(t, "  share = \"session\"", "chatty "+strconv.Itoa(chatter)) +
		gatewayBlock("    listen = \""+address+"\"\n    sessions {\n      store = \"sqlite\"\n    }")
	s := openSite(t, home, config, address)
	if info, err := os.Stat(s.at); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the socket: %v, %v", info, err)
	}
	session := s.visit(t).greet().session
	cut := 0
	for round := range restartRounds() {
		v := s.visit(t)
		v.session = session
		had := v.interrupted(round, s.kill)
		s = openSite(t, home, config, address)
		v = s.visit(t)
		v.session = session
		if v.afterRestart(round, had) {
			cut++
		}
		if t.Failed() {
			return
		}
	}
	t.Logf("%d of %d calls were cut off", cut, restartRounds())
	if cut == 0 {
		t.Error("no call was cut off: this shows nothing")
	}
}

// interrupted makes a call, and kills at a random moment of its stream. It
// returns what the client had by then.
func (v *visitor) interrupted(round int, kill func()) (had []event) {
	v.t.Helper()
	resp, err := v.request(v.t.Context(), http.MethodPost, legacyCall(round, "a__bad", `{}`))
	if err != nil || resp.StatusCode != http.StatusOK {
		v.t.Fatal(resp, err)
	}
	defer func() { _ = resp.Body.Close() }()
	f := newFeed(resp)
	left := rand.IntN(chatter)
	for {
		e, err := f.next()
		if err != nil {
			if left >= 0 {
				v.t.Errorf("round %d: %v with %d events to come", round, err, left)
			}
			return had
		}
		had = append(had, e)
		if left--; left == -1 {
			kill() // and what is on its way already still comes
		}
	}
}

// afterRestart goes on where the client was, and looks at all of the stream
// again. It reports whether the call was cut off.
func (v *visitor) afterRestart(round int, had []event) (cut bool) {
	t := v.t
	t.Helper()
	v.must(`{"jsonrpc":"2.0","id":"still there","method":"ping"}`)
	messages := func(all []event) (kept []event) {
		for _, e := range all {
			if e.kind == "message" {
				kept = append(kept, e)
			}
		}
		return kept
	}
	rest := messages(v.whole(had[len(had)-1].id))
	had = messages(had)
	stream, _, _ := strings.Cut(append(had, rest...)[0].id, "-")
	again := messages(v.whole(stream + "-0"))
	together := append(had[:len(had):len(had)], rest...)
	if len(again) != len(together) {
		t.Errorf("round %d: %d events before and %d behind the restart, and %d at once", round, len(had), len(rest), len(again))
		return false
	}
	for i := range again {
		if again[i] != together[i] {
			t.Errorf("round %d: event %d is %+v and then %+v", round, i, together[i], again[i])
		}
		if said := fmt.Sprintf(`"data":"%d blah`, i); i < len(again)-1 && !strings.Contains(again[i].data, said) {
			t.Errorf("round %d: event %d is %.200s", round, i, again[i].data)
		}
	}
	last := again[len(again)-1].data
	switch {
	case len(again) == chatter+1 && strings.HasPrefix(last, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":`, round)):
	case strings.HasPrefix(last, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"error":`, round)) && strings.Contains(last, `"reason":"restarted"`):
		cut = true
	default:
		t.Errorf("round %d: the last of %d events is %s", round, len(again), last)
	}
	return cut
}

// whole reads a stream behind an event to its end.
func (v *visitor) whole(after string) (all []event) {
	v.t.Helper()
	f := v.follow(after)
	for {
		e, err := f.next()
		if err != nil {
			return all
		}
		all = append(all, e)
	}
}
