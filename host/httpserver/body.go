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
	"github.com/junctor-mcp/junctor/host/limit"
	"github.com/junctor-mcp/junctor/host/mcp"
)

// The body of a request is read before the request takes a place: a slow client
// keeps no other client from being answered. Connections and requests of an
// address limit the number of bodies under way, timeouts their time, and the
// memory for messages their bytes.

// readFirst is the memory that a body takes before any of it came.
const readFirst = limit.Small

// A bodyText is the body of a request and the memory that it takes.
type bodyText struct {
	text   []byte
	budget *limit.Memory
	first  int         // bytes that are reserved for every body
	more   *limit.Hold // the rest; nil for a small body
}

// release gives the memory back, once the request was answered.
func (b *bodyText) release() {
	b.budget.Count(-b.first)
	b.first = 0
	b.more.Release()
}

// grow takes memory for n more bytes.
func (b *bodyText) grow(p authn.Principal, n int) error {
	if b.more == nil {
		held, err := b.budget.Hold(n)
		if err == nil {
			b.more = held
			err = held.Assign(p.Key())
		}
		return besiegedClients(err)
	}
	return besiegedClients(b.more.Grow(n))
}

// besiegedClients is the refusal for a body that the memory has no room for.
func besiegedClients(err error) error {
	switch err {
	case nil:
		return nil
	case limit.ErrShare:
		return &connLimitError{errEnoughBytes}
	}
	return &connLimitError{errCrowded}
}

// text reads the body of a request, or answers the request. The caller releases
// the body.
func (f *Server) text(w http.ResponseWriter, r *http.Request, p authn.Principal) (*bodyText, bool) {
	if !isJSON(r.Header) {
		refuse(w, r, http.StatusUnsupportedMediaType, errType)
		return nil, false
	}
	b, err := f.read(w, r, p)
	if err == nil {
		return b, true
	}
	b.release()
	w.Header().Set("Connection", "close")
	if why, ok := errors.AsType[*connLimitError](err); ok {
		busy(w, r, why.busy(), time.Second, why.httpError)
	} else if _, long := errors.AsType[*http.MaxBytesError](err); long {
		refuse(w, r, http.StatusRequestEntityTooLarge, errTooLarge)
	} else if errors.Is(err, http1.ErrMalformed) || isFraming(err) {
		refuse(w, r, http.StatusBadRequest, errMalformed)
	} else {
		refuse(w, r, http.StatusRequestTimeout, errSlow)
	}
	return nil, false
}

// isFraming reports whether a body ended because of bytes that came, and not
// because none came.
func isFraming(err error) bool {
	late, ok := errors.AsType[net.Error](err)
	return !(ok && late.Timeout()) && err != io.ErrUnexpectedEOF
}

// A connLimitError says that there is no room for more of a body.
type connLimitError struct{ *httpError }

func (e *connLimitError) Error() string { return e.message }

// read reads the body, which has a size and a time that it may take. The caller
// releases the body, also after an error.
func (f *Server) read(w http.ResponseWriter, r *http.Request, p authn.Principal) (b *bodyText, err error) {
	b = &bodyText{budget: f.budget}
	if r.ContentLength > int64(f.o.MaxBody) {
		return b, &http.MaxBytesError{Limit: int64(f.o.MaxBody)}
	}
	first := readFirst
	if r.ContentLength >= 0 {
		first = min(first, int(r.ContentLength))
	}
	if !f.budget.Reserve(first) {
		return b, &connLimitError{errCrowded}
	}
	b.first = first
	f.reading.Add(1)
	defer f.reading.Add(-1)
	b.text, err = gather(http.MaxBytesReader(w, f.paced(w, r), int64(f.o.MaxBody)), int(r.ContentLength), f.o.MaxBody,
		func(n int) error { return b.grow(p, n) })
	if err == nil { // else the time holds for what is left of it: see ServeHTTP
		unlimitBody(w, r)
	}
	return b, err
}

const (
	// bodyGrace is the time that every body has, of timeouts.body.
	bodyGrace = 10 * time.Second
	// bodyRate is what must come on average afterwards, in bytes a second.
	bodyRate = 1 << 10
)

func (f *Server) grace() time.Duration { return min(bodyGrace, f.o.Body) }

// paced returns the body of a request whose time goes on while enough of it comes:
// a client that sends a byte now and then is not waited for as long as one that
// sends much.
func (f *Server) paced(w http.ResponseWriter, r *http.Request) io.ReadCloser {
	return &pacedBody{ReadCloser: r.Body, front: f, w: w, r: r, begun: time.Now()}
}

type pacedBody struct {
	io.ReadCloser
	front *Server
	w     http.ResponseWriter
	r     *http.Request
	begun time.Time
	came  int
}

func (b *pacedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if n > 0 && err == nil {
		b.came += n
		earned := b.front.grace() + time.Duration(b.came)*time.Second/bodyRate
		limitBody(b.w, b.r, b.begun.Add(min(earned, b.front.o.Body)))
	}
	return n, err
}

// gather reads a body of some size, or of one that nobody knows when it is
// negative, of no more than most bytes. It takes memory as the body comes, because
// a client may promise more than it sends, and asks before it takes more.
func gather(in io.Reader, size, most int, more func(n int) error) ([]byte, error) {
	limit := size
	if size < 0 {
		limit = most + 1 // that it is more is for the reader to say
	}
	text := make([]byte, min(limit, readFirst))
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

// parsed is the message of a body, or answers the request.
func parsed(w http.ResponseWriter, text []byte) (*mcp.Message, bool) {
	m, err := mcp.Parse(text)
	if err != nil {
		pe := &mcp.ParseError{Code: mcp.CodeParse, Reason: err.Error()}
		_ = errors.As(err, &pe)
		body(w, http.StatusBadRequest, mcp.AppendError(nil, pe.ID, mcp.ErrorObject(pe.Code, pe.Error(), nil)))
		return nil, false
	}
	return m, true
}

// isJSON reports whether the body says that it is JSON, in the only encoding
// that JSON has.
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
