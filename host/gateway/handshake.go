package gateway

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/junctor-mcp/junctor/host/gateway/question"
	"github.com/junctor-mcp/junctor/host/mcp"
)

// capabilities are the server capabilities of the gateway. They do not depend on the
// upstreams, because an empty list may grow later. Clients compare it with their own features;
// a change is a change of the protocol that clients see.
const capabilities = `{"tools":{"listChanged":true},"resources":{"subscribe":true,"listChanged":true},` +
	`"prompts":{"listChanged":true},"completions":{},"logging":{}}`

// serverInfo describes the gateway to clients. name is that of the configuration, or empty.
func serverInfo(name, version string) string {
	if name != "" {
		return fmt.Sprintf(`{"name":%q,"version":%q}`, name, version)
	}
	return fmt.Sprintf(`{"name":"junctor","title":"Junctor","version":%q}`, version)
}

// initialize begins a legacy session. It runs before the client's next message is read
// (immediate), so it must not wait.
func initialize(u *use) ([]byte, error) {
	s := u.session
	asked, ok := mcp.TextMember(u.params, "protocolVersion")
	if !ok {
		return nil, &rpcError{code: mcp.CodeInvalidParams, message: "initialize needs a protocolVersion"}
	}
	revision := mcp.Revision(asked)
	if !revision.Known() || revision.Modern() {
		revision = mcp.LatestLegacy
	}
	caps := mcp.WithoutDeepNulls(mcp.Member(u.params, "capabilities"))
	if len(caps) == 0 || caps[0] != '{' {
		caps = []byte("{}")
	}
	if len(caps) > maxCaps {
		return nil, tooCapable()
	}
	s.mu.Lock()
	changed := !bytes.Equal(s.caps, caps)
	s.revision, s.caps, s.info = revision, bytes.Clone(caps), programOf(u.params)
	s.mu.Unlock()
	if changed {
		for _, c := range s.gw.conns.Of(s) {
			c.Upstream.Drop() // it was offered something else
		}
	}
	s.stateChanged()
	s.noteOpened()
	if changed && s.client.Sole && len(question.ServerFacing(caps)) > len("{}") {
		// Old servers that were connected before were offered less.
		for _, server := range u.generation.Servers {
			if u := server.Upstream; server.Share != PerSession && !u.Status().Revision.Modern() {
				u.Drop()
			}
		}
		s.gw.catalog.Offer(s.gw.shared.offer())
	}
	offered, instructions := initializeResult(u)
	result := fmt.Appendf(
		nil, `{"protocolVersion":%q,"capabilities":%s,"serverInfo":%s}`, revision, offered,
		serverInfo(u.generation.Name, s.gw.opts.Version),
	)
	return withInstructions(result, instructions), nil
}

// discover answers server/discover.
func discover(u *use) ([]byte, error) {
	versions, err := json.Marshal(mcp.Revisions)
	if err != nil {
		return nil, err
	}
	offered, instructions := initializeResult(u)
	result := fmt.Appendf(nil, `{"resultType":"complete","supportedVersions":%s,"capabilities":%s,"ttlMs":%d,"cacheScope":"private","_meta":{%q:%s}}`,
		versions, offered, listTTL.Milliseconds(), mcp.MetaServerInfo, serverInfo(u.generation.Name, u.gw.opts.Version))
	return withInstructions(result, instructions), nil
}

// withInstructions adds instructions to the result of initialize or server/discover.
func withInstructions(result []byte, instructions string) []byte {
	if instructions == "" {
		return result
	}
	return mcp.SetMember(result, "instructions", mcp.AppendText(nil, instructions))
}

func ping(*use) ([]byte, error) { return []byte("{}"), nil }

// setLevel sets the minimum severity of log messages for a legacy client. Connected
// servers get the level now, others when they connect. It is immediate, as initialize is.
func setLevel(u *use) ([]byte, error) {
	level, _ := mcp.TextMember(u.params, "level")
	if !slices.Contains(mcp.Levels, level) {
		return nil, &rpcError{code: mcp.CodeInvalidParams,
			message: fmt.Sprintf("%q is not a log level; those are %v", clip(level), mcp.Levels)}
	}
	s := u.session
	s.mu.Lock()
	s.level = level
	s.mu.Unlock()
	for _, c := range s.gw.conns.Of(s) {
		c.Upstream.SetLevel(c.Peer.lowestLevel())
	}
	s.stateChanged()
	s.gw.levels.send()
	return []byte("{}"), nil
}

// rootsChanged notifies the servers that can request the client's roots. The goroutine that
// reads the client's messages calls it; it does not wait.
func rootsChanged(s *Session) {
	if s.gw.sessions.soleClient() == s { // servers were not offered the roots of others
		for _, server := range s.gw.generations.current().Servers {
			server.Upstream.Notify(mcp.NoteRootsChanged, nil)
		}
	}
	for _, c := range s.gw.conns.Of(s) {
		c.Upstream.Notify(mcp.NoteRootsChanged, nil)
	}
}
