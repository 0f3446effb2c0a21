package subscription

import (
	"context"
	"slices"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// A server that is away when subscriptions are renewed gets more time: the client
// believes that it is subscribed.
const (
	renewAfter = time.Second // doubled each time
	renewMax   = 256 * time.Second
	renewals   = 10
)

// Restore records subscriptions of an earlier process, or of another session, for Renew.
func (s *Set) Restore(uris []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, uri := range uris {
		s.renewing[Canonical(uri)] = uri
	}
}

// Replace removes the subscriptions to a server that are of another version than the one
// in effect, and returns their URIs for Renew. Listen requests with such a subscription
// end, so that the client listens again. Apply of the gateway calls it for each session.
func (s *Set) Replace(server string, now Versions) (uris []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	version := now(server)
	for key, sub := range s.resources {
		if sub.Server == server && sub.Version != version {
			delete(s.resources, key)
			s.count--
			s.renewing[key] = sub.Requested
			uris = append(uris, sub.Requested)
		}
	}
	for _, l := range s.listens {
		if l.outdated(now) {
			l.end()
		}
	}
	for _, l := range s.following {
		if l.outdated(now) {
			l.end()
		}
	}
	return uris
}

// Renew makes subscriptions again. It calls subscribe for each, which calls Resubscribe,
// and again with increasing delays for those that failed. It gives up after some
// attempts, and returns the URIs that it gave up on. It returns none if ctx ends. It blocks;
// the session gives it a goroutine.
func (s *Set) Renew(ctx context.Context, uris []string,
	subscribe func(ctx context.Context, uri string) error) (gaveUp []string) {
	delays := backoff.ExponentialBackOff{InitialInterval: renewAfter, MaxInterval: renewMax, Multiplier: 2}
	for attempt := 1; ; attempt++ {
		uris = s.renewOnce(uris, func(uri string) error { return subscribe(ctx, uri) })
		if len(uris) == 0 || ctx.Err() != nil {
			return nil
		}
		if attempt == renewals {
			break
		}
		select {
		case <-time.After(delays.NextBackOff()):
		case <-ctx.Done():
			return nil
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, uri := range uris {
		delete(s.renewing, Canonical(uri))
	}
	return uris
}

// renewOnce calls subscribe for the URIs that the client still wants, several at the same
// time. It returns those for which subscribe failed.
func (s *Set) renewOnce(uris []string, subscribe func(uri string) error) (failed []string) {
	renewed := forEach(uris, func(uri string) error {
		if !s.renews(uri) {
			return nil
		}
		return subscribe(uri)
	})
	return slices.DeleteFunc(slices.Clone(uris), func(uri string) bool { return slices.Contains(renewed, uri) })
}

// Resubscribe is Subscribe for a renewal. The subscription is undone if the client has
// unsubscribed meanwhile.
func (s *Set) Resubscribe(uri string, add func() (Subscription, error)) (changed bool, err error) {
	return s.subscribe(uri, add, true)
}

func (s *Set) renews(uri string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, renewing := s.renewing[Canonical(uri)]
	return renewing
}
