package httpserver

import (
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/httpserver/http1"
	"github.com/junctor-mcp/junctor/host/httpserver/httpconn"
	"github.com/junctor-mcp/junctor/host/limit"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/outcome"
)

// The body of a request is read before the request counts as in flight. A slow
// client therefore does not keep others from being answered. The number of
// bodies is limited by the connections and requests of an address, their time
// by timeouts, and their bytes by the memory for messages.

// initialBody is the memory in bytes that is reserved for a body before it
// arrives.
const initialBody = limit.Small

// A requestBody is the body of a request and the memory that it holds. The goroutine of the
// request owns it. What readBody returned must be released once.
type requestBody struct {
	pacedBody
	text   []byte
	budget *limit.Memory
	first  int         // reserved bytes
	more   *limit.Hold // the rest; nil for a small body
}

// release returns the memory.
func (b *requestBody) release() {
	b.budget.Count(-b.first)
	b.first = 0
	b.more.Release()
}

// grow reserves memory for n more bytes.
func (b *requestBody) grow(p authn.Principal, n int) error {
	if b.more == nil {
		var err error
		b.more, err = b.budget.HoldFor(p.Owner(), n)
		return memoryError(err)
	}
	return memoryError(b.more.Grow(n))
}

// memoryError converts an error of the memory for messages to the one to send.
func memoryError(err error) error {
	switch err {
	case nil:
		return nil
	case limit.ErrMemoryShare:
		return &bodyMemoryError{errMemoryShare}
	}
	return &bodyMemoryError{errMemory}
}

// readBody reads the body of a request. If that fails it answers the request
// and reports false. Otherwise the caller releases the body.
func (srv *Server) readBody(w http.ResponseWriter, r *http.Request, p authn.Principal,
	settings *active) (*requestBody, bool) {
	if !isJSON(r.Header) {
		writeError(w, r, http.StatusUnsupportedMediaType, errType)
		return nil, false
	}
	b, err := srv.readLimited(w, r, p, settings)
	if err == nil {
		return b, true
	}
	b.release()
	w.Header().Set("Connection", "close")
	if why, ok := errors.AsType[*bodyMemoryError](err); ok {
		srv.admission.refuse(p.Tenant, outcome.Overloaded, why.reason)
		writeRetryable(w, r, why.retryStatus(), time.Second, why.httpError)
	} else if _, long := errors.AsType[*http.MaxBytesError](err); long {
		writeError(w, r, http.StatusRequestEntityTooLarge, errTooLarge)
	} else if errors.Is(err, http1.ErrMalformed) || isFraming(err) {
		writeError(w, r, http.StatusBadRequest, errMalformed)
	} else {
		writeError(w, r, http.StatusRequestTimeout, errSlow)
	}
	return nil, false
}

// isFraming reports whether reading a body failed because of the bytes that
// arrived, and not because none did.
func isFraming(err error) bool {
	late, ok := errors.AsType[net.Error](err)
	return !(ok && late.Timeout()) && err != io.ErrUnexpectedEOF
}

// A bodyMemoryError means that the memory for messages has no space for a body.
type bodyMemoryError struct{ *httpError }

func (e *bodyMemoryError) Error() string { return e.message }

// readLimited reads a body within its limits for size, time and memory. The
// caller releases the body, also after an error.
func (srv *Server) readLimited(w http.ResponseWriter, r *http.Request, p authn.Principal,
	settings *active) (b *requestBody, err error) {
	b = &requestBody{budget: srv.memory}
	if r.ContentLength > int64(settings.MaxBody) {
		return b, &http.MaxBytesError{Limit: int64(settings.MaxBody)}
	}
	first := initialBody
	if r.ContentLength >= 0 {
		first = min(first, int(r.ContentLength))
	}
	if !srv.memory.Reserve(first) {
		return b, &bodyMemoryError{errMemory}
	}
	b.first = first
	srv.reading.Add(1)
	defer srv.reading.Add(-1)
	b.pacedBody = settings.paced(w, r)
	in := io.ReadCloser(&b.pacedBody)
	if r.ContentLength < 0 { // net/http itself ends a body of known size
		in = http.MaxBytesReader(w, in, int64(settings.MaxBody))
	}
	b.text, err = readAll(in, int(r.ContentLength), settings.MaxBody, func(n int) error { return b.grow(p, n) })
	if err == nil { // else the limit holds for the rest of the body; see limitTimes
		httpconn.UnlimitBody(w, r)
	}
	return b, err
}

const (
	// bodyGrace is the time that every body has, at most timeouts.body.
	bodyGrace = 10 * time.Second
	// bodyRate is the least average rate afterwards, in bytes a second.
	bodyRate = 1 << 10
)

// paced returns the body of a request with a deadline that moves while enough
// of the body arrives. A client that sends a byte now and then has less time
// than one that sends much.
func (a *active) paced(w http.ResponseWriter, r *http.Request) pacedBody {
	return pacedBody{ReadCloser: r.Body, active: a, w: w, r: r, begun: time.Now()}
}

type pacedBody struct {
	io.ReadCloser
	active   *active
	w        http.ResponseWriter
	r        *http.Request
	begun    time.Time
	received int
}

func (b *pacedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if n > 0 && err == nil {
		b.received += n
		earned := b.active.grace() + time.Duration(b.received)*time.Second/bodyRate
		httpconn.LimitBody(b.w, b.r, b.begun.Add(min(earned, b.active.Body)))
	}
	return n, err
}

// readAll reads a body of size bytes, or of unknown size up to most bytes if
// size is negative. A client may announce more than it sends, so memory is
// taken as the body arrives. readAll calls more before it takes memory above
// initialBody.
func readAll(in io.Reader, size, most int, more func(n int) error) ([]byte, error) {
	limit := size
	if size < 0 {
		limit = most + 1 // one more, so that the reader reports a body that is too large
	}
	text := make([]byte, min(limit, initialBody))
	for had := 0; ; {
		n, err := in.Read(text[had:])
		had += n
		switch {
		case had == size, err == io.EOF && size < 0:
			return text[:had], nil
		case err == io.EOF:
			return nil, io.ErrUnexpectedEOF
		case err != nil:
			return nil, err
		case had < len(text):
			continue
		}
		larger := min(limit, 4*len(text))
		if err := more(larger - len(text)); err != nil {
			return nil, err
		}
		text = append(make([]byte, 0, larger), text...)[:larger]
	}
}

// parseMessage parses the message of a body. If that fails it answers the
// request and reports false.
func parseMessage(w http.ResponseWriter, text []byte) (*mcp.Message, bool) {
	m, err := mcp.Parse(text)
	if err != nil {
		pe := &mcp.ParseError{Code: mcp.CodeParse, Reason: err.Error()}
		_ = errors.As(err, &pe)
		writeBody(w, http.StatusBadRequest, mcp.AppendError(nil, pe.ID, mcp.ErrorObject(pe.Code, pe.Error(), nil)))
		return nil, false
	}
	return m, true
}

// isJSON reports whether the headers declare JSON in UTF-8 without a content
// encoding.
func isJSON(h http.Header) bool {
	kinds := h["Content-Type"]
	if len(kinds) != 1 || h.Get("Content-Encoding") != "" {
		return false
	}
	if kinds[0] == "application/json" {
		return true
	}
	kind, params, err := mime.ParseMediaType(kinds[0])
	charset := params["charset"]
	return err == nil && kind == "application/json" && (charset == "" || strings.EqualFold(charset, "utf-8"))
}
