package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/junctor-mcp/junctor/plugins/internal/httpclient"
	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/sdk/ndjson"
)

const (
	maxRetries = 3
	retryFirst = time.Second      // delay before the first retry; doubled for each further one, plus up to 10 %
	retryLast  = 30 * time.Second // maximum delay
	retryAfter = 60 * time.Second // no retry if Retry-After is longer
)

// encoded returns the failure for a body that cannot be read: its encoding, or
// otherwise the given reason with the beginning of the body.
func encoded(res *http.Response, body []byte, otherwise string) *failure {
	if how := res.Header.Get("Content-Encoding"); how != "" {
		return bad(fmt.Sprintf("the server's answer has the encoding %.40q, which was not requested", how))
	}
	f := bad(otherwise)
	f.err.Output = httpclient.Excerpt(body)
	return f
}

// oneLine removes line breaks from a message made of valid JSON.
func oneLine(msg []byte) []byte {
	if line, err := ndjson.Message(msg); err == nil {
		return line
	}
	return msg
}

func tooLong(limit int) *failure {
	return &failure{sent: true, err: &sdk.Error{
		Code: sdk.Unavailable, Reason: "message_too_large",
		Message: fmt.Sprintf("the answer is longer than %d bytes", limit),
		Hint:    "raise max_message in the server's block, or ask for less",
	}}
}

func ended(err error) *failure {
	e := &sdk.Error{
		Code: sdk.Unavailable, Reason: "stream_ended", Message: "the server ended the answer before it was complete",
		Hint: "call again; if it recurs, a proxy before the server may cut long answers",
	}
	if err != io.EOF && err != io.ErrUnexpectedEOF {
		e.Message += ": " + err.Error()
	}
	return &failure{sent: true, unanswered: true, err: e}
}

// operatorHint is the hint for an answer that breaks the protocol.
const operatorHint = "check that url is the endpoint of an MCP server, and report this to the operator of the server"

func bad(text string) *failure {
	return &failure{sent: true,
		err: &sdk.Error{Code: sdk.Unavailable, Reason: "bad_message", Message: text, Hint: operatorHint}}
}

// A failure is the reason why a call got no response.
type failure struct {
	err    *sdk.Error
	sent   bool          // the server may have processed the request
	status int           // HTTP status; 0: no response
	after  time.Duration // Retry-After of the response
	ends   bool          // the session is lost

	unanswered bool // the response ended without an answer
	accepted   bool // so did a response with status 202: the answer comes on the GET stream
	brought    bool // the stream that ended had messages
}

// asError converts an error of httpclient to an *sdk.Error.
func asError(err error) *sdk.Error {
	if e, ok := errors.AsType[*sdk.Error](err); ok {
		return e
	}
	return sdk.Errorf(sdk.Unavailable, "%v", err)
}

// backoff returns the delay before attempt n+1.
func backoff(n int) time.Duration {
	d := min(retryFirst<<min(n, 10), retryLast)
	return d + rand.N(d/10)
}

func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
