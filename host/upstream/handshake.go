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

// errRefused is wrapped when a server answered initialize with an error.
var errRefused = errors.New("refused initialize")

// handshake finds out which revision to speak and gets ready to. When again is
// true the server ended over the question: it is an old one, and a new
// connection must begin with initialize.
func (c *conn) handshake(ctx context.Context) (again bool, err error) {
	switch pinned := c.up.opts.Revision; {
	case pinned.Modern():
		return false, c.discover(ctx)
	case pinned != "":
		return false, c.initialize(ctx, nil)
	}
	known := c.up.opts.Memory.Revision()
	if !c.up.older.Load() && (known == "" || known.Modern()) {
		return c.probe(ctx)
	}
	if err = c.initialize(ctx, nil); err != nil {
		c.up.older.Store(false) // it may not be able to
	}
	if errors.Is(err, errRefused) && c.discover(ctx) == nil {
		return false, nil // it is no longer the one that we remember
	}
	return false, err
}

// PreferOld makes the upstream begin with initialize, whatever is known of the
// server: the connection is for a client of the old era, and where the server
// is of both nothing need cross from one to the other. It is called before the
// first connection.
func (u *Upstream) PreferOld() { u.older.Store(true) }

// remember notes what the server speaks, unless there was no choice, or the
// choice was made for a client.
func (u *Upstream) remember(r mcp.Revision) {
	if u.opts.Revision == "" && !u.older.Load() {
		u.opts.Memory.Remember(r)
	}
}

// probe asks a server which era it is of, and shakes hands accordingly.
func (c *conn) probe(ctx context.Context) (again bool, err error) {
	question := &pending{method: mcp.MethodDiscover}
	if err := c.start(ctx, question, c.withMeta(nil, mcp.Revision20260728)); err != nil {
		return ctx.Err() == nil, c.unsent(err)
	}
	patience := probeTime
	if deadline, ok := ctx.Deadline(); ok {
		patience = min(patience, time.Until(deadline)/2) // initialize needs time too
	}
	t := time.NewTimer(patience)
	defer t.Stop()
	select {
	case a := <-question.answer:
		if !c.alive() {
			return true, nil
		}
		if away(a.err) {
			return false, a.err
		}
		if modern, err := c.settle(ctx, a); modern {
			return false, err
		}
		question = nil
	case <-t.C:
		// Silence: an old server that ignores what it does not know, or one
		// that is not up yet. The answer may still come.
	case <-ctx.Done():
		return false, noAnswer(question.method)
	}
	return false, c.initialize(ctx, question)
}

// away reports whether a question failed for a reason that has nothing to do
// with what was asked.
func away(err error) bool {
	if err == nil {
		return false
	}
	switch fault.As(err).Code {
	case fault.UpstreamUnavailable, fault.UpstreamAddress, fault.UpstreamAuth, fault.UpstreamLogin, fault.UpstreamLimited:
		return true
	}
	return false
}

// discover asks a server that must be modern what it offers.
func (c *conn) discover(ctx context.Context) error {
	a, err := c.do(ctx, &pending{method: mcp.MethodDiscover}, c.withMeta(nil, mcp.Revision20260728))
	if errors.Is(err, context.DeadlineExceeded) {
		return noAnswer(mcp.MethodDiscover)
	}
	if err != nil {
		return err
	}
	modern, err := c.settle(ctx, a)
	if !modern && err == nil {
		err = errors.New("its answer to server/discover has an unexpected shape")
	}
	if err != nil {
		return fault.Because(fault.UpstreamProtocol, err, "the server does not speak %s", mcp.Revision20260728)
	}
	return nil
}

func noAnswer(method string) error {
	return fault.New(fault.UpstreamStartTimeout, "it did not answer %s", method)
}

// settle reads the answer to server/discover. A server that refuses the
// revision it was asked in and names one that we speak is asked once more, in
// that one: it has not said what it offers.
func (c *conn) settle(ctx context.Context, a answer) (modern bool, err error) {
	if a.rpcError != nil {
		versions, _ := unsupported(a.rpcError)
		if r := common(versions); r != "" {
			b, err := c.do(ctx, &pending{method: mcp.MethodDiscover}, c.withMeta(nil, r))
			if err == nil && b.rpcError == nil {
				a = b
			}
		}
	}
	return c.discovered(a)
}

// unsupported reads an error: the revisions that the server has instead of the
// one it was asked in.
func unsupported(rpcError []byte) (versions []string, err error) {
	var e struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
		Data    struct {
			Supported []string `json:"supported"`
		} `json:"data"`
	}
	_ = mcp.Decode(rpcError, &e)
	if e.Code != mcp.CodeUnsupported {
		return nil, fmt.Errorf("it answered server/discover with %q", e.Message)
	}
	return e.Data.Supported, nil
}

// common is the first modern revision of ours among those of a server; empty
// when there is none.
func common(versions []string) mcp.Revision {
	for _, r := range mcp.Revisions {
		if r.Modern() && slices.Contains(versions, string(r)) {
			return r
		}
	}
	return ""
}

// discovered takes over the answer to server/discover. modern is false when it
// shows that the server is an old one; err says how, where that can be said.
func (c *conn) discovered(a answer) (modern bool, err error) {
	if a.err != nil {
		return false, a.err
	}
	var versions []string
	if a.rpcError != nil {
		if versions, err = unsupported(a.rpcError); err != nil {
			return false, err
		}
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
	r := common(versions)
	if r == "" {
		return false, fmt.Errorf("it speaks %s", strings.Join(versions, ", "))
	}
	c.revision = r
	c.era.Store(modernEra)
	c.up.remember(r)
	c.listenToLists()
	return true, nil
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
func (s Status) Capable(path ...string) bool { return capable(s.Capabilities, path...) }

func capable(capabilities []byte, path ...string) bool {
	v := mcp.Member(capabilities, path...)
	return v != nil && string(v) != "false" && string(v) != "null"
}
