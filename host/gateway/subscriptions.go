package gateway

import (
	"context"
	"errors"
	"fmt"

	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/policy"
	"github.com/junctor-mcp/junctor/host/subscription"
)

// maxURI bounds what is kept of a subscription.
const maxURI = 8 << 10

// subscribe subscribes a legacy client to a resource. It runs on the goroutine of the request and blocks until
// the server has answered. What a client is subscribed to is in package subscription.
func subscribe(ctx context.Context, u *use) (response, error) {
	s := u.session
	add := s.subs.Subscribe
	if u.renewal {
		add = s.subs.Resubscribe
	}
	var sub subscription.Subscription
	changed, err := add(u.requested, func() (_ subscription.Subscription, err error) {
		sub, err = subscribeTo(ctx, u, u.resource, u.permit, u.requested)
		return sub, err
	})
	if errors.Is(err, subscription.ErrTooMany) {
		err = tooManySubscriptions()
	}
	if err != nil {
		return response{}, err
	}
	if changed {
		s.stateChanged()
	}
	if changed && sub.Version != s.gw.generations.version(sub.Server) { // replaced while the request subscribed
		s.serverReplaced(sub.Server)
	}
	if changed && u.generation != s.gw.generations.current() { // the policy may have changed meanwhile
		s.dropDenied()
	}
	return response{result: []byte("{}")}, nil
}

// subscribeTo subscribes to a resource at its server.
func subscribeTo(
	ctx context.Context, u *use, at catalog.Location, permit policy.Permit, uri string,
) (sub subscription.Subscription, err error) {
	up, err := u.upstreamFor(at.Server)
	if err != nil {
		return sub, err
	}
	defer up.done()
	if err := up.Subscribe(ctx, permit, at.URI); err != nil {
		return sub, err
	}
	return subscription.Subscription{Server: at.Server, Upstream: up.Upstream, Version: up.version, URI: at.URI,
		Requested: uri}, nil
}

func errURITooLong() error {
	return &rpcError{code: mcp.CodeInvalidParams,
		message: fmt.Sprintf("a uri of more than %d bytes cannot be subscribed to", maxURI)}
}

func tooManySubscriptions() error {
	return &rpcError{code: mcp.CodeInvalidParams, message: fmt.Sprintf("more than %d subscriptions", subscription.Max)}
}

// unsubscribe ends a subscription of a legacy client, made or still to be renewed.
func unsubscribe(u *use) ([]byte, error) {
	uri, _ := mcp.TextMember(u.params, "uri")
	if u.session.subs.Unsubscribe(uri) {
		u.session.stateChanged()
	}
	return []byte("{}"), nil
}

// serverReplaced moves the subscriptions of a session from a server that was replaced, or removed, to the
// server of the same name in the current generation. It does not wait for the server. Apply calls it.
func (s *Session) serverReplaced(server string) {
	uris := s.subs.Replace(server, s.gw.generations.version)
	if len(uris) == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closing {
		s.renewLater(uris)
	}
}

// renewLater makes subscriptions again in the background, until they are made or the session ends. The session
// must not be closing. The goroutine is part of work of the session; Close ends it with renewals.
func (s *Session) renewLater(uris []string) {
	s.work.Go(func() {
		if gaveUp := s.subs.Renew(s.renewals, uris, s.renewOne); len(gaveUp) > 0 {
			s.gw.opts.Log.Warn("subscriptions were dropped: all attempts to renew them failed",
				"subscriptions", len(gaveUp), "first", clip(gaveUp[0]))
			s.stateChanged()
		}
	})
}

// renewOne makes one subscription again. It passes the stages as a request of the client does,
// so the policy in effect decides.
func (s *Session) renewOne(ctx context.Context, uri string) error {
	r := &pendingRequest{
		request: request{
			gw:         s.gw,
			generation: s.gw.generations.enter(),
			principal:  s.Principal(),
			client:     s,
			transport:  transportOf(s.Principal()),
			route:      routes[mcp.MethodSubscribe],
			method:     mcp.MethodSubscribe,
			params:     mcp.SetMember(nil, "uri", mcp.AppendText(nil, uri)),
			renewal:    true,
		},
		session: s,
	}
	defer r.leaveGeneration()
	_, err := s.gw.serve(ctx, newUse(r))
	if err != nil {
		s.gw.opts.Log.Warn("a subscription was not renewed", "uri", clip(uri), "error", err)
	}
	return err
}
