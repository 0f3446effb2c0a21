package sessionstore

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Environment of a child process that is killed: the path of its file, and the
// session to continue.
const (
	childFile    = "SESSION_TEST_FILE"
	childSession = "SESSION_TEST_SESSION"
)

// childFill makes a child process fill the store at a path and wait for its end.
const childFill = "SESSION_TEST_FILL"

const benchSessions = 1000

// child sends events as fast as possible. It prints sessions, states and events
// as soon as a client can know them.
func child(path, id string) error {
	s, err := Open(Options{Path: path, Limits: Limits{Events: 1 << 20}})
	if err != nil {
		return err
	}
	x, err := s.Find(id, "ann")
	if err != nil {
		return err
	}
	extra, err := s.New("ann", []byte("new"))
	if err != nil {
		return err
	}
	if s.Healthy() != nil { // events that bypassed a slow disk are not promised
		select {}
	}
	fmt.Println("session", extra.ID)
	l := x.Log()
	for range 3 {
		go send(l)
	}
	go func() {
		for i := 0; ; i++ {
			if extra.SetState(fmt.Append(nil, i)); s.Healthy() != nil {
				return
			}
			fmt.Println("state", i)
			time.Sleep(time.Millisecond) // leaves the disk to the events, too
		}
	}()
	for after := l.Head(Common); ; {
		changed := l.Changed(Common)
		events, err := l.Read(Common, after, true, 100)
		if err != nil {
			return err
		}
		for _, e := range events {
			after = e.Seq
			if !e.Transient {
				fmt.Println("event", e.Seq, string(e.Data[0]))
			} else {
				fmt.Println("position", e.Seq)
			}
		}
		if s.Healthy() != nil {
			select {} // until the kill
		}
		if len(events) == 0 {
			<-changed
		}
	}
}

// fill writes sessions with events into the store at a path, and waits.
func fill(path string) error {
	s, err := Open(Options{Path: path})
	if err != nil {
		return err
	}
	for range benchSessions {
		x, err := s.New("ann", []byte(`{"level":"info"}`))
		if err != nil {
			return err
		}
		n := x.Log().Begin([]byte("1"))
		for range 50 {
			x.Log().Append(n, Event{Data: [][]byte{make([]byte, 400)}})
		}
		x.Log().AwaitWritten()
		fmt.Println(x.ID)
	}
	fmt.Println("filled")
	select {}
}

// send appends events of all sizes.
func send(l *Log) {
	for i := 0; ; i++ {
		e := text("%d-%s", i, strings.Repeat("x", rand.IntN(100)))
		e.Transient = i%10 == 9
		l.Append(Common, e)
		if i%100 == 99 {
			l.Append(l.Begin([]byte("1")), Event{Data: [][]byte{make([]byte, 1+rand.IntN(5000))}, Last: true})
		}
		// An uneven pace makes batches of all sizes.
		time.Sleep(time.Duration(rand.IntN(200)) * time.Microsecond)
	}
}

// TestKilledProcessLosesNoReadableEvent kills a process while it sends.
// Everything that it printed must be in the file.
func TestKilledProcessLosesNoReadableEvent(t *testing.T) {
	rounds := 40
	if os.Getenv("JUNCTOR_SOAK") == "1" {
		rounds = 200
	}
	if testing.Short() {
		rounds = 10
	}
	path := filepath.Join(t.TempDir(), "sessions")
	var id string
	var seen int
	var before uint64
	for round := range rounds {
		s, err := Open(Options{Path: path, Limits: Limits{Events: 1 << 20, Max: 2 + round}})
		if err != nil {
			t.Fatal(err)
		}
		if id == "" {
			id = begin(t, s).ID
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		lines := killChild(t, path, id, time.Duration(5+rand.IntN(60))*time.Millisecond)
		n, last := checkFile(t, path, id, before, lines)
		seen += n
		before = last
		if t.Failed() {
			t.Fatalf("round %d failed", round)
		}
	}
	t.Logf("%d events in %d rounds, none lost", seen, rounds)
	if seen < rounds { // a busy machine writes few before the kill
		t.Errorf("only %d events were seen", seen)
	}
}

// killChild runs a child, kills it after a while, and returns what it printed.
func killChild(t *testing.T, path, id string, after time.Duration) (lines []string) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childFile+"="+path, childSession+"="+id)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	var timer *time.Timer
	for scan := bufio.NewScanner(out); scan.Scan(); {
		if timer == nil {
			timer = time.AfterFunc(after, func() { _ = cmd.Process.Kill() })
		}
		lines = append(lines, scan.Text())
	}
	if err := cmd.Wait(); err == nil || cmd.ProcessState.Exited() {
		t.Fatalf("the child was not killed: %v", err)
	}
	return lines
}

// checkFile looks for everything that was printed.
func checkFile(t *testing.T, path, id string, before uint64, lines []string) (seen int, last uint64) {
	t.Helper()
	s, err := Open(Options{Path: path, Limits: Limits{Events: 1 << 20, Max: 1 << 20}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	x, err := s.Find(id, "ann")
	if err != nil {
		t.Fatal(err)
	}
	events, err := x.Log().Read(Common, before, false, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	there := map[uint64]string{}
	for _, e := range events {
		there[e.Seq] = data(e)
		last = e.Seq
	}
	last = max(last, before)
	var extra *Session
	for _, line := range lines {
		var seq uint64
		word, rest, _ := strings.Cut(line, " ")
		_, _ = fmt.Sscan(rest, &seq)
		switch word {
		case "session":
			extra, err = s.Find(rest, "ann")
		case "state":
			var state uint64
			if _, err = fmt.Sscan(string(extra.State()), &state); err == nil && state < seq {
				err = fmt.Errorf("the state is %d", state)
			}
		case "event":
			seen++
			if _, text, _ := strings.Cut(rest, " "); there[seq] != text {
				err = fmt.Errorf("the file has %q", there[seq])
			}
		case "position":
			if _, err = x.Log().Read(Common, seq, true, 1); seq < before {
				err = fmt.Errorf("not after %d", before)
			}
		}
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
	}
	return seen, last
}
