package event

import (
	"strings"
	"testing"
)

// TestCallsAreKeptWhileFollowed adds calls before, while and after they are followed. A slow
// reader misses some, and other events stay.
func TestCallsAreKeptWhileFollowed(t *testing.T) {
	s := NewStream(func(text string) string { return strings.ReplaceAll(text, "s3cret", "***") })
	s.Add(Event{Type: ServerReady, Server: "a"})
	s.AddCall(Event{Type: CallBegun, Item: "before"})
	r, stop := s.FollowCalls()
	if item, ok := r.Next(); ok || !s.CallsFollowed() {
		t.Errorf("%+v", item)
	}
	s.AddCall(Event{Type: CallBegun, Item: "a_s3cret", Client: "s3cret"})
	if item, ok := r.Next(); !ok || item.Number != 1 || item.Value.Item != "a_***" || item.Value.Client != "***" ||
		item.Value.Time.IsZero() {
		t.Errorf("%+v", item)
	}
	for range 3 * maxEvents {
		s.AddCall(Event{Type: CallEnded})
	}
	if item, ok := r.Next(); !ok || item.Missed != 2*maxEvents {
		t.Errorf("%+v", item)
	}
	_, stopOther := s.FollowCalls()
	stop()
	stop()
	if !s.CallsFollowed() {
		t.Error("the end of one reader ends the other")
	}
	stopOther()
	s.AddCall(Event{Type: CallEnded})
	if s.CallsFollowed() {
		t.Error("calls are kept for nobody")
	}
	again, stop := s.FollowCalls()
	defer stop()
	if item, ok := again.Next(); ok {
		t.Errorf("a new reader gets %+v", item)
	}
	all := s.Read()
	if item, ok := all.Next(); !ok || item.Value.Type != ServerReady {
		t.Errorf("%+v", item)
	}
	if item, ok := all.Next(); ok {
		t.Errorf("%+v", item)
	}
	var none *Stream
	none.AddCall(Event{})
	if none.CallsFollowed() {
		t.Error("a nil stream is followed")
	}
}
