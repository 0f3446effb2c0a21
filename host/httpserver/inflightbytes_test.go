package httpserver

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// TestRequestsInFlightHoldTheirMemory: a large request is refused while others in
// flight hold the memory for messages, and a small one is not.
func TestRequestsInFlightHoldTheirMemory(t *testing.T) {
	t.Parallel()
	a := newPerformer("a", "2025-11-25")
	h := openFixture(t, func(*Options) {}, a)
	h.leave(1_000_000)
	says := h.visit(t).greet()
	large := fmt.Sprintf(`{"x":%q}`, strings.Repeat("x", 600_000))
	done := make(chan int, 1)
	go func() {
		status, _, _, _ := says.post(legacyCall(1, "a__wait", large))
		done <- status
	}()
	call := a.next(t)
	status, text, header, _ := says.post(legacyCall(2, "a__wait", large))
	refusedFor(t, status, http.StatusServiceUnavailable, header, text, "overloaded")
	says.must(legacyCall(3, "a__echo", `{}`))
	call.answer(`{"content":[]}`)
	if status := <-done; status != http.StatusOK {
		t.Errorf("status %d", status)
	}
	if held := h.budget.Used(); held != hallMemory-1_000_000 {
		t.Errorf("%d bytes are held", held)
	}
}
