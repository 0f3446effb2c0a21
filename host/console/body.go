package console

import (
	"bytes"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"
)

// The limits of the bodies of requests.
const (
	maxForm      = 256 << 10 // bytes, with a session
	maxTokenForm = 64 << 10  // bytes, of a sign-in
	maxArriving  = 256       // bodies of sign-ins at a time
)

// receive reads the body of a request before the request takes one of the places of busy:
// a client that sends its body slowly keeps no other one out. A request that is refused
// whatever its body says keeps it unread. An error of reading becomes one of the new body. The
// goroutine of the request blocks in it until the body has arrived or its time is over.
func (s *Server) receive(w http.ResponseWriter, r *http.Request) {
	limit := int64(maxForm)
	key, _, _ := splitPath(r.URL.Path)
	switch {
	case r.Method != http.MethodPost || checkOrigin(s.active.Load(), r) != nil:
		r.Body = http.NoBody
		return
	case r.URL.Path == "/login":
		limit = maxTokenForm
		defer s.arriving.begin(http.NewResponseController(w))()
	case s.sessions.find(r, key) == nil:
		r.Body = http.NoBody
		return
	}
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	r.Body = &receivedBody{Reader: bytes.NewReader(text), err: err}
}

// A receivedBody is a body that was read, and the error of reading it. One request has it.
type receivedBody struct {
	*bytes.Reader
	err error
}

// Read returns err after the bytes.
func (b *receivedBody) Read(p []byte) (int, error) {
	if b.Len() == 0 && b.err != nil {
		return 0, b.err
	}
	return b.Reader.Read(p)
}

// WriteTo returns err after the bytes.
func (b *receivedBody) WriteTo(w io.Writer) (int64, error) {
	n, err := b.Reader.WriteTo(w)
	if err == nil {
		err = b.err
	}
	return n, err
}

// Close does nothing.
func (*receivedBody) Close() error { return nil }

// arriving holds the bodies of sign-ins that are being read, oldest first. Above
// maxArriving the oldest is not waited for any longer: others take no time. The Server has one.
// It may be used concurrently.
type arriving struct {
	mu  sync.Mutex
	all []*http.ResponseController // guarded by mu
}

// begin adds a body until end is called.
func (a *arriving) begin(c *http.ResponseController) (end func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.all) >= maxArriving {
		_ = a.all[0].SetReadDeadline(time.Now())
		a.all = slices.Delete(a.all, 0, 1)
	}
	a.all = append(a.all, c)
	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.all = slices.DeleteFunc(a.all, func(o *http.ResponseController) bool { return o == c })
	}
}
