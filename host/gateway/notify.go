package gateway

import (
	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/shape"
	"github.com/junctor-mcp/junctor/host/subscription"
	"github.com/junctor-mcp/junctor/host/upstream"
)

// ServerNotification handles a notification of a server. It does not wait, because the goroutine that reads the
// server's messages calls it. This file passes notifications of servers to clients; serverrequests.go passes
// their requests, and listchanged.go tells of changes of the catalog.
func (p *serverPeer) ServerNotification(u *upstream.Upstream, about any, method string, params []byte) {
	params = mcp.WithoutOwnMeta(params)
	switch method {
	case mcp.NoteToolsChanged, mcp.NotePromptsChanged, mcp.NoteResChanged:
		p.gw.catalog.Changed(u.Name())
	case mcp.NoteResUpdated:
		uri, _ := mcp.TextMember(params, "uri")
		for _, s := range p.recipients(method, params) {
			s.resourceUpdated(u, uri, params)
		}
	case mcp.NoteTask:
		var clients []*subscription.Set
		for _, s := range p.audience() {
			clients = append(clients, s.subs)
		}
		subscription.TaskStatus(clients, u, fitTask(params))
	case mcp.NoteMessage:
		if params, ok := p.fitLogMessage(params); ok {
			p.onLogMessage(about, params)
		}
	case mcp.NoteElicitDone:
		p.onElicitationComplete(params)
	default:
		p.gw.serverLog.Log(hclog.Debug, u.Name(), "ignored a notification", "method", clip(method))
	}
}

// fitLogMessage corrects a log message to what clients can parse. ok is false for one without
// data, which is dropped.
func (p *serverPeer) fitLogMessage(params []byte) (fitted []byte, ok bool) {
	if fitted, ok = shape.LogMessage(params); !ok {
		p.gw.serverLog.Log(hclog.Debug, p.server, "ignored a log message without data", "params", clip(string(params)))
	}
	return fitted, ok
}

// onLogMessage writes a server's log message to the log and relays it to the
// principal that it belongs to, if that principal asked for it. A message without a
// request is not relayed once the connection serves several principals.
func (p *serverPeer) onLogMessage(about any, params []byte) {
	p.logMessage(params)
	if r, ok := about.(*pendingRequest); ok {
		if r.session != nil {
			forwardLog(r.session, p, r, params)
		}
		return
	}
	if p.shared && p.gw.generations.current().Servers[p.server].Share == PerSession {
		return // calls have other connections
	}
	if recipients := p.recipients(mcp.NoteMessage, params); !p.callers.serves(recipients) {
		for _, s := range recipients {
			if who := s.Principal(); p.gw.generations.current().concerns(&who, p.server, p.gw.catalog.Snapshot()) {
				forwardLog(s, p, nil, params)
			}
		}
	}
}

// recipients returns the sessions to notify. A large notification is sent only where there is just one.
func (p *serverPeer) recipients(method string, params []byte) []*Session {
	all := p.audience()
	if len(params) > subscription.MaxBroadcast && len(all) > 1 {
		p.gw.serverLog.Log(hclog.Debug, p.server, "ignored a notification that is too large for many clients",
			"method", method, "bytes", len(params))
		return nil
	}
	return all
}

// logMessage writes a server's log message to Junctor's log, within the server's rate
// limit. It leaves out messages below the server's level. Messages that an operator asked
// for are not hidden by the level of the log.
func (p *serverPeer) logMessage(params []byte) {
	level, _ := mcp.TextMember(params, "level")
	least, asked := p.gw.levels.ofLog(p.server)
	if least != "" && !atLeast(params, least) {
		return
	}
	as := hclogLevel(level)
	if asked {
		as = max(as, hclog.Info)
	}
	logger, _ := mcp.TextMember(params, "logger")
	p.gw.serverLog.Log(as, p.server, "message of a server",
		"level", clip(level), "logger", clip(logger), "data", clip(string(mcp.Member(params, "data"))))
}

// forwardLog forwards a log message to the client, on the stream of the request that the message is about. If
// the server names no request, it uses the stream of one that the server answers, or that of the session. A
// client that shares the connection with others gets a message without a request only if the client set a
// level. It does not wait; a client that does not read loses the message.
func forwardLog(s *Session, p *serverPeer, about *pendingRequest, params []byte) {
	s.mu.Lock()
	level, legacy := s.level, s.revision != ""
	s.mu.Unlock()
	mine := s.client.Sole || p.session == s || level != ""
	if _, asked := p.gw.levels.ofLog(p.server); level == "" && (asked || p.callers.several()) {
		level = defaultLevel // an operator may have asked for more
	}
	wants := legacy && (level == "" || atLeast(params, level))
	r := s.inFlight.find(func(r *pendingRequest) bool {
		if about != nil && r != about || r.serverName() != p.server {
			return false
		}
		return r.modern() && r.level != "" && atLeast(params, r.level) || !r.modern() && wants && (mine || about != nil)
	})
	switch {
	case r != nil:
		subscription.Notify(r.out, mcp.NoteMessage, params)
	case wants && mine:
		subscription.Notify(s.client.Out, mcp.NoteMessage, params)
	}
}

// legacy reports whether a legacy session has begun; false for a nil session.
func (s *Session) legacy() bool {
	if s == nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.revision != ""
}
