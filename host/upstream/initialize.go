package upstream

import (
	"context"
	"fmt"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/mcp"
)

// initialize shakes hands as the revisions before 2026-07-28 do. late, when not
// nil, is a question whether the server is modern that may still be answered,
// which then decides.
func (c *conn) initialize(ctx context.Context, late *pending) error {
	u := c.up
	want := u.opts.Revision
	if want == "" {
		want = mcp.LatestLegacy
	}
	var question chan answer
	if late != nil {
		question = late.answer
		defer c.forget(late)
	}
	p := &pending{method: mcp.MethodInitialize}
	c.offered = u.opts.Peer.Capabilities()
	params := fmt.Appendf(nil, `{"protocolVersion":%q,"capabilities":%s,"clientInfo":%s}`, want, c.offered, u.clientInfo())
	if err := c.start(ctx, p, params); err != nil {
		return c.unsent(err)
	}
	defer c.forget(p)
	for {
		select {
		case a := <-question:
			if modern, _ := c.settle(ctx, a); modern {
				return nil
			}
			question = nil
		case a := <-p.answer:
			if c.lateModern(ctx, question, a) {
				return nil
			}
			return c.initialized(ctx, a)
		case <-ctx.Done():
			return noAnswer(p.method)
		}
	}
}

// A server that was slow to start gets both questions at once, and may answer
// them in any order. So long it has to show that it is modern when it answered
// initialize first: less where it accepted it, since most that do are old and
// ignore what they do not know.
const (
	lastChance    = time.Second
	acceptedFirst = 250 * time.Millisecond
)

// lateModern reports whether the server has answered, before initialize or soon
// after its first answer, the one to that, that it is modern.
func (c *conn) lateModern(ctx context.Context, question chan answer, first answer) bool {
	if question == nil {
		return false
	}
	select {
	case a := <-question:
		modern, _ := c.settle(ctx, a)
		return modern
	default:
	}
	chance := acceptedFirst
	switch {
	case first.err != nil:
		return false
	case first.rpcError != nil:
		chance = lastChance
	}
	wait := time.NewTimer(chance)
	defer wait.Stop()
	select {
	case a := <-question:
		modern, _ := c.settle(ctx, a)
		return modern
	case <-wait.C:
	case <-ctx.Done():
	}
	return false
}

// initialized reads the answer to initialize.
func (c *conn) initialized(ctx context.Context, a answer) error {
	u := c.up
	if a.err != nil {
		return a.err
	}
	if a.rpcError != nil {
		message, _ := mcp.TextMember(a.rpcError, "message")
		return &fault.Error{Code: fault.UpstreamProtocol, Message: "the server refused initialize: " + message, Err: errRefused}
	}
	var r struct {
		ProtocolVersion mcp.Revision   `json:"protocolVersion"`
		Capabilities    jsontext.Value `json:"capabilities"`
		ServerInfo      jsontext.Value `json:"serverInfo"`
		Instructions    string         `json:"instructions"`
	}
	if mcp.Decode(a.result, &r) != nil {
		return fault.New(fault.UpstreamProtocol, "the server's answer to initialize has an unexpected shape")
	}
	switch {
	case !r.ProtocolVersion.Known() || r.ProtocolVersion.Modern():
		return fault.New(fault.UpstreamProtocol, "the server speaks revision %q, which this version does not", r.ProtocolVersion)
	case u.opts.Revision != "" && r.ProtocolVersion != u.opts.Revision:
		return fault.New(fault.UpstreamProtocol, "the server speaks revision %s, the configuration wants %s", r.ProtocolVersion, u.opts.Revision)
	}
	c.revision, c.capabilities, c.serverInfo, c.instructions = r.ProtocolVersion, r.Capabilities, r.ServerInfo, r.Instructions
	c.era.Store(legacyEra)
	if err := c.notify(ctx, mcp.NoteInitialized, nil); err != nil {
		return c.gone()
	}
	u.remember(r.ProtocolVersion)
	return nil
}
