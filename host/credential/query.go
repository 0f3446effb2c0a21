package credential

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/junctor-mcp/junctor/sdk"
)

// A query is one call of the provider. All callers that wait for it share it. start makes it
// with the goroutine that closes done. The fields above the result do not change.
type query struct {
	done      chan struct{}
	begun     time.Time
	challenge bool
	request   sdk.AuthRequest // of the caller that started the query

	// The result; valid once done is closed.
	cred   *sdk.Credential
	result sdk.ChallengeResult
	err    error
}

// wait waits until a query is done, ctx ends or the broker is closed.
func (b *Broker) wait(ctx context.Context, q *query) error {
	select {
	case <-q.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-b.ctx.Done():
		return unused()
	}
}

func unused() *sdk.Error { return sdk.Errorf(sdk.Canceled, "the server is no longer used") }

// start starts a query in a goroutine; the caller holds mu. challenge is the challenge
// that the query is about, or nil. Options.Lock excludes other processes. The goroutine is
// counted in queries. All methods below run there, without mu.
func (b *Broker) start(cc *cachedCredential, r sdk.AuthRequest, challenge *sdk.Challenge) *query {
	q := &query{done: make(chan struct{}), begun: time.Now(), challenge: challenge != nil, request: r}
	if b.closed {
		q.err = unused()
		close(q.done)
		return q
	}
	cc.pending = q
	b.inFlight++
	b.queries.Go(func() {
		ctx, cancel := context.WithTimeout(b.queryCtx, b.o.Timeout)
		defer cancel()
		release, err := b.lock(ctx)
		switch {
		case err != nil && challenge != nil:
			b.update(func() { q.result, q.err = cc.noReplacement(*challenge, q.result, err, "", time.Now()) })
		case err != nil:
			b.take(cc, q, sdk.Credential{}, err, "", b.changed())
		case challenge != nil:
			b.challenge(ctx, cc, q, *challenge)
			release()
		default:
			b.authorize(ctx, cc, q)
			release()
		}
		b.update(func() {
			cc.pending = nil
			b.inFlight--
		})
		close(q.done)
	})
	return q
}

func (b *Broker) update(f func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	f()
}

// lock takes Options.Lock. If the file cannot be locked, on a network share for
// example, it warns once and goes on without a lock.
func (b *Broker) lock(ctx context.Context) (release func(), err error) {
	if b.o.Lock == nil {
		return func() {}, nil
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(b.ctx, cancel)()
	release, err = b.o.Lock(ctx)
	switch {
	case err == nil:
		return release, nil
	case b.ctx.Err() != nil:
		return nil, unused()
	case ctx.Err() != nil:
		return nil, sdk.Errorf(sdk.Deadline, "another process held the lock of the credentials for %s", b.o.Timeout)
	}
	b.warnOnce.Do(func() {
		b.o.Log.Warn("cannot lock the credentials: other processes may refresh them at the same time", "error", err)
	})
	return func() {}, nil
}

// authorizeMost is how often one query asks the provider while the stored secrets
// change.
const authorizeMost = 3

// authorize asks for a credential. A login stores several secrets, so the provider
// may read halfway through and return the credential that was refused. authorize
// asks again if the secrets changed meanwhile. The limit is for providers that write
// with every call.
func (b *Broker) authorize(ctx context.Context, cc *cachedCredential, q *query) {
	for n := 1; ; n++ {
		before := b.changed()
		cred, err := b.o.Auth.Authorize(ctx, q.request)
		after := b.changed()
		if n == authorizeMost || before == after || err != nil || markOf(cred) != b.refusedMark(cc) {
			b.take(cc, q, cred, err, before, after)
			return
		}
	}
}

// refusedMark returns the fingerprint of the credential that was refused for good.
func (b *Broker) refusedMark(cc *cachedCredential) (mark [32]byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if t := cc.failure; t != nil && t.lasting {
		mark = cc.rejections.bad
	}
	return mark
}

// take records the result of Authorize. After an error the query returns the
// credential that is still valid, if there is one.
func (b *Broker) take(cc *cachedCredential, q *query, cred sdk.Credential, err error, before, after string) {
	b.conceal(cred)
	b.update(func() {
		now := time.Now()
		if err == nil {
			err = cc.obtained(cred, after, now)
		} else {
			err = cc.failed(err, before, after, now)
		}
		if cc.valid(now) || err == nil {
			q.cred = cc.cred
			return
		}
		q.err = err
	})
}

// challenge asks the provider about a refused credential. If the stored secrets
// changed since it was obtained, by another process or a login, it first asks for
// the current one.
func (b *Broker) challenge(ctx context.Context, cc *cachedCredential, q *query, c sdk.Challenge) {
	before := b.changed()
	b.mu.Lock()
	stale, mark := before != cc.stamp, cc.mark
	b.mu.Unlock()
	if stale {
		cred, err := b.o.Auth.Authorize(ctx, cc.request)
		if err != nil || markOf(cred) != mark {
			b.replace(cc, q, c, cred, err, before)
			return
		}
	}
	res, err := b.o.Auth.Challenge(ctx, c)
	if err == nil && res.Retry && !res.NeedsLogin {
		cred, err := b.o.Auth.Authorize(ctx, cc.request)
		b.update(func() { cc.scopes = res.Scopes })
		b.replace(cc, q, c, cred, err, before)
		return
	}
	b.update(func() { q.result, q.err = cc.noReplacement(c, res, err, before, time.Now()) })
}

// replace records the credential that replaces the refused one.
func (b *Broker) replace(cc *cachedCredential, q *query, c sdk.Challenge, cred sdk.Credential, err error,
	before string) {
	if err != nil && c.Status != http.StatusUnauthorized { // the old one stays valid for other requests
		b.update(func() {
			if e := asError(err); e.Code == sdk.NeedsLogin {
				q.result = sdk.ChallengeResult{NeedsLogin: true, Reason: e.Message}
				cc.scope.note(c, q.result)
			} else {
				q.err = cc.scope.failed(c, err, time.Now())
			}
		})
		return
	}
	b.update(func() {
		cc.replaced(time.Now())
		cc.cred, cc.mark = nil, markOf(cred)
	})
	b.take(cc, q, cred, err, before, b.changed())
	switch e, _ := q.err.(*sdk.Error); {
	case q.err == nil:
		q.result = sdk.ChallengeResult{Retry: true}
	case e.Code == sdk.NeedsLogin:
		q.result, q.err = sdk.ChallengeResult{NeedsLogin: true, Reason: e.Message}, nil
	}
}

// conceal passes each value, and the part after an authentication scheme, to
// Options.Conceal.
func (b *Broker) conceal(c sdk.Credential) {
	if b.o.Conceal == nil {
		return
	}
	for _, values := range []map[string]string{c.Headers, c.Query} {
		for _, name := range slices.Sorted(maps.Keys(values)) {
			value := values[name]
			b.o.Conceal(value)
			if _, token, ok := strings.Cut(value, " "); ok {
				b.o.Conceal(strings.TrimSpace(token))
			}
		}
	}
}
