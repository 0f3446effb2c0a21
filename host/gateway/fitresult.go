package gateway

import (
	"cmp"

	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/era"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/shape"
	"github.com/junctor-mcp/junctor/host/upstream"
)

// fitResult corrects the result of a server to what the revision of the client allows. It
// does not look at a result that the scan found to be plain, which is nearly every one. It
// changes the result of reply in place, on the goroutine of the call. relay.go uses it.
func fitResult(c *call, reply *upstream.Reply) error {
	if blocks := shape.Blocks(c.method); blocks != "" && reply.Names.Plain(blocks) {
		return nil
	}
	fitted, err := shape.Result(c.method, reply.Result, receiver(c.pendingRequest), c.item.Name)
	if err != nil {
		return fault.In(c.item.Server, fault.Because(fault.UpstreamBadMessage, err, "the result was invalid").
			WithHint("update the server, or report this to its author"))
	}
	if sameBytes(fitted, reply.Result) {
		return nil
	}
	reply.Result, reply.Names = fitted, mcp.NamesOf(fitted)
	return nil
}

// receiver returns the revision that a result is corrected for.
func receiver(r *pendingRequest) mcp.Revision {
	if r.client.era() == era.Legacy {
		return cmp.Or(r.client.Revision(), mcp.LatestLegacy)
	}
	return mcp.Revision20260728
}

// withVisibleMessage returns an error for a client without the escape sequences and the
// invisible characters in its message.
func withVisibleMessage(object []byte) []byte {
	raw := mcp.Member(object, "message")
	text, _ := mcp.Text(raw)
	if visible := catalog.Visible(text); visible != text {
		return mcp.SetMember(object, "message", mcp.AppendText(nil, visible))
	}
	return object
}
