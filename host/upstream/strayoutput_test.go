package upstream

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/testdata/bubble"
)

// strayLink is a link whose server has sent texts that are no messages.
type strayLink struct {
	Link
	count uint64
}

func (l *strayLink) Output(context.Context) ([]string, uint64) { return nil, l.count }

// TestTimeoutsNameNewStrayTexts lets calls time out one after the other. Each names only texts
// that no earlier error named, in the words of the transport.
func TestTimeoutsNameNewStrayTexts(t *testing.T) {
	for program, want := range map[bool][]string{
		true: {"since the start of the server 1 line on its standard output was not a message",
			"", "since the timeout before 2 lines on its standard output were not messages"},
		false: {"since the connection was made 1 answer of the server was not a message",
			"", "since the timeout before 2 answers of the server were not messages"},
	} {
		synctest.Test(t, func(t *testing.T) {
			link := &strayLink{}
			c := &conn{up: &Upstream{opts: Options{Program: program}}, link: link}
			for i, count := range []uint64{1, 1, 3} {
				link.count = count
				f := c.withStrayOutput(&fault.Error{Message: "late"}, time.Now())
				if text := strings.TrimPrefix(strings.TrimPrefix(f.Message, "late"), "; "); text != want[i] {
					t.Errorf("program %t, timeout %d: %q, want %q", program, i, text, want[i])
				}
				if !program && strings.Contains(f.Hint, "command") {
					t.Errorf("the hint for a remote server is %q", f.Hint)
				}
				bubble.Sleep(time.Millisecond)
			}
		})
	}
}

// TestConcurrentTimeoutsNameTheSameTexts does so for calls that ran at the same time.
func TestConcurrentTimeoutsNameTheSameTexts(t *testing.T) {
	var s strayCount
	begun := time.Now()
	for i := range 3 {
		if n, fresh := s.since(1, begun, begun.Add(time.Duration(i+1)*time.Second)); n != 1 || !fresh {
			t.Errorf("call %d: %d texts, fresh %t", i, n, fresh)
		}
	}
	if n, _ := s.since(1, begun.Add(time.Minute), begun.Add(2*time.Minute)); n != 0 {
		t.Errorf("a later call: %d texts", n)
	}
}

// A datedLink is a strayLink that knows when its last text arrived.
type datedLink struct {
	strayLink
	last time.Time
}

func (l *datedLink) LastStray() time.Time { return l.last }

// TestOldStrayTextsExplainNoTimeout: a text explains a timeout for a minute only.
func TestOldStrayTextsExplainNoTimeout(t *testing.T) {
	begun := time.Now()
	for before, named := range map[time.Duration]bool{0: true, 59 * time.Second: true, 61 * time.Second: false,
		-time.Second: true} {
		link := &datedLink{strayLink{count: 1}, begun.Add(-before)}
		c := &conn{up: &Upstream{opts: Options{Program: true}}, link: link}
		f := c.withStrayOutput(&fault.Error{Message: "late"}, begun)
		if got := strings.Contains(f.Message, "was not a message"); got != named {
			t.Errorf("%s before the request: %q", before, f.Message)
		}
	}
}
