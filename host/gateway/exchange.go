package gateway

import (
	"context"
	"strconv"
	"time"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/era"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/sendqueue"
	"github.com/junctor-mcp/junctor/host/tracing"
)

// A Stream sends messages to a client, as a [sendqueue.Queue] does. Its methods may be
// called concurrently. Package httpserver implements it with the event logs and streams of
// HTTP, stdioserver with a queue; they own and end it.
type Stream interface {
	// Send waits for space in the queue until ctx ends.
	Send(ctx context.Context, m sendqueue.Message) error
	// TrySend does not wait. It drops the message and returns false without space.
	TrySend(m sendqueue.Message) bool
	// Push does not wait and needs no space. The caller bounds the messages, for
	// example to one answer for each request in flight.
	Push(m sendqueue.Message) error
	// WaitForSpace waits until the queue has space.
	WaitForSpace(ctx context.Context) error
}

// A Client is a program that connects to the gateway. The transport fills it before Open or
// Resume and does not change it later.
type Client struct {
	Principal authn.Principal
	Address   string // of the client, if its requests do not have it; see Exchange
	// Out takes messages that belong to no request of the client.
	Out Stream
	// Session is a digest of the session's id, for the audit log; empty: a random name.
	Session string
	// Sole is true if there is no other client. Requests of servers on a shared
	// connection then go to this client.
	Sole bool
	// Changed, when not nil, is called with the new result of State after each
	// change, one call at a time and in order. It may wait for a disk.
	Changed func(state []byte)
}

// An Exchange holds the headers of one request, and takes its answer and the messages that belong to it. The
// transport fills one for each request. The gateway only reads it.
type Exchange struct {
	// Out takes the messages; nil: the stream of the session does.
	Out Stream
	// Era is the era of the request. [era.Both] leaves it to [era.Of].
	Era era.Era
	// Header holds the headers of a modern request over HTTP, which repeat some
	// of its arguments; nil where there are none.
	Header map[string][]string
	// Principal is that of this request's credential: the session's, with the roles of the
	// moment. Requests of one session may have different ones at a time. Nil: the session's. A
	// request without a session must have one.
	Principal *authn.Principal
	// Address is the address of the client without a port, "local" over a unix socket, or
	// "unknown". It is empty for a client on standard input.
	Address string
	// RequestID is the id of the HTTP request; empty without one. Named is set if the
	// client chose it. Trace is the trace context in the headers.
	RequestID string
	Named     bool
	Trace     tracing.Context
}

// An Answer is the response to one request. It is empty if the client has cancelled the
// request. The receiver owns the message, and with it the memory in Message.Hold.
type Answer struct {
	Message sendqueue.Message
	Code    int // of the JSON-RPC error; 0 for a result
	// RetryAfter is the retry_after_ms of the error; 0 without one.
	RetryAfter time.Duration
	// Refused says that the request was not valid and reached no stage.
	Refused bool
	// Cancelled says that the client cancelled the request. It then expects no answer,
	// except as the end of an exchange such as a POST.
	Cancelled bool
}

// Empty reports whether there is nothing to send.
func (a *Answer) Empty() bool { return a.Message.Head == nil }

// resultAnswer returns the answer with a result. lead holds members, each with its
// comma, that precede those of the value.
func resultAnswer(id mcp.ID, lead, value []byte) *Answer {
	head, tail := mcp.ResultEnvelope(id)
	if len(lead) > 0 {
		if mcp.Empty(value) {
			lead = lead[:len(lead)-1]
		}
		head, value = append(append(head, '{'), lead...), value[1:]
	}
	return &Answer{Message: sendqueue.Message{Head: head, Body: value, Tail: tail}}
}

// errorAnswer returns the answer with an error.
func errorAnswer(id mcp.ID, err *rpcError) *Answer {
	object := err.object()
	code, _ := strconv.Atoi(string(mcp.Member(object, "code")))
	return &Answer{
		Message:    sendqueue.Text(mcp.AppendError(nil, id, object)),
		Code:       code,
		RetryAfter: err.retryAfter(),
		Refused:    err.refused,
	}
}
