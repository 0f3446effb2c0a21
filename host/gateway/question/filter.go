package question

import (
	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/mcp"
)

// A Filter settles the questions that no client gets. It is a value that does not change; the
// methods may be called concurrently. The only user is package gateway.
type Filter struct {
	Log   hclog.Logger
	Roots []byte // the result of roots/list for clients without roots; nil: none
}

// Settle answers a question of a server that no client with these capabilities gets: with the
// roots, or with an error. settled is false for a question that the client gets. The goroutine
// of the question calls it; it does not wait.
func (f Filter) Settle(server string, caps []byte, method string, params []byte) (result, rpcErr []byte, settled bool) {
	if f.GivesRoots(caps, method) {
		return f.Roots, nil, true
	}
	rpcErr = f.check(server, caps, method, params)
	return nil, rpcErr, rpcErr != nil
}

// Offer adds to the capabilities of a client that it has roots, when it has none itself and the
// Filter has some.
func (f Filter) Offer(caps []byte) []byte {
	if f.Roots == nil || mcp.Member(caps, "roots") != nil {
		return caps
	}
	return mcp.SetMember(caps, "roots", []byte("{}"))
}

// GivesRoots reports whether the Filter answers a question for roots in place of a client with
// these capabilities.
func (f Filter) GivesRoots(caps []byte, method string) bool {
	return method == mcp.MethodRoots && f.Roots != nil && mcp.Member(caps, "roots") == nil
}

// check says why a question of a server may not be put to a client of these
// capabilities; nil when it may.
func (f Filter) check(server string, caps []byte, method string, params []byte) (rpcErr []byte) {
	if rpcErr = Check(caps, method, params); rpcErr != nil || method != mcp.MethodElicit {
		return rpcErr
	}
	if err := checkElicitation(params); err != nil {
		_ = f.RefusePage(server, err)
		return mcp.ErrorObject(mcp.CodeInvalidParams, "url: "+err.Error(), map[string]string{"reason": "url_refused"})
	}
	return nil
}

// RefusePage writes to the log that a server asked to send a user to an address
// that is refused, and returns what the client of the request is told.
func (f Filter) RefusePage(server string, err error) error {
	f.Log.Warn("a server asked to send the user to an address that is refused", "server", server, "error", err)
	return fault.In(server, fault.New(
		fault.CallInput, "the server asked to send the user to an address that is refused: %s", err,
	).WithHint("tell the server's author: pages are https, without a user name, on a host in ASCII"))
}
