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

// probeTime is how long a server may take to answer the question whether it is
// modern. Old servers answer with an error at once, ignore it, or end.
const probeTime = 3 * time.Second

// handshake finds out which revision to speak and gets ready to. When again is
// true the server ended over the question: it is an old one, and a new
// connection must begin with initialize.
func (c *conn) handshake(ctx context.Context) (again bool, err error) {
	u := c.up
	revision, auto := u.opts.Revision, u.opts.Revision == ""
	if auto {
		revision = u.opts.Memory.Revision()
	}
	if revision != "" && !revision.Modern() {
		return false, c.initialize(ctx)
	}
	probe, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	modern, err := c.discover(probe, !auto)
	switch {
	case modern || err == nil && !auto:
		return false, err
	case err == nil, probe.Err() != nil && ctx.Err() == nil && auto:
		return false, c.initialize(ctx)
	case auto && ctx.Err() == nil:
		return true, nil
	default:
		return false, err
	}
}

// discover asks a server of the modern era what it offers. modern is false,
// without an error, when the answer shows that it is an old one, unless only
// says that no other era will do.
func (c *conn) discover(ctx context.Context, only bool) (modern bool, err error) {
	p := &pending{method: mcp.MethodDiscover}
	a, err := c.do(ctx, p, c.withMeta(nil, mcp.Revision20260728))
	if err != nil {
		return false, err
	}
	var versions []string
	if a.rpcError != nil {
		var e struct {
			Code    int    `json:"code"`
			Message string `json:"message"`
			Data    struct {
				Supported []string `json:"supported"`
			} `json:"data"`
		}
		_ = mcp.Decode(a.rpcError, &e)
		if e.Code != mcp.CodeUnsupported {
			if only {
				return false, fault.New(fault.UpstreamProtocol, "the server does not speak %s: it answered server/discover with %q", mcp.Revision20260728, e.Message)
			}
			return false, nil
		}
		versions = e.Data.Supported
	} else {
		var r struct {
			SupportedVersions []string       `json:"supportedVersions"`
			Capabilities      jsontext.Value `json:"capabilities"`
			Instructions      string         `json:"instructions"`
		}
		if mcp.Decode(a.result, &r) != nil || len(r.SupportedVersions) == 0 {
			return false, nil
		}
		versions, c.capabilities, c.instructions = r.SupportedVersions, r.Capabilities, r.Instructions
		c.serverInfo = mcp.Member(a.result, "_meta", mcp.MetaServerInfo)
	}
	for _, r := range mcp.Revisions {
		if r.Modern() && slices.Contains(versions, string(r)) {
			c.revision = r
			c.up.opts.Memory.Remember(r)
			c.listen()
			return true, nil
		}
	}
	if only {
		return false, fault.New(fault.UpstreamProtocol, "the server speaks %s, the configuration wants %s", strings.Join(versions, ", "), c.up.opts.Revision)
	}
	return false, nil
}

// initialize shakes hands as the revisions before 2026-07-28 do.
func (c *conn) initialize(ctx context.Context) error {
	u := c.up
	want := u.opts.Revision
	if want == "" {
		want = mcp.LatestLegacy
	}
	params := fmt.Appendf(nil, `{"protocolVersion":%q,"capabilities":%s,"clientInfo":%s}`,
		want, u.opts.Peer.Capabilities(), u.clientInfo())
	a, err := c.do(ctx, &pending{method: mcp.MethodInitialize}, params)
	if errors.Is(err, context.DeadlineExceeded) {
		return fault.New(fault.UpstreamStartTimeout, "it did not answer initialize")
	}
	if err != nil {
		return err
	}
	if a.rpcError != nil {
		message, _ := mcp.TextMember(a.rpcError, "message")
		return fault.New(fault.UpstreamProtocol, "the server refused initialize: %s", message)
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
	if err := c.notify(ctx, mcp.NoteInitialized, nil); err != nil {
		return c.gone()
	}
	if u.opts.Revision == "" {
		u.opts.Memory.Remember(r.ProtocolVersion)
	}
	return nil
}

// withMeta adds to params what every modern request says about who asks,
// leaving what stands there already.
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
	set(mcp.MetaClientInfo, c.up.clientInfo())
	set(mcp.MetaClientCaps, []byte("{}"))
	return params
}

func (u *Upstream) clientInfo() []byte {
	return fmt.Appendf(nil, `{"name":"junctor","version":%q}`, u.opts.Version)
}

// Capable reports whether the server has a capability, such as "resources" or
// "resources", "subscribe".
func (s Status) Capable(path ...string) bool {
	v := mcp.Member(s.Capabilities, path...)
	return v != nil && string(v) != "false" && string(v) != "null"
}
