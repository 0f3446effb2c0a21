package event

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestEventsAreBounded adds events that are many and large.
func TestEventsAreBounded(t *testing.T) {
	s := NewStream()
	s.Add(Event{Type: ToolsChanged, Server: "a", Added: make([]string, 10*maxNames), Error: strings.Repeat("x", 10*maxError)})
	item, ok := s.Read().Next()
	if e := item.Value; !ok || len(e.Added) != maxNames || len(e.Error) != maxError || time.Since(e.Time) > time.Minute || item.Number != 1 {
		t.Errorf("%+v", item)
	}
	for range 3 * maxEvents {
		s.Add(Event{Type: ServerReady})
	}
	r, n := s.Read(), 0
	for _, ok := r.Next(); ok; _, ok = r.Next() {
		n++
	}
	if n != maxEvents {
		t.Errorf("%d events", n)
	}
}

// TestNilStreamKeepsNothing: a command that exits after one answer has no stream.
func TestNilStreamKeepsNothing(*testing.T) {
	var s *Stream
	s.Add(Event{Type: ServerReady})
}

// TestAbsentMembersAreLeftOut encodes the shortest event.
func TestAbsentMembersAreLeftOut(t *testing.T) {
	text, err := json.Marshal(Event{Type: ServerReady, Server: "a"})
	if want := `{"seq":0,"time":"0001-01-01T00:00:00Z","type":"server.ready","server":"a"}`; err != nil || string(text) != want {
		t.Errorf("%s, %v", text, err)
	}
}
