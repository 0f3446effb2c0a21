package listen

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// TestHeld: what the requests in flight say, all together, is bounded; a single
// one of any size that is allowed is taken.
func TestHeld(t *testing.T) {
	t.Parallel()
	a := newPerformer("a", "2025-11-25")
	h := openHall(t, func(*Options) {}, a)
	h.heldMost = 1_000_000
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
	if held := h.held.Load(); held != 0 {
		t.Errorf("%d bytes are held", held)
	}
}
