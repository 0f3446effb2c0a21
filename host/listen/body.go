package listen

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/junctor-mcp/junctor/host/identity"
	"github.com/junctor-mcp/junctor/host/mcp"
)

// The body of a request is read before the request takes a place: whoever sends
// slowly keeps nobody from being answered. How many bodies can be under way is
// bounded by the connections and requests of an address, each by the time that it
// may take, and what has come of them all together here.

const (
	// arrivingMost bounds what has come of bodies that are being read, in bytes,
	// but for the beginnings that there is always room for.
	arrivingMost = 256 << 20
	// readFirst is how much of a body there is room for before any of it came.
	readFirst = 16 << 10
)

// text reads the body of a request, or answers the request.
func (f *Front) text(w http.ResponseWriter, r *http.Request, p identity.Principal) ([]byte, bool) {
	if !isJSON(r.Header) {
		refuse(w, r, http.StatusUnsupportedMediaType, errType)
		return nil, false
	}
	text, err := f.read(w, r, p)
	if err == nil {
		return text, true
	}
	w.Header().Set("Connection", "close")
	if why, ok := errors.AsType[*crowdedError](err); ok {
		busy(w, r, why.busy(), time.Second, why.refusal)
	} else if _, long := errors.AsType[*http.MaxBytesError](err); long {
		refuse(w, r, http.StatusRequestEntityTooLarge, errTooLarge)
	} else {
		refuse(w, r, http.StatusRequestTimeout, errSlow)
	}
	return nil, false
}

// A crowdedError says that there is no room for more of a body.
type crowdedError struct{ *refusal }

func (e *crowdedError) Error() string { return e.message }

// read reads the body, which has a size and a time that it may take.
func (f *Front) read(w http.ResponseWriter, r *http.Request, p identity.Principal) ([]byte, error) {
	if r.ContentLength > int64(f.o.MaxBody) {
		return nil, &http.MaxBytesError{Limit: int64(f.o.MaxBody)}
	}
	f.reading.Add(1)
	defer f.reading.Add(-1)
	taken := int64(0)
	defer func() { f.arriving.leave(p, taken) }()
	text, err := gather(http.MaxBytesReader(w, r.Body, int64(f.o.MaxBody)), int(r.ContentLength), f.o.MaxBody, func(n int) error {
		if why := f.arriving.enter(p, int64(n)); why != nil {
			return &crowdedError{why}
		}
		taken += int64(n)
		return nil
	})
	if err == nil { // else the time holds for what is left of it: see ServeHTTP
		unlimitBody(w, r)
	}
	return text, err
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
