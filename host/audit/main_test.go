package audit

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"go.uber.org/goleak"
)

// TestMain runs the tests, or a child that writes rows until it is killed.
func TestMain(m *testing.M) {
	if path := os.Getenv("AUDIT_CHILD"); path != "" {
		writeForever(path, os.Getenv("AUDIT_CHILD_SYNC") == "full")
	}
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("database/sql.(*DB).connectionOpener"))
}

// writeForever records events one after the other. It prints the number of each event that
// End returned for.
func writeForever(path string, full bool) {
	l := New(Options{Log: hclog.NewNullLogger()})
	if err := l.Set(&Settings{File: path, Full: full}); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	out := bufio.NewWriter(os.Stdout)
	for n := 1; ; n++ {
		e := sample(n)
		e.Time, e.RequestID, e.Count = time.Now(), fmt.Sprintf("%d-%d", os.Getpid(), n), n
		if recording, err := l.Begin(); !recording || err != nil {
			fmt.Println("the log cannot be opened:", err)
			os.Exit(1)
		}
		l.End(&e)
		fmt.Fprintln(out, n)
		if err := out.Flush(); err != nil {
			os.Exit(1)
		}
	}
}

// A child is a process that writes rows.
type child struct {
	cmd   *exec.Cmd
	acked chan int // the last number that it printed, once it has ended
}

func startChild(t *testing.T, path, sync string) *child {
	c := &child{cmd: exec.Command(os.Args[0]), acked: make(chan int, 1)}
	c.cmd.Env = append(os.Environ(), "AUDIT_CHILD="+path, "AUDIT_CHILD_SYNC="+sync)
	out, err := c.cmd.StdoutPipe()
	if err == nil {
		err = c.cmd.Start()
	}
	if err != nil {
		t.Error(err)
		c.acked <- 0
		return c
	}
	first := make(chan struct{})
	go func() {
		last := 0
		for s := bufio.NewScanner(out); s.Scan(); {
			n, err := strconv.Atoi(s.Text())
			if err != nil {
				t.Errorf("the child says %q", s.Text())
				continue
			}
			if last = n; n == 1 {
				close(first)
			}
		}
		if last == 0 {
			close(first)
		}
		c.acked <- last
	}()
	<-first
	return c
}

// kill kills the child and returns the number of events that it was told are recorded.
func (c *child) kill(t *testing.T) int {
	t.Helper()
	if err := c.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	n := <-c.acked
	_ = c.cmd.Wait()
	return n
}

// newPath returns the path of a log that does not exist yet.
func newPath(t testing.TB) string { return filepath.Join(t.TempDir(), "audit.db") }

// newLog returns an open log.
func newLog(t testing.TB, s Settings) *Log {
	t.Helper()
	if s.File == "" {
		s.File = newPath(t)
	}
	l := New(Options{Log: hclog.NewNullLogger()})
	if err := l.Set(&s); err != nil {
		t.Fatal(err)
	}
	if err := l.Open(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	return l
}

// rowsOf returns all rows of a file.
func rowsOf(t testing.TB, path string, f Filter) (all []Row) {
	t.Helper()
	r, err := OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := r.Each(t.Context(), f, false, func(row Row) bool { all = append(all, row); return true }); err != nil {
		t.Fatal(err)
	}
	return all
}

// verified checks that a file has no defect.
func verified(t testing.TB, path string, heads ...string) *Report {
	t.Helper()
	all, err := VerifyAll(t.Context(), path, heads)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range all {
		for _, f := range r.Findings {
			t.Errorf("%s: row %d %s: %s", filepath.Base(r.File), f.Seq, f.Problem, f.Detail)
		}
	}
	return all[len(all)-1]
}

// sample returns the event of a typical call.
func sample(n int) Event {
	e := Event{
		Kind: Request, Time: time.Unix(1_800_000_000, 0).Add(time.Duration(n) * time.Millisecond), DurationMS: 12,
		RequestID: "0193b5a2-7c3e-7d7c-9a51-3f1e2d4c5b6a", TraceID: "4bf92f3577b34da6a3ce929d0e0e4736",
		Session:   "8f14e45fceea167a",
		Transport: "http", Address: "10.0.0.7", Client: "claude-code 2.1.0", Tenant: "acme",
		Subject: fmt.Sprintf("user-%d", n%50), Issuer: "https://id.example.com", Proof: "jwt",
		Server: fmt.Sprintf("server-%d", n%10), ItemKind: "tool",
		Item: fmt.Sprintf("tool_%d", n%200), Method: "tools/call",
		Decision: "allowed", Rule: "allow at junctor.hcl:14:3 for role dev", Access: "read", AccessSource: "words",
		Outcome: OK, ResultSize: 4711,
	}
	if n%100 == 0 {
		e.Outcome, e.Code, e.Message = Failed, "upstream.unavailable", "the server could not be reached"
	}
	if n%1000 == 0 {
		e.Outcome, e.Code = Denied, "policy.denied"
	}
	e.SetArguments([]byte(`{"query":"is:open label:bug","repo":"acme/site","per_page":30}`))
	return e
}
