package event

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/junctor-mcp/junctor/testdata/bubble"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestEventsAreBounded adds events that are many and large.
func TestEventsAreBounded(t *testing.T) {
	s := NewStream(nil)
	s.Add(Event{Type: ToolsChanged, Server: "a", Added: make([]string, 10*maxNames),
		Error: strings.Repeat("x", 10*maxError)})
	item, ok := s.Read().Next()
	if e := item.Value; !ok || len(e.Added) != maxNames || len(e.Error) != maxError ||
		time.Since(e.Time) > time.Minute || item.Number != 1 {
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

// TestSessionsDoNotPushOutOtherEvents opens and closes sessions as fast as a client can.
func TestSessionsDoNotPushOutOtherEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewStream(nil)
		s.Add(Event{Type: ServerFailed, Server: "a"})
		const flood = 5 * maxEvents
		for range flood {
			s.Add(Event{Type: SessionOpened})
			s.Add(Event{Type: SessionClosed})
		}
		s.Add(Event{Type: ServerReady, Server: "a"})
		bubble.Sleep(time.Second)
		s.Add(Event{Type: SessionOpened, Client: "later"})
		var all []Event
		for r := s.Read(); ; {
			item, ok := r.Next()
			if !ok {
				break
			}
			all = append(all, item.Value)
		}
		if len(all) != sessionsAtOnce+3 || all[0].Type != ServerFailed || all[sessionsAtOnce+1].Type != ServerReady {
			t.Fatalf("%d events, the first is %+v", len(all), all[0])
		}
		if last := all[len(all)-1]; last.Client != "later" || last.Omitted != 2*flood-sessionsAtOnce {
			t.Errorf("%+v", last)
		}
	})
}

// TestNilStreamKeepsNothing: a command that exits after one answer has no stream.
func TestNilStreamKeepsNothing(*testing.T) {
	var s *Stream
	s.Add(Event{Type: ServerReady})
}

// TestAbsentMembersAreLeftOut encodes the shortest event.
func TestAbsentMembersAreLeftOut(t *testing.T) {
	text, err := json.Marshal(Event{Type: ServerReady, Server: "a"})
	if want := `{"seq":0,"time":"0001-01-01T00:00:00Z","type":"server.ready","server":"a"}`; err != nil ||
		string(text) != want {
		t.Errorf("%s, %v", text, err)
	}
}

// TestEventsHaveNoSecret: clients and servers choose names.
func TestEventsHaveNoSecret(t *testing.T) {
	s := NewStream(func(text string) string { return strings.ReplaceAll(text, "s3cret", "***") })
	var seen Event
	s.Watch(func(e Event) { seen = e })
	names := []string{"show_s3cret"}
	s.Add(Event{Type: ToolsChanged, Client: "s3cret 1", Item: "a_s3cret", Error: "no s3cret", Added: names,
		Changed: names, Removed: names})
	item, _ := s.Read().Next()
	for _, e := range []Event{seen, item.Value} {
		text, err := json.Marshal(e)
		if err != nil || strings.Contains(string(text), "s3cret") || strings.Count(string(text), "***") != 6 {
			t.Errorf("%v: %s", err, text)
		}
	}
	if names[0] != "show_s3cret" {
		t.Error("the list of the caller has changed")
	}
}
