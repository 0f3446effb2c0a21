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

	"github.com/junctor-mcp/junctor/testdata/eventually"
)

// long is a slow tool of *everything*. With the arguments endless it reports progress
// ten times a second for longer than any test.
const long = "every__trigger-long-running-operation"

var endless = object{"duration": 600, "steps": 6000}

// withInputRecord returns the server with a record of each line that it gets,
// because *everything* itself does not report its input.
func (s server) withInputRecord(file string) server {
	s.command = append([]string{"sh", "-c", `tee "$0" | "$@"`, file}, s.command...)
	return s
}

// recorded returns the messages of a method in such a record.
func recorded(t *testing.T, file, method string) []message {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var found []message
	for line := range strings.Lines(string(text)) {
		m := message{raw: line}
		if strings.HasSuffix(line, "\n") { // the last line may be incomplete
			decode(t, json.RawMessage(line), &m)
		}
		if m.Method == method {
			found = append(found, m)
		}
	}
	return found
}

// TestCancellationOfEverything checks that a cancelled call ends at once for
// its client, that the server gets the cancellation, and that later reports are
// dropped.
func TestCancellationOfEverything(t *testing.T) {
	eachEverything(t, func(t *testing.T, s server, d dialect) {
		record := filepath.Join(t.TempDir(), "heard")
		if s.web == nil {
			s = s.withInputRecord(record)
		}
		p := newWorkspace(t, s).serve().speak(d)
		p.initialize()
		id := p.beginWith(1, long, endless)
		p.notify("notifications/cancelled", object{"requestId": json.RawMessage(id), "reason": "no longer wanted"})
		p.tool("every__echo", object{"message": "between"}).text(t)
		p.unanswered(id)
		// From here on the server reports this call only.
		checkProgress(t, p, `2`, 4, object{"name": long, "arguments": object{"duration": 0.8, "steps": 4}})
		if d.modern() {
			for _, m := range p.all("") {
				if string(m.ID) == id {
					t.Errorf("a modern client was answered after it cancelled: %s", m.raw)
				}
			}
		}
		if s.web == nil {
			checkCancelled(t, record)
		}
	})
}

// checkCancelled checks that the server got one call of a tool and its
// cancellation. The record may lag behind the server.
func checkCancelled(t *testing.T, record string) {
	t.Helper()
	var told []message
	eventually.True(t, "the server got a cancellation", func() bool {
		told = recorded(t, record, "notifications/cancelled")
		return len(told) > 0
	})
	calls := recorded(t, record, "tools/call")
	if len(calls) == 0 || len(told) != 1 {
		t.Fatalf("the server got %d calls and %d cancellations", len(calls), len(told))
	}
	var params struct{ RequestID json.RawMessage }
	decode(t, told[0].Params, &params)
	if string(params.RequestID) != string(calls[0].ID) {
		t.Errorf("the call was %s\nthe cancellation %s", clip(calls[0].raw), told[0].raw)
	}
}

// TestSDKCancelsEverything does the same with a client of the Go SDK.
func TestSDKCancelsEverything(t *testing.T) {
	for era, d := range eras {
		t.Run(era, func(t *testing.T) {
			t.Parallel()
			record := filepath.Join(t.TempDir(), "heard")
			c := newWorkspace(t, everything(t).withInputRecord(record)).serve().connect(d, nil)
			c.cancelCall(long, endless)
			if got := c.call("every__echo", object{"message": "after"}); got != "Echo: after" {
				t.Errorf("echo: %s", got)
			}
			checkCancelled(t, record)
		})
	}
}

// cancelCall cancels a call as soon as the server reports progress of it.
func (s *session) cancelCall(tool string, arguments object) {
	s.t.Helper()
	ctx, cancel := context.WithCancel(s.ctx)
	defer cancel()
	p := &mcp.CallToolParams{Name: tool, Arguments: arguments}
	p.SetProgressToken("until " + tool)
	ended := make(chan error, 1)
	go func() { _, err := s.CallTool(ctx, p); ended <- err }()
	for isStartReport(next(s.t, "progress of "+tool, s.progress).Message) {
	}
	cancel()
	if err := next(s.t, "the end of a call that was withdrawn", ended); !errors.Is(err, context.Canceled) {
		s.t.Errorf("%s: %v", tool, err)
	}
}

// TestLoggingOfEverything checks that periodic log messages reach a client from
// when it enables them until it disables them.
func TestLoggingOfEverything(t *testing.T) {
	for way, of := range everythings {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			checkLogging(t, newWorkspace(t, of(t)).serve().connect(oldDialect, nil))
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
	for begun := time.Now(); ; { // messages in flight may arrive after the answer
		select {
		case m := <-c.logs:
			if time.Since(begun) > testTimeout/2 {
				t.Fatalf("log messages do not stop: %s", encode(t, m))
			}
		case <-time.After(time.Second): // twice the interval of the messages
			return
		}
	}
}
