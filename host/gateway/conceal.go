package gateway

import (
	"crypto/rand"
	"encoding/hex"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/mcp"
)

// Faults of this machine name paths, addresses and the output of programs. The
// person who runs Junctor gets all of it. A client over HTTP gets the code, the
// server's name and an id under which the log has the rest.

// ownWords holds the codes of faults about the client's own request, and of those
// that repeat the server's answer. Clients get their text unchanged.
var ownWords = map[fault.Code]bool{
	fault.CallTimeout: true, fault.CallCanceled: true, fault.CallInput: true, fault.CallArguments: true, fault.NameUnknown: true, fault.Denied: true,
	fault.UpstreamOverloaded: true, fault.UpstreamStopped: true, fault.UpstreamUnsupported: true, fault.UpstreamError: true,
	fault.UpstreamBadMessage: true, fault.UpstreamTooLarge: true,
}

// local reports whether a principal is the user who runs Junctor.
func local(p authn.Principal) bool { return p.Method == authn.Local().Method }

// concealed returns a fault as a client over HTTP gets it, and the id under which
// the log has all of it; empty when nothing is left out, or the log has it anyway.
func (g *Gateway) concealed(err error, method string) (_ error, id string) {
	f := fault.As(err)
	if ownWords[f.Code] {
		return err, ""
	}
	told := &fault.Error{Code: f.Code, Server: f.Server, RetryAfter: f.RetryAfter, Message: meaning(f.Code)}
	if f.Code == fault.UpstreamLogin {
		told.Hint = f.Hint // the command to run
		return told, ""
	}
	id, first := g.failures.id(f)
	if first {
		g.opts.Log.Warn("a request failed", "id", id, "server", f.Server, "method", clip(method), "code", string(f.Code), "error", err,
			"hint", f.Hint, "at", f.At, "said", f.Output[max(0, len(f.Output)-lastWords):])
	}
	told.Message += "; the log of junctor says why, under " + id
	return told, id
}

// meaning is the first sentence of what a code means, without its full stop.
func meaning(code fault.Code) string {
	text, _, _ := strings.Cut(fault.Codes[code].Meaning, ". ")
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToLower(first)) + strings.TrimSuffix(text[size:], ".")
}

const (
	failuresKept = 1000
	failureTime  = time.Minute // for which the same failure has the same id, and one line in the log
)

// failures remembers the ids of failures, so that a client that tries again and
// again does not fill the log.
type failures struct {
	mu     sync.Mutex
	recent map[string]reported // guarded by mu; by server, code and text
}

type reported struct {
	id   string
	when time.Time
}

// id returns the id of a failure, and whether it is new.
func (f *failures) id(err *fault.Error) (id string, first bool) {
	key := err.Server + "\x00" + string(err.Code) + "\x00" + err.Message
	f.mu.Lock()
	defer f.mu.Unlock()
	if known, ok := f.recent[key]; ok && time.Since(known.when) < failureTime {
		return known.id, false
	}
	if f.recent == nil || len(f.recent) >= failuresKept {
		f.recent = map[string]reported{}
	}
	b := make([]byte, 4)
	_, _ = rand.Read(b) // never fails
	id = hex.EncodeToString(b)
	f.recent[key] = reported{id, time.Now()}
	return id, true
}

// fault returns an error of the host as this client gets it. An item that is not
// allowed looks as if it did not exist.
func (r *request) fault(err error) *rpcError {
	if fault.Is(err, fault.Denied) {
		err = fault.New(fault.NameUnknown, "unknown name")
	}
	if local(r.principal) {
		return faultError(err, r.modern)
	}
	told, id := r.gw.concealed(err, r.method)
	e := faultError(told, r.modern)
	if id != "" {
		e.raw = mcp.SetPath(e.raw, []string{"data", "id"}, mcp.AppendText(nil, id))
	}
	return e
}
