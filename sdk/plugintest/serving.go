package plugintest

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/junctor-mcp/junctor/sdk/wire"
)

// roundTrip sends a message and waits for the echo or the response.
func (c *Transport) roundTrip(t testing.TB, s *wire.Stream) {
	t.Helper()
	if c.Serves {
		served(t, s, ping(1, 100))
		return
	}
	exchange(t, s, message(100))
}

// answers reports whether a message is the echo of, or the response to,
// another.
func (c *Transport) answers(got, sent string) bool {
	if !c.Serves {
		return got == sent
	}
	id, ok := answered(got)
	return ok && id == idOf(sent)
}

// ping returns a ping request of n bytes, or of the minimum size.
func ping(id, n int) string {
	empty := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"ping","params":{"pad":""}}`, id)
	return strings.Replace(empty, `""`, `"`+strings.Repeat("x", max(0, n-len(empty)))+`"`, 1)
}

// served sends requests and waits until each has one response, in any order.
func served(t testing.TB, s *wire.Stream, requests ...string) {
	t.Helper()
	var sending sync.WaitGroup
	sending.Go(func() {
		for _, r := range requests {
			if s.WriteMessage([]byte(r)) != nil {
				return // the responses will be missing
			}
		}
		_ = s.Flush()
	})
	problem := within(t, "a response", func() error {
		waiting := map[string]bool{}
		for _, r := range requests {
			waiting[idOf(r)] = true
		}
		for len(waiting) > 0 {
			msg, ev, err := s.Read()
			switch {
			case err != nil:
				return fmt.Errorf("%d requests without a response: %w", len(waiting), err)
			case ev != nil && ev.Status != nil:
				return fmt.Errorf("%d requests without a response: the connection ended: %s",
					len(waiting), ev.Status.Message)
			case ev != nil:
				return fmt.Errorf("event %q in the place of a response: %s", ev.Name, ev.Reason)
			}
			id, ok := answered(string(msg))
			if !ok || !waiting[id] {
				return fmt.Errorf("%.200q is not a response to a request, or a second response", msg)
			}
			delete(waiting, id)
		}
		return nil
	})
	if problem != nil {
		t.Fatal(problem)
	}
	within(t, "sending", func() any { sending.Wait(); return nil })
}

// answered returns the id of a successful response.
func answered(msg string) (id string, ok bool) {
	var m struct {
		ID     json.RawMessage
		Result json.RawMessage
	}
	err := json.Unmarshal([]byte(msg), &m)
	return string(m.ID), err == nil && len(m.Result) > 0
}

func idOf(request string) string {
	var m struct{ ID json.RawMessage }
	_ = json.Unmarshal([]byte(request), &m) // made by ping, so always valid
	return string(m.ID)
}
