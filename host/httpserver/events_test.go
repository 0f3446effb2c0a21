package httpserver

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/host/sendqueue"
)

// A largestWrite is a response that records the size of its largest write.
type largestWrite struct {
	httptest.ResponseRecorder
	size int
}

func (w *largestWrite) Write(p []byte) (int, error) {
	w.size = max(w.size, len(p))
	return w.ResponseRecorder.Write(p)
}

// TestLargeAnswerIsWrittenInChunks: each chunk of an answer has its own deadline, in
// whatever part of the message the bytes are.
func TestLargeAnswerIsWrittenInChunks(t *testing.T) {
	large := make([]byte, 4*chunk)
	for name, m := range map[string]sendqueue.Message{"head": {Head: large},
		"body": {Body: large}, "tail": {Tail: large}} {
		w := &largestWrite{ResponseRecorder: *httptest.NewRecorder()}
		new(Server).writeJSON(w, httptest.NewRequest(http.MethodPost, "/", nil), m, http.StatusOK, time.Second)
		if w.size > chunk || w.Body.Len() != len(large) {
			t.Errorf("%s: %d bytes arrived, with writes of up to %d bytes", name, w.Body.Len(), w.size)
		}
	}
}
