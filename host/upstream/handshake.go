package upstream

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/mcp"
)

// probeTime limits the wait for the response to server/discover. Legacy servers
// answer with an error, ignore the request, or exit.
const probeTime = 3 * time.Second

// errRefused marks a handshake whose initialize request returned an error.
var errRefused = errors.New("refused initialize")

// A handshake negotiates the revision of a connection. The goroutine of the attempt owns it,
// and waits for each response; the reading goroutine runs meanwhile.
type handshake struct{ conn *conn }

// run negotiates the protocol revision. again is true if the server ended
// because of server/discover. It is then a legacy server, and a new connection must
// begin with initialize.
func (h *handshake) run(ctx context.Context) (again bool, err error) {
	switch pinned := h.conn.up.opts.Revision; {
	case pinned.Modern():
		return false, h.discover(ctx)
	case pinned != "":
		return false, h.initialize(ctx, nil)
	}
	known := h.conn.up.opts.Revisions.Revision()
	if !h.conn.up.preferLegacy.Load() && (known == "" || known.Modern()) {
		return h.probe(ctx)
	}
	if err = h.initialize(ctx, nil); err != nil {
		h.conn.up.preferLegacy.Store(false) // the server may not support initialize
	}
	if errors.Is(err, errRefused) && h.discover(ctx) == nil {
		return false, nil // the remembered revision is outdated
	}
	return false, err
}

// PreferLegacy makes the upstream begin with initialize, whatever revision is
// remembered. It is for connections that serve a legacy client: both sides then use
// the same era. Call it before the first connection.
func (u *Upstream) PreferLegacy() { u.preferLegacy.Store(true) }

// probe determines the era of the server and completes the handshake.
func (h *handshake) probe(ctx context.Context) (again bool, err error) {
	question := &pending{method: mcp.MethodDiscover}
	if err := h.conn.writer.startRequest(ctx, question, h.conn.withMeta(nil, mcp.Revision20260728)); err != nil {
		return ctx.Err() == nil, h.conn.sendError(err)
	}
	wait := probeTime
	if deadline, ok := ctx.Deadline(); ok {
		wait = min(wait, time.Until(deadline)/2) // leave time for initialize
	}
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case a := <-question.answer:
		if !h.conn.table.alive() {
			return true, nil
		}
		if unreachable(a.err) {
			return false, a.err
		}
		if modern, err := h.negotiate(ctx, a); modern {
			return false, err
		}
		question = nil
	case <-t.C:
		// No response: a legacy server that ignores unknown methods, or a server
		// that is still starting. The response may still arrive.
	case <-ctx.Done():
		return false, noAnswer(question.method)
	}
	return false, h.initialize(ctx, question)
}

// unreachable reports whether a request failed independently of its method.
func unreachable(err error) bool {
	if err == nil {
		return false
	}
	switch fault.As(err).Code {
	case fault.UpstreamUnavailable, fault.UpstreamAddress, fault.UpstreamAuth, fault.UpstreamLogin,
		fault.UpstreamLimited:
		return true
	}
	return false
}

// discover sends server/discover to a server that must be modern.
func (h *handshake) discover(ctx context.Context) error {
	reply, err := h.conn.do(ctx, &pending{method: mcp.MethodDiscover}, h.conn.withMeta(nil, mcp.Revision20260728))
	if errors.Is(err, context.DeadlineExceeded) {
		return noAnswer(mcp.MethodDiscover)
	}
	if err != nil {
		return err
	}
	modern, err := h.negotiate(ctx, answer{reply: reply})
	if !modern && err == nil {
		err = errors.New("the result of server/discover has an unexpected shape")
	}
	if err != nil {
		return fault.Because(fault.UpstreamProtocol, err, "the server does not speak %s", mcp.Revision20260728).
			WithHint("remove protocol from its block, or update the server")
	}
	return nil
}

func noAnswer(method string) error {
	return fault.New(fault.UpstreamStartTimeout, "no response to %s", method)
}

// negotiate reads the response to server/discover. If the server rejects the
// revision and lists another one that Junctor supports, negotiate repeats the request
// with that revision.
func (h *handshake) negotiate(ctx context.Context, a answer) (modern bool, err error) {
	if a.err != nil {
		return false, a.err
	}
	reply := a.reply
	if reply.Error != nil {
		versions, _ := supportedVersions(reply.Error)
		if r := newestCommon(versions); r != "" {
			second, err := h.conn.do(ctx, &pending{method: mcp.MethodDiscover}, h.conn.withMeta(nil, r))
			if err == nil && second.Error == nil {
				reply = second
			}
		}
	}
	return h.applyDiscover(reply)
}

// supportedVersions returns the revisions that an UnsupportedProtocolVersion error
// lists as supported. It fails for any other error.
func supportedVersions(rpcError []byte) (versions []string, err error) {
	var e struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
		Data    struct {
			Supported []string `json:"supported"`
		} `json:"data"`
	}
	_ = mcp.Decode(rpcError, &e)
	if e.Code != mcp.CodeUnsupported {
		return nil, fmt.Errorf("server/discover returned the error %q", e.Message)
	}
	return e.Data.Supported, nil
}

// newestCommon returns the newest modern revision that Junctor and the server support,
// or "".
func newestCommon(versions []string) mcp.Revision {
	for _, r := range mcp.Revisions {
		if r.Modern() && slices.Contains(versions, string(r)) {
			return r
		}
	}
	return ""
}

// applyDiscover applies the response to server/discover. modern is false if the server
// is a legacy server; err then holds the reason, if known.
func (h *handshake) applyDiscover(reply *Reply) (modern bool, err error) {
	var versions []string
	if reply.Error != nil {
		if versions, err = supportedVersions(reply.Error); err != nil {
			return false, err
		}
	} else {
		var r struct {
			SupportedVersions []string       `json:"supportedVersions"`
			Capabilities      jsontext.Value `json:"capabilities"`
			Instructions      string         `json:"instructions"`
		}
		if mcp.Decode(reply.Result, &r) != nil || len(r.SupportedVersions) == 0 {
			return false, nil
		}
		versions, h.conn.capabilities, h.conn.instructions = r.SupportedVersions, r.Capabilities, r.Instructions
		h.conn.serverInfo = mcp.Member(reply.Result, "_meta", mcp.MetaServerInfo)
	}
	r := newestCommon(versions)
	if r == "" {
		return false, fmt.Errorf("it supports only %s", strings.Join(versions, ", "))
	}
	h.conn.revision = r
	h.conn.era.Store(modernEra)
	h.remember(r)
	h.conn.listener.listenToLists()
	return true, nil
}

// withMeta adds the members of _meta that identify the client in modern requests.
// It keeps existing members, except the version.
func (c *conn) withMeta(params []byte, r mcp.Revision) []byte {
	meta := mcp.Member(params, "_meta")
	set := func(name string, value []byte) {
		if mcp.Member(meta, name) == nil {
			meta = mcp.SetMember(meta, name, value)
			params = mcp.SetMember(params, "_meta", meta)
		}
	}
	if v, _ := mcp.TextMember(meta, mcp.MetaVersion); v != string(r) {
		meta = mcp.SetMember(meta, mcp.MetaVersion, fmt.Appendf(nil, "%q", r))
		params = mcp.SetMember(params, "_meta", meta)
	}
	set(mcp.MetaClientInfo, c.up.opts.clientInfo())
	set(mcp.MetaClientCaps, []byte("{}"))
	return params
}

// clientInfo returns the name and version of Junctor as a JSON object.
func (o *Options) clientInfo() []byte {
	return fmt.Appendf(nil, `{"name":"junctor","version":%q}`, o.Version)
}

// Capable reports whether the server has the capability at a path, such as
// "resources", or "resources" and "subscribe".
func (s Status) Capable(path ...string) bool { return capable(s.Capabilities, path...) }

func capable(capabilities []byte, path ...string) bool {
	v := mcp.Member(capabilities, path...)
	return v != nil && string(v) != "false" && string(v) != "null"
}

// remember stores the revision of the server. It does nothing if the revision is
// configured or was chosen for a client.
func (h *handshake) remember(r mcp.Revision) {
	u := h.conn.up
	if u.opts.Revision == "" && !u.preferLegacy.Load() {
		u.opts.Revisions.Remember(r)
	}
}
