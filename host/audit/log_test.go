package audit

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/testdata/bubble"
)

// A brokenDisk is a sink that fails until it is mended.
type brokenDisk struct {
	mu     sync.Mutex
	broken bool
	rows   []Event
	calls  int
}

func (d *brokenDisk) append(entries []entry, _ func(string) string) (chain, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.calls++
	if d.broken {
		return chain{}, errors.New("database or disk is full")
	}
	for _, e := range entries {
		d.rows = append(d.rows, e.Event)
	}
	return chain{last: int64(len(d.rows))}, nil
}

func (d *brokenDisk) set(broken bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.broken = broken
}

func (d *brokenDisk) count() (rows, calls int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.rows), d.calls
}

func (*brokenDisk) prune(*Settings, time.Time) error { return nil }
func (*brokenDisk) grown(*Settings) error            { return nil }
func (*brokenDisk) checkpoint() error                { return nil }
func (*brokenDisk) head() (chain, error)             { return chain{}, nil }
func (*brokenDisk) close() error                     { return nil }

// onDisk returns a log that writes to a disk, and what it logs.
func onDisk(t *testing.T, d sink, s Settings) (*Log, *bytes.Buffer) {
	t.Helper()
	said := &bytes.Buffer{}
	l := New(Options{Log: hclog.New(&hclog.LoggerOptions{Output: said}),
		open: func(*Settings) (sink, error) { return d, nil }})
	s.To = io.Discard
	if err := l.Set(&s); err != nil {
		t.Fatal(err)
	}
	if err := l.Open(); err != nil {
		t.Fatal(err)
	}
	return l, said
}

func record(l *Log, n int) {
	for i := range n {
		e := sample(i)
		l.End(&e)
	}
}

func TestRowsAreWrittenInBatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &brokenDisk{}
		l, _ := onDisk(t, d, Settings{})
		record(l, 3)
		synctest.Wait()
		if rows, _ := d.count(); rows != 0 {
			t.Errorf("%d rows are written before there is a batch", rows)
		}
		bubble.Sleep(batchTime)
		synctest.Wait()
		if rows, calls := d.count(); rows != 3 || calls != 1 {
			t.Errorf("%d rows in %d batches", rows, calls)
		}
		record(l, batchRows)
		synctest.Wait()
		if rows, calls := d.count(); rows != 3+batchRows || calls > 3 {
			t.Errorf("%d rows in %d batches", rows, calls)
		}
		l.Close()
	})
}

func TestFullDiskDropsEventsAndSaysHowMany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &brokenDisk{broken: true}
		l, said := onDisk(t, d, Settings{Full: true})
		begun := time.Now()
		record(l, bufferSize+100)
		if waited := time.Since(begun); waited > commitTime {
			t.Errorf("requests waited %s for a disk that fails", waited)
		}
		bubble.Sleep(10 * time.Second)
		if s, _ := l.State(); !s.Failing || s.Backlog != bufferSize || s.Dropped != 100 {
			t.Errorf("%+v", s)
		}
		if recording, err := l.Begin(); !recording || err != nil {
			t.Errorf("a request is refused: %v", err)
		}
		d.set(false)
		bubble.Sleep(5 * time.Second)
		synctest.Wait()
		rows, _ := d.count()
		if s, _ := l.State(); s.Failing || s.Backlog != 0 || rows != bufferSize+1 {
			t.Errorf("%+v, %d rows", s, rows)
		}
		if last := d.rows[len(d.rows)-1]; !hasLoss(d.rows, 100) {
			t.Errorf("no row says that events are missing; the last one is %+v", last)
		}
		l.Close()
		if n := strings.Count(said.String(), "is not written"); n != 1 {
			t.Errorf("the log says %d times that the disk fails:\n%s", n, said)
		}
		if n := strings.Count(said.String(), "its buffer is full"); n != 7 { // 1, 2, 4 … 64
			t.Errorf("the log says %d times that events are dropped:\n%s", n, said)
		}
	})
}

func hasLoss(rows []Event, n int) bool {
	for _, e := range rows {
		if e.Kind == Loss && e.Count == n {
			return true
		}
	}
	return false
}

func TestFullDiskRefusesRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &brokenDisk{broken: true}
		l, _ := onDisk(t, d, Settings{Refuse: true})
		if _, err := l.Begin(); err != nil {
			t.Fatal(err)
		}
		record(l, 1)
		bubble.Sleep(time.Second)
		recording, err := l.Begin()
		if !recording || !fault.Is(err, fault.AuditUnavailable) {
			t.Errorf("a request that cannot be recorded begins: %v, %v", recording, err)
		}
		l.End(&Event{Outcome: Unrecorded})
		d.set(false)
		bubble.Sleep(5 * time.Second)
		synctest.Wait()
		if _, err := l.Begin(); err != nil {
			t.Errorf("the disk works again, and requests are refused: %v", err)
		}
		if rows, _ := d.count(); rows != 2 {
			t.Errorf("%d rows, want those of the accepted and of the refused request", rows)
		}
		l.Close()
	})
}

// TestNotesLeaveSpaceForRequests fills the buffer with events that are no requests.
func TestNotesLeaveSpaceForRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &brokenDisk{broken: true}
		l, _ := onDisk(t, d, Settings{})
		for range 2 * bufferSize {
			l.Note(&Event{Kind: PluginCrash})
		}
		record(l, 10)
		if s, _ := l.State(); s.Backlog > bufferSize/2+10+1 || s.Dropped < bufferSize { // and a row of the dropped ones
			t.Errorf("%+v", s)
		}
		d.set(false)
		l.Close()
		if rows, _ := d.count(); rows < bufferSize/2+10 {
			t.Errorf("%d rows", rows)
		}
	})
}

// TestRefusedClientsCannotFillTheLog fails to authenticate a hundred times a second for a
// minute. The rows count all attempts, and those of others stay whole.
func TestRefusedClientsCannotFillTheLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &brokenDisk{}
		l, _ := onDisk(t, d, Settings{})
		for range 6000 {
			l.Note(&Event{Kind: AuthFailure, Outcome: Denied, Message: "wrong token"})
			bubble.Sleep(10 * time.Millisecond)
		}
		record(l, 100)
		l.Note(&Event{Kind: Reload})
		l.Close()
		own, counted, others := 0, 0, 0
		for _, e := range d.rows {
			switch {
			case e.Kind != AuthFailure:
				others++
			case e.Count == 0:
				own++
			default:
				if counted += e.Count; e.Outcome != Denied || e.DurationMS > Milliseconds(2*refusedEvery) ||
					e.Detail == "" {
					t.Errorf("%+v", e)
				}
			}
		}
		if own < refusedAtOnce || own > refusedAtOnce+61 || own+counted != 6000 || others != 101 ||
			len(d.rows)-own-others > 8 {
			t.Errorf("%d rows of their own, %d counted, %d other rows, %d rows", own, counted, others, len(d.rows))
		}
	})
}

func TestCloseGivesUpAfterDrainTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &brokenDisk{broken: true}
		l, said := onDisk(t, d, Settings{})
		record(l, 7)
		begun := time.Now()
		l.Close()
		if took := time.Since(begun); took < drainTime-time.Second || took > drainTime+time.Second {
			t.Errorf("it took %s to give up", took)
		}
		if !strings.Contains(said.String(), "dropped=7") {
			t.Errorf("the log does not say what is lost:\n%s", said)
		}
	})
}

// TestSetMovesToAnotherFile changes the settings of a log in use.
func TestSetMovesToAnotherFile(t *testing.T) {
	first, second := newPath(t), newPath(t)
	l := newLog(t, Settings{File: first})
	record(l, 10)
	if err := l.Set(&Settings{File: second, Full: true}); err != nil {
		t.Fatal(err)
	}
	record(l, 5)
	if got := len(rowsOf(t, first, Filter{})); got != 10 {
		t.Errorf("the first file has %d rows", got)
	}
	if got := len(rowsOf(t, second, Filter{})); got != 5 {
		t.Errorf("the second file has %d rows before the log is closed", got)
	}
	if err := l.Set(&Settings{File: t.TempDir()}); err == nil {
		t.Error("a directory is a file")
	}
	record(l, 1)
	l.Close()
	record(l, 1)
	if got := len(rowsOf(t, second, Filter{})); got != 6 {
		t.Errorf("the second file has %d rows", got)
	}
	verified(t, first)
	verified(t, second)
}

// TestRemovedFileIsMadeAgain removes the file of a log in use.
func TestRemovedFileIsMadeAgain(t *testing.T) {
	path := newPath(t)
	l := newLog(t, Settings{File: path, Full: true})
	record(l, 2)
	for _, end := range []string{"", "-wal", "-shm"} {
		_ = os.Remove(path + end)
	}
	record(l, 3)
	if got := len(rowsOf(t, path, Filter{})); got != 3 {
		t.Errorf("the new file has %d rows", got)
	}
	verified(t, path)
}

// TestSecretsReachNoRow puts a secret into every text of an event.
func TestSecretsReachNoRow(t *testing.T) {
	const canary = "canary-7f3a91"
	path := newPath(t)
	l := New(Options{Log: hclog.NewNullLogger(),
		Hide: func(s string) string { return strings.ReplaceAll(s, canary, "***") },
		Mask: func(b []byte) []byte { return bytes.ReplaceAll(b, []byte(canary), []byte("***")) }})
	if err := l.Set(&Settings{File: path, Arguments: true, Results: true}); err != nil {
		t.Fatal(err)
	}
	e := Event{
		Kind: Request, Time: time.Now(), RequestID: canary, TraceID: canary, Client: canary, Tenant: canary,
		Subject: canary, Issuer: canary, Item: "file:///" + canary, Method: canary,
		Rule: canary, Message: strings.Repeat("x", maxText-5) + canary, Plugin: canary, By: canary, Detail: canary,
		Outcome: Failed,
		Result:  fmt.Appendf(nil, `{"content":%q}`, canary),
	}
	e.SetArguments(fmt.Appendf(nil, `{"token":%q}`, canary))
	l.End(&e)
	l.Note(&e)
	l.Close()
	if n := len(rowsOf(t, path, Filter{})); n != 2 {
		t.Errorf("%d rows", n)
	}
	for _, end := range []string{"", "-wal"} {
		text, err := os.ReadFile(path + end)
		if err == nil && bytes.Contains(text, []byte("canary-")) {
			t.Errorf("%s has the secret", path+end)
		}
	}
	verified(t, path)
}

// A stuckDisk is a sink that writes nothing before open is closed.
type stuckDisk struct {
	brokenDisk
	open chan struct{}
}

func (d *stuckDisk) append(entries []entry, hide func(string) string) (chain, error) {
	<-d.open
	return d.brokenDisk.append(entries, hide)
}

// TestRequestsWaitBehindOneBatch answers as many requests as one batch has rows, although
// none is written, and no further one.
func TestRequestsWaitBehindOneBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &stuckDisk{open: make(chan struct{})}
		l, _ := onDisk(t, d, Settings{})
		record(l, maxBatch)
		if s, _ := l.State(); s.Backlog != maxBatch {
			t.Errorf("%+v", s)
		}
		answered := make(chan struct{})
		go func() {
			record(l, 1)
			close(answered)
		}()
		synctest.Wait()
		select {
		case <-answered:
			t.Error("a request is answered although a whole batch is not written")
		default:
		}
		close(d.open)
		<-answered
		if rows, _ := d.count(); rows != maxBatch+1 {
			t.Errorf("%d rows", rows)
		}
		l.Close()
	})
}
