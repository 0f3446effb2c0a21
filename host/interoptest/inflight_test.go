package interoptest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The tool of *everything* that takes long, and arguments with which it reports
// progress ten times a second, for longer than a test may take.
const long = "every__trigger-long-running-operation"

var endless = object{"duration": 600, "steps": 6000}

// overheard is the same server with a record of every line that it is sent:
// *everything* itself does not tell what it heard.
func (s server) overheard(file string) server {
	s.command = append([]string{"sh", "-c", `tee "$0" | "$@"`, file}, s.command...)
	return s
}

// heardOf are the messages of a method in such a record.
func heardOf(t *testing.T, file, method string) []message {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var found []message
	for line := range strings.Lines(string(text)) {
		m := message{raw: line}
		if strings.HasSuffix(line, "\n") { // the last may be under way
			decode(t, json.RawMessage(line), &m)
		}
		if m.Method == method {
			found = append(found, m)
		}
	}
	return found
}

// TestCancellationOfEverything: a call in flight ends at once for its client,
// the server is told which one, and what it still reports of it, because it does
// not care, reaches nobody.
func TestCancellationOfEverything(t *testing.T) {
	eachEverything(t, func(t *testing.T, s server, d dialect) {
		record := filepath.Join(t.TempDir(), "heard")
		if s.web == nil {
			s = s.overheard(record)
		}
		p := newSite(t, s).serve().speak(d)
		p.greet()
		id := p.beginWith(1, long, endless)
		p.notify("notifications/cancelled", object{"requestId": json.RawMessage(id), "reason": "no longer wanted"})
		if !d.modern() {
			if code := p.answer(id).failure(t).Code; code != -32800 {
				t.Errorf("code %d after a cancellation, want -32800", code)
			}
		}
		p.tool("every__echo", object{"message": "between"}).text(t)
		// From here on there may be reports of this one only.
		checkProgress(t, p, `2`, 4, object{"name": long, "arguments": object{"duration": 0.8, "steps": 4}})
		if d.modern() {
			for _, m := range p.all("") {
				if string(m.ID) == id {
					t.Errorf("a modern client was answered after it cancelled: %s", m.raw)
				}
			}
		}
		if s.web == nil {
			checkTold(t, record)
		}
	})
}

// checkTold checks that a server was told to cancel the first call of a tool,
// and nothing else. The record may be a moment behind the server.
func checkTold(t *testing.T, record string) {
	t.Helper()
	var told []message
	for until := time.Now().Add(patience); len(told) == 0 && time.Now().Before(until); time.Sleep(10 * time.Millisecond) {
		told = heardOf(t, record, "notifications/cancelled")
	}
	calls := heardOf(t, record, "tools/call")
	if len(calls) == 0 || len(told) != 1 {
		t.Fatalf("the server heard of %d calls and %d cancellations", len(calls), len(told))
	}
	var params struct{ RequestID json.RawMessage }
	decode(t, told[0].Params, &params)
	if string(params.RequestID) != string(calls[0].ID) {
		t.Errorf("the call was %s\nthe cancellation %s", clip(calls[0].raw), told[0].raw)
	}
}

// TestSDKCancelsEverything: the same from a client of the Go SDK.
func TestSDKCancelsEverything(t *testing.T) {
	for era, d := range eras {
		t.Run(era, func(t *testing.T) {
			t.Parallel()
			record := filepath.Join(t.TempDir(), "heard")
			c := newSite(t, everything(t).overheard(record)).serve().connect(d, nil)
			c.cancelsCall(long, endless)
			if got := c.call("every__echo", object{"message": "after"}); got != "Echo: after" {
				t.Errorf("echo: %s", got)
			}
			checkTold(t, record)
		})
	}
}

// cancelsCall withdraws a call as soon as it reports progress.
func (s *session) cancelsCall(tool string, arguments object) {
	s.t.Helper()
	ctx, cancel := context.WithCancel(s.ctx)
	defer cancel()
	p := &mcp.CallToolParams{Name: tool, Arguments: arguments}
	p.SetProgressToken("until " + tool)
	ended := make(chan error, 1)
	go func() { _, err := s.CallTool(ctx, p); ended <- err }()
	next(s.t, "progress of "+tool, s.progress)
	cancel()
	if err := next(s.t, "the end of a call that was withdrawn", ended); !errors.Is(err, context.Canceled) {
		s.t.Errorf("%s: %v", tool, err)
	}
}

// TestLoggingOfEverything: what the server says from time to time, once it is
// told to, reaches a client that asked for it, until it is told not to.
func TestLoggingOfEverything(t *testing.T) {
	for way, of := range everythings {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			checkLogging(t, newSite(t, of(t)).serve().connect(oldDialect, nil))
		})
	}
}

func checkLogging(t *testing.T, c *session) {
	t.Helper()
	if err := c.SetLoggingLevel(c.ctx, &mcp.SetLoggingLevelParams{Level: "debug"}); err != nil {
		t.Fatal(err)
	}
	const toggle = "every__toggle-simulated-logging"
	if got := c.call(toggle, object{}); !strings.Contains(got, "Started") {
		t.Errorf("on: %s", got)
	}
	for _, what := range []string{"the first message", "the message of its timer"} {
		if m := next(t, what, c.logs); !strings.Contains(fmt.Sprint(m.Data), "level") || m.Level == "" {
			t.Errorf("%s: %s", what, encode(t, m))
		}
	}
	if got := c.call(toggle, object{}); !strings.Contains(got, "Stopped") {
		t.Errorf("off: %s", got)
	}
	for begun := time.Now(); ; { // what is on its way may come later than the answer
		select {
		case m := <-c.logs:
			if time.Since(begun) > patience/2 {
				t.Fatalf("there is no end of messages: %s", encode(t, m))
			}
		case <-time.After(time.Second): // the next would have come after half of it
			return
		}
	}
}
