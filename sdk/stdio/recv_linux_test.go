package stdio

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/sdk/ndjson"
)

func TestEcho(t *testing.T) {
	c := start(t, shell("exec cat"))
	for _, n := range []int{2, 3, 100, 4095, 4096, 64 << 10, 1 << 20, ndjson.DefaultLimit} {
		want := "{" + strings.Repeat(" ", n-2) + "}"
		if n > 10 {
			want = `{"a":"` + strings.Repeat("x", n-8) + `"}`
		}
		var wg sync.WaitGroup
		wg.Go(func() { mustSend(t, c, want) })
		mustRecv(t, c, want)
		wg.Wait()
	}
	if st := c.Status(); st.State != "running" || st.PID == 0 || st.Dropped != 0 {
		t.Errorf("status %+v", st)
	}
}

// TestFlush checks that messages are sent by Flush, and that Recv calls the
// function of BeforeWait before it blocks.
func TestFlush(t *testing.T) {
	c := start(t, shell("exec cat"))
	waits := make(chan struct{}, 100)
	c.BeforeWait(func() { waits <- struct{}{} })
	for i := range 10 {
		if err := c.Send([]byte(fmt.Sprintf(`{"n":%d}`, i))); err != nil {
			t.Fatal(err)
		}
	}
	got := make(chan struct{})
	go func() {
		defer close(got)
		for i := range 10 {
			mustRecv(t, c, fmt.Sprintf(`{"n":%d}`, i))
		}
	}()
	<-waits
	select {
	case <-got:
		t.Error("messages came before Flush")
	case <-time.After(20 * time.Millisecond):
	}
	if err := c.Flush(); err != nil {
		t.Fatal(err)
	}
	<-got
}

// failure calls Recv until the connection ends and returns the error.
func failure(t *testing.T, c *Conn) *sdk.Error {
	t.Helper()
	for {
		_, err := c.Recv()
		if _, ok := err.(*sdk.Dropped); ok || err == nil {
			continue
		}
		e, ok := errors.AsType[*sdk.Error](err)
		if !ok {
			t.Fatalf("Recv returned %v", err)
		}
		return e
	}
}

func TestExits(t *testing.T) {
	for _, c := range []struct{ name, script, message, hint, output string }{
		{"in order", "exit 0", "the server exited with status 0", "", ""},
		{"with last words", "echo one >&2; echo two >&2; exit 3", "the server exited with status 3", "", "one|two"},
		{"last words without a line break", "printf oops >&2; exit 3", "the server exited with status 3", "", "oops"},
		{"command not found", "no-such-command-anywhere", "exited with status 127",
			"did not find a command", "*no-such-command-anywhere*"},
		{"not executable", "exec /etc/passwd", "exited with status 126", "may not be executed", "*"},
		{"signal, as a shell says it", "exit 139", "exited with status 139", "was killed by SIGSEGV", ""},
		{"signal", "kill -SEGV $$", "was killed by SIGSEGV (segmentation fault)", "", ""},
		{"after messages", `echo '{"a":1}'; exit 7`, "exited with status 7", "", ""},
		{"logs to standard output", "echo Listening on port 1; exit 1",
			"exited with status 1", "must log to standard error", "(stdout) Listening on port 1"},
		{"closes its output", "exec >&-; exec sleep 1000",
			"closed its standard output but keeps running", "must not redirect it", ""},
		{"not UTF-8", `printf '\377\376x\n' >&2; exit 1`, "exited with status 1", "", "\uFFFDx"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			e := failure(t, start(t, shell(c.script)))
			output := strings.Join(e.Output, "|")
			wanted := output == c.output ||
				strings.HasPrefix(c.output, "*") && strings.Contains(output, strings.Trim(c.output, "*"))
			if e.Code != sdk.Unavailable || e.Reason == "" || !strings.Contains(e.Message, c.message) ||
				!strings.Contains(e.Hint, c.hint) || !wanted {
				t.Errorf("%#v", e)
			}
		})
	}
}

// TestSkipsLinesThatAreNotMessages checks that such lines are dropped and
// counted and that the connection continues.
func TestSkipsLinesThatAreNotMessages(t *testing.T) {
	long := strings.Repeat("j", 500)
	c := start(t, shell(`echo banner; echo; echo "[1]"; printf '{"a":\r1}\r\n'; echo $1; for i in 1 2 3 4 5 6 7 8; do echo junk $i; done; echo '{"b":2}'; exec cat`,
		long))
	mustRecv(t, c, `{"a": 1}`)
	mustRecv(t, c, `{"b":2}`)
	mustSend(t, c, `{"c":3}`)
	mustRecv(t, c, `{"c":3}`)
	st := c.Status()
	want := []string{"(stdout) banner", "(stdout) [1]", "(stdout) " + long[:previewed] + " …",
		"(stdout) junk 1", "(stdout) junk 2"}
	if st.Dropped != 11 || !slices.Equal(st.Stderr, want) {
		t.Errorf("dropped %d, kept %q", st.Dropped, st.Stderr)
	}
}

func TestTooLong(t *testing.T) {
	o := shell(`echo $1; echo '{"after":1}'; exec cat`, `{"id":1,"pad":"`+strings.Repeat("x", 5000)+`"}`)
	o.MaxMessage = 1000
	c := start(t, o)
	_, err := c.Recv()
	d, ok := err.(*sdk.Dropped)
	if !ok || d.Reason != "message_too_large" || d.Limit != 1000 || d.Size < 5000 ||
		!strings.HasPrefix(string(d.Prefix), `{"id":1,`) {
		t.Errorf("got %#v", err)
	}
	mustRecv(t, c, `{"after":1}`)
	if n := c.Status().Dropped; n != 0 { // it was a message
		t.Errorf("dropped %d", n)
	}
}

// TestLineWithoutEnd checks that a line which never ends ends the connection.
func TestLineWithoutEnd(t *testing.T) {
	o := shell(`exec cat /dev/zero`)
	o.MaxMessage = 1000
	c := start(t, o)
	if _, err := c.Recv(); !errors.As(err, new(*sdk.Dropped)) {
		t.Errorf("got %v", err)
	}
	if e := failure(t, c); e.Reason != "message_too_large" || !strings.Contains(e.Message, "without an end") {
		t.Errorf("got %#v", e)
	}
	closeNow(t, c)
}

// TestOrphanHoldsPipes checks that the end of the server and its last output
// are reported although an orphan keeps its pipes open.
func TestOrphanHoldsPipes(t *testing.T) {
	c := start(t, program("orphan"))
	for i := range 700 {
		mustRecv(t, c, fmt.Sprintf(`{"n":%d,"pad":"%050d"}`, i, 0))
		if i == 10 {
			// The rest is read long after the end of the server.
			<-c.proc.Done()
			time.Sleep(afterExit) // Recv could give up meanwhile
		}
	}
	e := failure(t, c)
	if e.Message != "the server exited with status 3" || len(e.Output) != 1 {
		t.Fatalf("got %#v", e)
	}
	closeNow(t, c)
	pid, _ := strconv.Atoi(e.Output[0])
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Errorf("killing the orphan: %v", err)
	}
}

// TestStderr checks that the last fifty lines are kept and long lines are cut.
func TestStderr(t *testing.T) {
	t.Parallel()
	c := start(t, shell(`i=0; while [ $i -lt 80 ]; do echo line $i >&2; i=$((i+1)); done; echo $1 >&2; exit 1`,
		strings.Repeat("x", 3*lineShown)))
	e := failure(t, c)
	if len(e.Output) != tailLines || e.Output[0] != "line 31" || e.Output[48] != "line 79" ||
		len(e.Output[49]) != lineShown+len(" …") {
		t.Errorf("%d lines: %.3000q", len(e.Output), e.Output)
	}
}

// TestFlood checks that endless output on standard error fills neither memory
// nor the log and does not delay messages.
func TestFlood(t *testing.T) {
	for name, script := range map[string]string{
		"lines":         `while :; do echo "flood flood flood flood flood flood"; done`,
		"no line break": `cat /dev/zero`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var log lines
			o := shell(`(` + script + `) >&2 & exec cat`)
			o.Log = hclog.New(&hclog.LoggerOptions{Output: &log, Level: hclog.Debug, JSONFormat: true})
			begun := time.Now()
			c := start(t, o)
			for range 100 {
				mustSend(t, c, "{}")
				mustRecv(t, c, "{}")
			}
			time.Sleep(500 * time.Millisecond) // the flood could fill the log meanwhile
			closeNow(t, c)
			most := (int(time.Since(begun)/time.Second) + 2) * (logPerSecond + 1)
			if n := log.count(); n > most {
				t.Errorf("%d lines in the log in %s", n, time.Since(begun))
			}
			for _, l := range c.Status().Stderr {
				if len(l) > lineShown+len(" …") {
					t.Errorf("a line of %d bytes is kept", len(l))
				}
			}
		})
	}
}

// lines counts the lines written to it.
type lines struct {
	mu sync.Mutex
	n  int
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.n += bytes.Count(b, []byte("\n"))
	return len(b), nil
}

func (l *lines) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.n
}

// TestSlow checks that no message is lost if the server reads slowly or its
// responses are received late.
func TestSlow(t *testing.T) {
	c := start(t, shell(`while read -r l; do sleep 0.01; echo "$l"; done`))
	for i := range 20 {
		mustSend(t, c, fmt.Sprintf(`{"n":%d}`, i))
	}
	for i := range 20 {
		mustRecv(t, c, fmt.Sprintf(`{"n":%d}`, i))
	}
	_ = c.stdin.Close()
	if e := failure(t, c); e.Reason != "exited" {
		t.Errorf("%#v", e)
	}
	if err := c.Send([]byte("{}")); err == nil && c.Flush() == nil {
		t.Error("Send and Flush succeed after the end of the server")
	}
	closeNow(t, c)
	if _, err := c.Recv(); err != io.EOF {
		t.Errorf("after Close: %v", err)
	}
}
