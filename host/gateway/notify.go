package gateway

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/upstream"
)

var _ upstream.Peer = (*Gateway)(nil)

// levelTime bounds how long telling a server the log level may take.
const levelTime = 5 * time.Second

// ServerNotification takes what a server says on its own account. It does not
// wait: the goroutine that reads the server's messages calls it.
func (g *Gateway) ServerNotification(u *upstream.Upstream, method string, params []byte) {
	switch method {
	case mcp.NoteToolsChanged:
		g.catalog.Changed(u.Name(), upstream.Tools)
	case mcp.NotePromptsChanged:
		g.catalog.Changed(u.Name(), upstream.Prompts)
	case mcp.NoteResChanged:
		g.catalog.Changed(u.Name(), upstream.Resources)
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
	g.opts.Log.Log(hclogLevel(level), "message of a server", "server", server, "data", clip(string(mcp.Member(params, "data"))))
	for _, s := range g.all() {
		if s.legacy() {
			if s.wants(params) {
				s.tell(mcp.NoteMessage, params)
			}
			continue
		}
		if s.asksFor(params) {
			s.tell(mcp.NoteMessage, params)
		}
	}
}

// asksFor reports whether a modern request in flight wants log messages like
// this one.
func (s *Session) asksFor(params []byte) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.inFlight {
		if r.modern && r.level != "" && atLeast(params, r.level) {
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
	ctx, cancel := context.WithTimeout(context.Background(), levelTime)
	defer cancel()
	g.tellLevel(ctx, u)
}

// tellLevel tells an old server how severe its log messages must be: as the
// client with the lowest level wants it.
func (g *Gateway) tellLevel(ctx context.Context, u *upstream.Upstream) {
	st := u.Status()
	if st.State != upstream.Ready || st.Revision.Modern() || !st.Capable("logging") {
		return
	}
	level := ""
	for _, s := range g.all() {
		s.mu.Lock()
		if s.level != "" && (level == "" || slices.Index(mcp.Levels, s.level) < slices.Index(mcp.Levels, level)) {
			level = s.level
		}
		s.mu.Unlock()
	}
	if level == "" {
		return
	}
	if _, err := u.Ask(ctx, mcp.MethodSetLevel, mcp.SetMember(nil, "level", mcp.AppendText(nil, level))); err != nil {
		g.opts.Log.Debug("setting the log level", "server", u.Name(), "error", err)
	}
}

// Disconnected is called when a connection ended or could not be made.
func (g *Gateway) Disconnected(u *upstream.Upstream, err error) {
	if err != nil && !strings.Contains(err.Error(), "shutting down") {
		g.opts.Log.Warn("a server is not connected", "server", u.Name(), "error", err)
	}
}
