package upstream

import (
	"context"
	"fmt"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/mcp"
)

// initialize performs the handshake of the revisions before 2026-07-28. late is an
// unanswered server/discover request, or nil. If its response shows a modern server,
// initialize completes the modern handshake instead. It runs on the goroutine of the attempt,
// after handshake.go found no modern server.
func (h *handshake) initialize(ctx context.Context, late *pending) error {
	u := h.conn.up
	want := u.opts.Revision
	if want == "" {
		want = mcp.LatestLegacy
	}
	var question chan answer
	if late != nil {
		question = late.answer
		defer h.conn.table.forget(late)
	}
	p := &pending{method: mcp.MethodInitialize}
	h.conn.offered = u.opts.Peer.Capabilities()
	if err := h.conn.writer.startRequest(ctx, p, h.initializeParams(want)); err != nil {
		return h.conn.sendError(err)
	}
	defer h.conn.table.forget(p)
	for {
		select {
		case a := <-question:
			if modern, _ := h.negotiate(ctx, a); modern {
				return nil
			}
			question = nil
		case a := <-p.answer:
			if h.lateModern(ctx, question, a) {
				return nil
			}
			if r := h.otherVersion(a, want); r != "" && u.opts.Revision == "" {
				return h.initializeAgain(ctx, r)
			}
			return h.applyInitialize(ctx, a, want)
		case <-ctx.Done():
			return noAnswer(p.method)
		}
	}
}

func (h *handshake) initializeParams(r mcp.Revision) []byte {
	return fmt.Appendf(nil, `{"protocolVersion":%q,"capabilities":%s,"clientInfo":%s}`,
		r, h.conn.offered, h.conn.up.opts.clientInfo())
}

// otherVersion returns the revision that the server wants instead of the requested one,
// or "".
func (h *handshake) otherVersion(a answer, requested mcp.Revision) mcp.Revision {
	if a.err != nil || a.reply.Error == nil {
		return ""
	}
	if v := refusedVersionOf(a.reply.Error, requested); v != nil {
		return v.other(requested)
	}
	return ""
}

// A slow server receives server/discover and initialize together and may answer them
// in any order. These are the waits for the response to server/discover after the
// response to initialize. The wait after a success is shorter: most such servers are
// legacy servers, which ignore unknown methods.
const (
	discoverWaitAfterError   = time.Second
	discoverWaitAfterSuccess = 250 * time.Millisecond
)

// lateModern reports whether the server answers server/discover as a modern server,
// before or soon after first, its response to initialize.
func (h *handshake) lateModern(ctx context.Context, question chan answer, first answer) bool {
	if question == nil {
		return false
	}
	select {
	case a := <-question:
		modern, _ := h.negotiate(ctx, a)
		return modern
	default:
	}
	chance := discoverWaitAfterSuccess
	switch {
	case first.err != nil:
		return false
	case first.reply.Error != nil:
		chance = discoverWaitAfterError
	}
	wait := time.NewTimer(chance)
	defer wait.Stop()
	select {
	case a := <-question:
		modern, _ := h.negotiate(ctx, a)
		return modern
	case <-wait.C:
	case <-ctx.Done():
	}
	return false
}

// draft20241007 is the revision before the first published one. Some servers still name
// it, and what they send is of the first one.
const draft20241007 mcp.Revision = "2024-10-07"

// applyInitialize applies the response to initialize with a revision.
func (h *handshake) applyInitialize(ctx context.Context, a answer, requested mcp.Revision) error {
	u := h.conn.up
	if a.err != nil {
		return a.err
	}
	if a.reply.Error != nil {
		if v := refusedVersionOf(a.reply.Error, requested); v != nil {
			return v.fault(requested, v.other(requested))
		}
		message, _ := mcp.TextMember(a.reply.Error, "message")
		return &fault.Error{Code: fault.UpstreamProtocol, Message: "the server rejected initialize: " + message,
			Err: errRefused}
	}
	var r struct {
		ProtocolVersion mcp.Revision   `json:"protocolVersion"`
		Capabilities    jsontext.Value `json:"capabilities"`
		ServerInfo      jsontext.Value `json:"serverInfo"`
		Instructions    string         `json:"instructions"`
	}
	if mcp.Decode(a.reply.Result, &r) != nil {
		return fault.New(fault.UpstreamProtocol, "the result of initialize has an unexpected shape").
			WithHint(authorHint)
	}
	if r.ProtocolVersion == draft20241007 {
		r.ProtocolVersion = mcp.Revision20241105
	}
	switch {
	case r.ProtocolVersion == "":
		return fault.New(fault.UpstreamProtocol, "the server did not say which revision of the protocol it speaks").
			WithHint(authorHint)
	case !r.ProtocolVersion.Known() || r.ProtocolVersion.Modern():
		return fault.New(fault.UpstreamProtocol, "the server chose revision %q, which junctor does not support",
			r.ProtocolVersion).
			WithHint("update the server: junctor supports the revisions from 2024-11-05 to 2026-07-28")
	case u.opts.Revision != "" && r.ProtocolVersion != u.opts.Revision:
		return fault.New(fault.UpstreamProtocol, "the server chose revision %s, but the configuration requires %s",
			r.ProtocolVersion, u.opts.Revision).
			WithHint("write protocol = %q in its block, or remove protocol", string(r.ProtocolVersion))
	}
	h.conn.revision, h.conn.capabilities, h.conn.serverInfo, h.conn.instructions = r.ProtocolVersion, r.Capabilities,
		r.ServerInfo, r.Instructions
	h.conn.era.Store(legacyEra)
	if err := h.conn.writer.notify(ctx, mcp.NoteInitialized, nil); err != nil {
		return h.conn.endError()
	}
	h.remember(r.ProtocolVersion)
	return nil
}
