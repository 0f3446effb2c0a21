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

	"github.com/junctor-mcp/junctor/testdata/eventually"
)

// TestConcurrentClientsGetTheirOwnAnswers has fifty clients that use the same
// request ids for ten thousand calls.
func TestConcurrentClientsGetTheirOwnAnswers(t *testing.T) {
	t.Parallel()
	calls := 200
	if testing.Short() {
		calls = 40
	}
	s := startHTTP(t, t.TempDir(), serverBlocks(t, "", "ok"), "127.0.0.1:0")
	var answered atomic.Int64
	var work sync.WaitGroup
	for c := range 50 {
		work.Go(func() {
			v := s.newClient(t)
			if c%2 == 0 {
				v.initialize()
			}
			for id := range calls {
				argument := fmt.Sprintf(`{"who":"%d of %d"}`, id, c)
				m, header := legacyCall(id, "a__echo", argument), []string(nil)
				if c%2 == 1 {
					m, header = modernCall(id, "a__echo", argument)
				}
				status, text, _, err := v.post(m, header...)
				if err != nil || status != http.StatusOK ||
					!strings.HasPrefix(text, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":`, id)) ||
					!strings.Contains(text, argument) {
					t.Errorf("client %d, call %d: %d, %v: %.300s", c, id, status, err, text)
					return
				}
				answered.Add(1)
			}
		})
	}
	work.Wait()
	if n := answered.Load(); n != int64(50*calls) {
		t.Errorf("%d clients got their own answers", n)
	}
}

// TestThousandSessionsWithOpenStreams checks that each of a thousand streams
// gets every notification.
func TestThousandSessionsWithOpenStreams(t *testing.T) {
	sessions := 1000
	if testing.Short() {
		sessions = 200
	}
	s := startHTTP(t, t.TempDir(), serverBlocks(t, "", "rugpull"), "127.0.0.1:0")
	first := s.newClient(t).initialize()
	first.mustPost(legacyCall(1, "a__echo", `{}`))
	feeds := make([]*eventReader, sessions)
	var work sync.WaitGroup
	for worker := range 10 {
		work.Go(func() {
			for i := worker; i < sessions; i += 10 {
				v := first
				if i > 0 {
					v = newTestClient(t, first.url, first.http.Transport.(*http.Transport)).initialize()
				}
				feeds[i] = v.mustListen("")
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
	first.mustPost(legacyCall(2, "a__bad", `{}`)) // changes the lists of its server
	for i, f := range feeds {
		e, err := f.next()
		for err == nil && e.kind == "" {
			e, err = f.next()
		}
		if err != nil || !strings.Contains(e.data, "list_changed") {
			t.Fatalf("stream %d: %+v, %v", i, e, err)
		}
	}
	if mib := memoryOf(t, s.cmd.Process.Pid, "VmRSS:") >> 20; mib > 300 {
		t.Errorf("%d sessions with streams take %d MiB", sessions, mib)
	} else {
		t.Logf("%d sessions with streams take %d MiB", sessions, mib)
	}
	if sessions == 1000 {
		status, text, header, _ := s.newClient(t).post(initializeRequest)
		expectRetryable(t, status, http.StatusServiceUnavailable, header, text, "overloaded")
	}
}

// TestDisconnectCancelsModernCallsOnly checks that the program of a modern call
// ends when its client disconnects, and that a legacy client can resume its
// call.
func TestDisconnectCancelsModernCallsOnly(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	// Junctor's own directories lie in dir, so programs make no files there.
	made := filepath.Join(dir, "made")
	if err := os.Mkdir(made, 0o700); err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(dir, "work")
	if err := os.WriteFile(script, []byte("#!/bin/sh\necho $$ > \"$1.pid\"\nsleep \"$2\"\necho done > \"$1.done\"\n"),
		0o700); err != nil {
		t.Fatal(err)
	}
	config := fmt.Sprintf(`server "w" {
  transport "cli" {
    command = [%q]
    cwd     = "made"
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
	s := startHTTP(t, dir, config, "127.0.0.1:0")
	began := func(name string) (pid int) {
		t.Helper()
		var text []byte
		eventually.True(t, "the program is started", func() bool {
			text, _ = os.ReadFile(filepath.Join(made, name+".pid"))
			return bytes.HasSuffix(text, []byte("\n"))
		})
		pid, _ = strconv.Atoi(strings.TrimSpace(string(text)))
		return pid
	}
	leave := func(v *testClient, name, m string, header ...string) (pid int, gone time.Time) {
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
	name := filepath.Join(made, "modern")
	m, header := modernCall(1, "w__work", fmt.Sprintf(`{"name":%q,"time":60}`, name))
	pid, gone := leave(s.newClient(t), "modern", m, header...)
	eventually.True(t, "the program has ended", func() bool { return syscall.Kill(pid, 0) != nil })
	if took := time.Since(gone); took > 2*time.Second && (soak() || took > testTimeout) {
		t.Fatalf("the program ran for %s after its client had disconnected", took)
	}
	v := s.newClient(t).initialize()
	name = filepath.Join(made, "legacy")
	leave(v, "legacy", legacyCall(1, "w__work", fmt.Sprintf(`{"name":%q,"time":1}`, name)))
	eventually.NoError(t, func() error { // the program of a legacy client finishes
		_, err := os.Stat(name + ".done")
		return err
	})
}

// TestShutdownAnswersAcceptedCalls ends the gateway during a steady stream of
// calls. Accepted calls must be answered.
func TestShutdownAnswersAcceptedCalls(t *testing.T) {
	t.Parallel()
	s := startHTTP(t, t.TempDir(), serverBlocks(t, "", "late 50"), "127.0.0.1:0")
	v := s.newClient(t)
	legacy := newTestClient(t, v.url, v.http.Transport.(*http.Transport)).initialize()
	stream := legacy.mustListen("")
	legacy.mustPost(legacyCall(0, "a__bad", `{}`))
	var answered, refused atomic.Int64
	var work sync.WaitGroup
	ticks := time.NewTicker(5 * time.Millisecond) // 200 a second
	defer ticks.Stop()
	stop := time.After(testTimeout)
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
				case err != nil && signalled.Load() && (strings.Contains(err.Error(), "connection refused") ||
					strings.Contains(err.Error(), "connection reset")):
					refused.Add(1) // includes connections that were not accepted before the listener closed
				default:
					t.Errorf("call %d failed: %d, %v: %.300s", i, status, err, text)
				}
			})
		}
	}
	work.Wait()
	if answered.Load() < 100 || refused.Load() == 0 {
		t.Errorf("%d calls were answered and %d refused: the test needs both", answered.Load(), refused.Load())
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

// restarts returns how often the gateway is killed during a stream.
func restarts() int {
	switch {
	case soak():
		return 200
	case testing.Short():
		return 10
	}
	return 40
}

// notificationsPerCall is the number of notifications during one call.
const notificationsPerCall = 1000

// TestSessionsSurviveKills kills the gateway repeatedly during a stream and
// resumes the session. Received events must be unchanged, later events must
// follow without a gap, and an interrupted call must end with an error that
// says so.
func TestSessionsSurviveKills(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	// The path of a socket is limited in length.
	dir, err := os.MkdirTemp("", "j")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	address := "unix:" + filepath.Join(dir, "s")
	config := serverBlocks(t, "  share = \"session\"", "chatty "+strconv.Itoa(notificationsPerCall)) +
		gatewayBlock("    listen = \""+address+"\"\n    sessions {\n      store = \"disk\"\n    }")
	s := startHTTP(t, home, config, address)
	if info, err := os.Stat(s.address); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode of the socket: %v, %v", info, err)
	}
	session := s.newClient(t).initialize().session
	cut := 0
	for round := range restarts() {
		v := s.newClient(t)
		v.session = session
		had := v.callUntilKilled(round, s.kill)
		s = startHTTP(t, home, config, address)
		v = s.newClient(t)
		v.session = session
		if v.resumeAfterRestart(round, had) {
			cut++
		}
		if t.Failed() {
			return
		}
	}
	t.Logf("%d of %d calls were interrupted", cut, restarts())
	if cut == 0 {
		t.Error("no call was interrupted: the test needs one")
	}
}

// callUntilKilled makes a call and kills the gateway at a random moment of its
// stream. It returns the events that the client got.
func (v *testClient) callUntilKilled(round int, kill func()) (had []event) {
	v.t.Helper()
	resp, err := v.request(v.t.Context(), http.MethodPost, legacyCall(round, "a__bad", `{}`))
	if err != nil || resp.StatusCode != http.StatusOK {
		v.t.Fatal(resp, err)
	}
	defer func() { _ = resp.Body.Close() }()
	f := newEventReader(resp)
	left := rand.IntN(notificationsPerCall)
	if round%4 == 0 {
		left = 0 // the first event names the stream and has no message
	}
	for {
		e, err := f.next()
		if err != nil {
			if left >= 0 {
				v.t.Errorf("round %d: %v with %d events left", round, err, left)
			}
			return had
		}
		had = append(had, e)
		if left--; left == -1 {
			kill() // events in flight still arrive
		}
	}
}

// resumeAfterRestart resumes the stream and reads all of it again. It reports
// whether the call was interrupted.
func (v *testClient) resumeAfterRestart(round int, had []event) (cut bool) {
	t := v.t
	t.Helper()
	v.mustPost(`{"jsonrpc":"2.0","id":"still there","method":"ping"}`)
	messages := func(all []event) (kept []event) {
		for _, e := range all {
			if e.kind == "message" {
				kept = append(kept, e)
			}
		}
		return kept
	}
	rest := messages(v.readStream(had[len(had)-1].id))
	had = messages(had)
	stream, _, _ := strings.Cut(append(had, rest...)[0].id, "-")
	again := messages(v.readStream(stream + "-0"))
	together := append(had[:len(had):len(had)], rest...)
	if len(again) != len(together) {
		t.Errorf("round %d: %d events before and %d after the restart, but %d in one read",
			round, len(had), len(rest), len(again))
		return false
	}
	for i := range again {
		if again[i] != together[i] {
			t.Errorf("round %d: event %d was %+v and is now %+v", round, i, together[i], again[i])
		}
		if said := fmt.Sprintf(`"data":"%d blah`, i); i < len(again)-1 && !strings.Contains(again[i].data, said) {
			t.Errorf("round %d: event %d is %.200s", round, i, again[i].data)
		}
	}
	last := again[len(again)-1].data
	switch {
	case len(again) == notificationsPerCall+1 &&
		strings.HasPrefix(last, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":`, round)):
	case strings.HasPrefix(last, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"error":`, round)) &&
		strings.Contains(last, `"reason":"restarted"`):
		cut = true
	default:
		t.Errorf("round %d: the last of %d events is %s", round, len(again), last)
	}
	return cut
}

// readStream reads a stream from after an event to its end.
func (v *testClient) readStream(after string) (all []event) {
	v.t.Helper()
	f := v.mustListen(after)
	for {
		e, err := f.next()
		if err != nil {
			return all
		}
		all = append(all, e)
	}
}
