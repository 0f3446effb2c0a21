package gateway

import (
	"context"
	"strconv"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/sendqueue"
)

// A Stream takes messages to a client; an [outbox.Outbox] is one. Its methods
// may be called concurrently.
type Stream interface {
	// Send waits for room as long as ctx allows.
	Send(ctx context.Context, m sendqueue.Message) error
	// TrySend never waits; the message may be lost.
	TrySend(m sendqueue.Message) bool
	// Push never waits. It is for what is bounded by other means, such as one
	// answer for each request in flight.
	Push(m sendqueue.Message) error
	// Room waits until the client has read enough to be sent more.
	Room(ctx context.Context) error
}

// A Client is how somebody is connected.
type Client struct {
	Principal authn.Principal
	// Out takes what belongs to none of the client's requests.
	Out Stream
	// Sole says that there is no other client: it is meant by whatever servers
	// ask, also on a connection that is shared.
	Sole bool
	// Changed, when not nil, is told what State returns after that changed, one
	// at a time and in order. It may wait for a disk.
	Changed func(state []byte)
}

// An Exchange is how one request came in and where its answer goes, together
// with what is sent in the course of it.
type Exchange struct {
	Out Stream
	// Header holds the headers of a modern request over HTTP, which repeat some
	// of its arguments; nil where there are none.
	Header map[string][]string
}

// An Answer is what a client is sent in the end. Of a request that nobody waits
// for any longer it is empty.
type Answer struct {
	Message sendqueue.Message
	Code    int // of the JSON-RPC error; 0 for a result
	// Refused says that the request was not looked at any further: it was not
	// one that can be answered.
	Refused bool
}

// Empty reports whether nothing is to be sent.
func (a *Answer) Empty() bool { return a.Message.Head == nil }

// resultAnswer is the answer to a request that was done. lead are members, each with
// its comma, to put before those of the value.
func resultAnswer(id mcp.ID, lead, value []byte) Answer {
	head, tail := mcp.Answer(id)
	if len(lead) > 0 {
		if mcp.Empty(value) {
			lead = lead[:len(lead)-1]
		}
		head, value = append(append(head, '{'), lead...), value[1:]
	}
	return Answer{Message: sendqueue.Message{Head: head, Body: value, Tail: tail}}
}

// errorAnswer is the answer to a request that was not.
func errorAnswer(id mcp.ID, err *rpcError) Answer {
	object := err.object()
	code, _ := strconv.Atoi(string(mcp.Member(object, "code")))
	return Answer{Message: sendqueue.Text(mcp.AppendError(nil, id, object)), Code: code, Refused: err.refused}
}
