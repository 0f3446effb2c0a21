package gateway

import (
	"slices"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/upstream"
)

var _ upstream.Peer = (*Gateway)(nil)

// ServerNotification takes what a server says on its own account. It does not
// wait: the goroutine that reads the server's messages calls it.
func (g *Gateway) ServerNotification(u *upstream.Upstream, method string, params []byte) {
	switch method {
	case mcp.NoteToolsChanged, mcp.NotePromptsChanged, mcp.NoteResChanged:
		g.catalog.Changed(u.Name())
	case mcp.NoteResUpdated:
		uri, _ := mcp.TextMember(params, "uri")
		for _, s := range g.all() {
			s.updated(u.Name(), uri, params)
		}
	case mcp.NoteMessage:
		g.logged(u.Name(), params)
	case mcp.NoteElicitDone:
		for _, s := range g.all() {
			if s.legacy() {
				s.tell(method, params)
			}
		}
	default:
		g.opts.Log.Debug("ignored a notification", "server", u.Name(), "method", clip(method))
	}
}

// logged passes on a server's log message: to legacy clients by the level of
// their session, to modern ones by that of a request to this server, and to our
// own log.
func (g *Gateway) logged(server string, params []byte) {
	level, _ := mcp.TextMember(params, "level")
	logger, _ := mcp.TextMember(params, "logger")
	g.opts.Log.Log(hclogLevel(level), "message of a server", "server", server, "level", clip(level), "logger", clip(logger), "data", clip(string(mcp.Member(params, "data"))))
	for _, s := range g.all() {
		if s.legacy() {
			if s.wants(params) {
				s.tell(mcp.NoteMessage, params)
			}
			continue
		}
		if s.asksFor(server, params) {
			s.tell(mcp.NoteMessage, params)
		}
	}
}

// asksFor reports whether a modern request that a server is answering wants log
// messages like this one.
func (s *Session) asksFor(server string, params []byte) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.inFlight {
		if r.modern && r.server == server && r.level != "" && atLeast(params, r.level) {
			return true
		}
	}
	return false
}

func (s *Session) legacy() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.revision != ""
}

func hclogLevel(level string) hclog.Level {
	switch i := slices.Index(mcp.Levels, level); {
	case i >= slices.Index(mcp.Levels, "error"):
		return hclog.Warn // an error of theirs, not of ours
	case i >= slices.Index(mcp.Levels, "info"):
		return hclog.Info
	default:
		return hclog.Debug
	}
}

// Connected is called when a server was connected.
func (g *Gateway) Connected(u *upstream.Upstream) {
	if g.catalog == nil {
		return
	}
	g.catalog.Connected(u.Name())
}

// heed takes note of the log level that a modern request asks for. An old server
// is told a level for all requests: it stays at the lowest there was.
func (g *Gateway) heed(level string) {
	g.mu.Lock()
	lower := lowerLevel(level, g.level)
	if lower {
		g.level = level
	}
	g.mu.Unlock()
	if lower {
		g.setLevels()
	}
}

// setLevels tells old servers how severe their log messages must be: as the
// client with the lowest level wants it.
func (g *Gateway) setLevels() {
	g.leveling.Lock()
	defer g.leveling.Unlock()
	g.mu.Lock()
	lowest := g.level
	g.mu.Unlock()
	for _, s := range g.all() {
		s.mu.Lock()
		if lowerLevel(s.level, lowest) {
			lowest = s.level
		}
		s.mu.Unlock()
	}
	for _, u := range g.upstreams {
		u.SetLevel(lowest)
	}
}

// lowerLevel reports whether a lets more messages through than b, or there is
// no b.
func lowerLevel(a, b string) bool {
	return a != "" && (b == "" || slices.Index(mcp.Levels, a) < slices.Index(mcp.Levels, b))
}

// lastWords is how many lines of a server that ended go to the log.
const lastWords = 5

// Disconnected is called when a connection ended or could not be made.
func (g *Gateway) Disconnected(u *upstream.Upstream, err error) {
	if err != nil && !fault.Is(err, fault.UpstreamStopped) {
		said := fault.As(err).Output
		g.opts.Log.Warn("a server is not connected", "server", u.Name(), "error", err, "said", said[max(0, len(said)-lastWords):])
	}
}
