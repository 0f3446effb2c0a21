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

// A question to the provider is asked for all who wait for it.
type question struct {
	done      chan struct{}
	challenge bool
	request   sdk.AuthRequest // of the caller who made the broker ask

	// What came of it; valid once done is closed.
	cred   *sdk.Credential
	result sdk.ChallengeResult
	err    error
}

// wait waits for the end of a question, while the caller and the broker last.
func (b *Broker) wait(ctx context.Context, q *question) error {
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

// ask begins a question; the broker's lock is held. It is about a refusal, where
// there is one. No other process asks at the same time.
func (b *Broker) ask(h *cachedCredential, r sdk.AuthRequest, refusal *sdk.Challenge) *question {
	q := &question{done: make(chan struct{}), challenge: refusal != nil, request: r}
	if b.closed {
		q.err = unused()
		close(q.done)
		return q
	}
	h.asking = q
	b.asking++
	b.work.Go(func() {
		ctx, cancel := context.WithTimeout(b.last, b.o.Timeout)
		defer cancel()
		release, err := b.lock(ctx)
		switch {
		case err != nil && refusal != nil:
			b.settle(func() { q.result, q.err = h.helpless(*refusal, q.result, err, "", time.Now()) })
		case err != nil:
			b.take(h, q, sdk.Credential{}, err, "", b.changed())
		case refusal != nil:
			b.challenge(ctx, h, q, *refusal)
			release()
		default:
			b.authorize(ctx, h, q)
			release()
		}
		b.settle(func() {
			h.asking = nil
			b.asking--
		})
		close(q.done)
	})
	return q
}

func (b *Broker) settle(f func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	f()
}

// lock keeps other processes out. A file that cannot be locked, on a network
// share for example, is no reason to go without credentials.
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
		return nil, sdk.Errorf(sdk.Deadline, "another process has been busy with the credentials for %s", b.o.Timeout)
	}
	b.warn.Do(func() {
		b.o.Log.Warn("other processes are not kept from refreshing at the same time", "error", err)
	})
	return func() {}, nil
}

// authorizeMost is how often the provider is asked at once while what it goes by
// changes.
const authorizeMost = 3

// authorize asks for a credential. A login stores more than one secret: who asks
// in between may be given the one that was refused, and must not take it for all
// there is. A provider that writes something each time is not asked without end.
func (b *Broker) authorize(ctx context.Context, h *cachedCredential, q *question) {
	for n := 1; ; n++ {
		before := b.changed()
		cred, err := b.o.Auth.Authorize(ctx, q.request)
		after := b.changed()
		if n == authorizeMost || before == after || err != nil || markOf(cred) != b.bad(h) {
			b.take(h, q, cred, err, before, after)
			return
		}
	}
}

// bad is the mark of what was refused to the end, if anything was.
func (b *Broker) bad(h *cachedCredential) (mark [32]byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if t := h.trouble; t != nil && t.lasting {
		mark = h.refusals.bad
	}
	return mark
}

// take keeps the provider's answer to Authorize, and where that is an error
// answers with what there still is.
func (b *Broker) take(h *cachedCredential, q *question, cred sdk.Credential, err error, before, after string) {
	b.conceal(cred)
	b.settle(func() {
		now := time.Now()
		if err == nil {
			err = h.obtained(cred, after, now)
		} else {
			err = h.failed(err, before, after, now)
		}
		if h.valid(now) || err == nil {
			q.cred = h.cred
			return
		}
		q.err = err
	})
}

// challenge asks what to do about a refusal. Where another process, or a person,
// has stored something since the credential was obtained, that may be the answer.
func (b *Broker) challenge(ctx context.Context, h *cachedCredential, q *question, c sdk.Challenge) {
	before := b.changed()
	b.mu.Lock()
	stale, mark := before != h.stamp, h.mark
	b.mu.Unlock()
	if stale {
		cred, err := b.o.Auth.Authorize(ctx, h.request)
		if err != nil || markOf(cred) != mark {
			b.renewed(h, q, c, cred, err, before)
			return
		}
	}
	res, err := b.o.Auth.Challenge(ctx, c)
	if err == nil && res.Retry && !res.NeedsLogin {
		cred, err := b.o.Auth.Authorize(ctx, h.request)
		b.settle(func() { h.scopes = res.Scopes })
		b.renewed(h, q, c, cred, err, before)
		return
	}
	b.settle(func() { q.result, q.err = h.helpless(c, res, err, before, time.Now()) })
}

// renewed takes what the provider has instead of what was refused.
func (b *Broker) renewed(h *cachedCredential, q *question, c sdk.Challenge, cred sdk.Credential, err error, before string) {
	if err != nil && c.Status != http.StatusUnauthorized { // what there is stays good for other requests
		b.settle(func() {
			if e := asError(err); e.Code == sdk.NeedsLogin {
				q.result = sdk.ChallengeResult{NeedsLogin: true, Reason: e.Message}
				h.scope.note(c, q.result)
			} else {
				q.err = h.scope.failed(c, err, time.Now())
			}
		})
		return
	}
	b.settle(func() {
		h.replaced(time.Now())
		h.cred, h.mark = nil, markOf(cred)
	})
	b.take(h, q, cred, err, before, b.changed())
	switch e, _ := q.err.(*sdk.Error); {
	case q.err == nil:
		q.result = sdk.ChallengeResult{Retry: true}
	case e.Code == sdk.NeedsLogin:
		q.result, q.err = sdk.ChallengeResult{NeedsLogin: true, Reason: e.Message}, nil
	}
}

// conceal tells what must not be printed: each value, and what of it stands
// behind the name of a scheme.
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
