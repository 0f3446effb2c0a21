package gateway

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/truncate"
)

// Faults contain paths, addresses and the output of programs of this machine. The local user gets all of it. A
// client over HTTP gets the code, the server's name and an id. The log has the rest under this id.

// clientFaults holds the codes of faults about the client's own request, and of those that repeat the server's
// answer. Clients get their text unchanged. This file decides how much of an error a client sees: the local
// user everything, a client over HTTP the fault or an id of the line in the log.
var clientFaults = map[fault.Code]bool{
	fault.LimitRate: true, fault.LimitConcurrent: true,
	fault.CallTimeout: true, fault.CallCanceled: true, fault.CallInput: true, fault.CallArguments: true,
	fault.NameUnknown: true, fault.Denied: true,
	fault.Refused: true, fault.ApprovalRequired: true, fault.ApprovalDenied: true, fault.AuditUnavailable: true,
	fault.UpstreamDisconnected: true, fault.UpstreamOverloaded: true, fault.UpstreamStopped: true,
	fault.UpstreamUnsupported: true, fault.UpstreamError: true,
	fault.UpstreamBadMessage: true, fault.UpstreamTooLarge: true,
}

// local reports whether a principal is the user who runs Junctor.
func local(p authn.Principal) bool { return p.Method == authn.Local().Method }

// withoutDetails returns a fault for a client over HTTP, and the id of the complete fault in the log. The id is
// empty if nothing was removed or the log has the fault anyway. request is the id of the request.
func (f *failures) withoutDetails(err error, method, request string) (id string, _ error) {
	e := fault.As(err)
	if clientFaults[e.Code] {
		return "", err
	}
	told := &fault.Error{Code: e.Code, Server: e.Server, RetryAfter: e.RetryAfter, Message: explanation(e.Code)}
	if e.Code == fault.UpstreamLogin {
		told.Hint = e.Hint // the command to run
		return "", told
	}
	id, first := f.id(e)
	if first {
		f.log.Warn("a request failed", "id", id, "server", e.Server, "method", clip(method), "request", request,
			"code", string(e.Code), "error", err,
			"hint", e.Hint, "at", e.At, "said", e.Output[max(0, len(e.Output)-loggedOutputLines):])
	}
	if e.RetryAfter > 0 {
		told.Message = fmt.Sprintf("the request was not sent: %s; try again in %s",
			told.Message, max(time.Second, e.RetryAfter.Round(time.Second)))
	}
	told.Message += "; the log of junctor says why, under " + id
	return id, told
}

// The limits of the output that a message repeats.
const (
	saidLines = 5   // lines
	saidLine  = 200 // bytes of a line
)

// withLastWords adds to the message of a fault what the server or the plugin printed last.
// It is for the local user only: a program prints what others must not read.
func withLastWords(err error) error {
	f := *fault.As(err)
	var said []string
	for _, line := range f.Output[max(0, len(f.Output)-saidLines):] {
		if line = strings.TrimSpace(catalog.Visible(line)); line != "" {
			said = append(said, truncate.Bytes(line, saidLine))
		}
	}
	if len(said) == 0 {
		return err
	}
	f.Message += "; last output: " + strings.Join(said, " | ")
	return &f
}

// explanation returns the first sentence of the explanation of a code, without its period.
func explanation(code fault.Code) string {
	text, _, _ := strings.Cut(fault.Codes[code].Meaning, ". ")
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToLower(first)) + strings.TrimSuffix(text[size:], ".")
}

const (
	failuresKept = 1000
	failureTime  = time.Minute // for which the same failure has the same id, and one line in the log
)

// failures stores the ids of recent failures, so that a client that repeats a request
// does not fill the log. The Gateway has one. It may be used concurrently.
type failures struct {
	log hclog.Logger

	mu     sync.Mutex
	recent map[string]reported // guarded by mu; by server, code and text
}

type reported struct {
	id   string
	when time.Time
}

// id returns the id of a failure. first is true for a new one.
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

// clientError converts an error of the host for this client. A denied item looks as if it did not exist.
func clientError(r *pendingRequest, err error) *rpcError {
	if fault.Is(err, fault.Denied) {
		err = fault.New(fault.NameUnknown, "unknown name")
	}
	if local(r.principal) {
		f := *fault.As(withLastWords(err))
		f.Message, f.Hint = r.gw.opts.Hide(f.Message), r.gw.opts.Hide(f.Hint) // a server may repeat its key in an error
		e := faultError(&f, r.modern())
		if f.At != "" {
			e.raw = mcp.SetPath(e.raw, []string{"data", "at"}, mcp.AppendText(nil, f.At))
		}
		e.cause = err
		return e
	}
	id, told := r.gw.failures.withoutDetails(err, r.method, r.requestID)
	e := faultError(told, r.modern())
	if id != "" {
		e.raw = mcp.SetPath(e.raw, []string{"data", "id"}, mcp.AppendText(nil, id))
	}
	return e
}
