package credential

import (
	"context"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/sdk"
)

const (
	heldMost    = 16               // credentials of one server and tenant, each for other scopes or on behalf of somebody else
	defaultTime = 30 * time.Second // of one question to the provider
	lastTime    = 3 * time.Second  // of one that is under way when the broker is closed
)

// Options say whose credentials a [Broker] keeps.
type Options struct {
	Server, Tenant string // who has to log in, for the texts that say so
	Auth           sdk.Authorizer

	// Lock keeps other processes that use the same secrets from asking at the
	// same time; nil where there are none. See [LockFile].
	Lock func(context.Context) (release func(), err error)
	// Changed is a stamp of what is stored: it differs when anything there was
	// written, by whomever. It is asked for every request. nil: nothing changes.
	Changed func() string
	// Conceal is told everything that must not be printed; nil: nobody prints.
	Conceal func(secret string)

	Log     hclog.Logger
	Timeout time.Duration // of one question to the provider; 0: 30 seconds
}

// A Broker keeps what is presented to one server on behalf of one tenant. Its
// methods may be called concurrently.
type Broker struct {
	o    Options
	ctx  context.Context // ends with the broker
	end  context.CancelFunc
	last context.Context // ends with the last question
	stop context.CancelFunc
	work sync.WaitGroup
	warn sync.Once

	mu     sync.Mutex
	closed bool                         // guarded by mu
	asking int                          // guarded by mu; questions under way, also those nobody waits for
	held   map[string]*cachedCredential // guarded by mu, and so is what it holds; by what it is for
	latest *cachedCredential            // guarded by mu; that was asked for last
}

var _ sdk.Credentials = (*Broker)(nil)

// New makes a broker. It asks nothing yet.
func New(o Options) *Broker {
	if o.Timeout == 0 {
		o.Timeout = defaultTime
	}
	if o.Log == nil {
		o.Log = hclog.NewNullLogger()
	}
	b := &Broker{o: o, held: map[string]*cachedCredential{}}
	b.ctx, b.end = context.WithCancel(context.Background())
	b.last, b.stop = context.WithCancel(context.Background())
	return b
}

// Authorize returns what to present, from memory where it can. ctx bounds how
// long this caller waits; the question to the provider is everybody's and goes
// on without it, because an answer that nobody reads may hold the only copy of
// a refresh token.
func (b *Broker) Authorize(ctx context.Context, r sdk.AuthRequest) (sdk.Credential, error) {
	h, err := b.find(r)
	if err != nil {
		return sdk.Credential{}, err
	}
	for {
		stamp := b.changed()
		b.mu.Lock()
		q := h.asking
		mine := q == nil
		if mine {
			if cred, err := h.answer(stamp, time.Now()); cred != nil || err != nil {
				b.mu.Unlock()
				return handed(cred, err)
			}
			q = b.ask(h, r, nil)
		}
		b.mu.Unlock()
		if err := b.wait(ctx, q); err != nil {
			return sdk.Credential{}, err
		}
		if q.challenge || !mine && q.cred != nil && q.cred.PerRequest {
			continue // it was about something else, or for somebody else's request
		}
		b.mu.Lock()
		if q.cred != nil {
			h.hand(time.Now())
		}
		b.mu.Unlock()
		return handed(q.cred, q.err)
	}
}

func handed(cred *sdk.Credential, err error) (sdk.Credential, error) {
	if cred == nil {
		return sdk.Credential{}, err
	}
	return *cred, nil
}

// Challenge takes a refusal to the provider, once for all who were refused the
// same credential. An Attempt above 1 says that what was new was refused as
// well: it only counts.
func (b *Broker) Challenge(ctx context.Context, c sdk.Challenge) (sdk.ChallengeResult, error) {
	h, err := b.find(c.AuthRequest)
	if err != nil {
		return sdk.ChallengeResult{}, err
	}
	b.mu.Lock()
	arrived := h.generation
	b.mu.Unlock()
	for {
		stamp := b.changed()
		b.mu.Lock()
		q := h.asking
		mine := q == nil
		if mine {
			if res, err, done := h.refused(c, arrived, stamp, time.Now()); done {
				b.mu.Unlock()
				return b.told(res), err
			}
			q = b.ask(h, c.AuthRequest, &c)
		}
		b.mu.Unlock()
		if err := b.wait(ctx, q); err != nil {
			return sdk.ChallengeResult{}, err
		}
		if mine {
			return b.told(q.result), q.err
		}
	}
}

// told completes a result for a transport, which shows its reason to people.
func (b *Broker) told(res sdk.ChallengeResult) sdk.ChallengeResult {
	if res.NeedsLogin {
		res.Reason = needsLogin(res.Reason, b.o.Server, b.o.Tenant).Message + ": run `" + command(b.o.Server, b.o.Tenant) + "`"
	}
	return res
}

// Forget makes the broker ask anew, after a login, a logout, or whatever else
// changed what the provider would say.
func (b *Broker) Forget() {
	b.mu.Lock()
	defer b.mu.Unlock()
	// A question that is under way answers those who wait for it, and nobody
	// else: what it brings goes into a place that is no longer looked at.
	b.held, b.latest = map[string]*cachedCredential{}, nil
}

// Close sends everybody away who waits, and returns when nothing is under way.
// What the provider has begun gets a moment to end by itself, with the lock held:
// of a refresh that is cut off halfway, the old refresh token is used up and the
// new one nobody's.
func (b *Broker) Close() {
	b.mu.Lock()
	b.closed = true
	b.mu.Unlock()
	b.end()
	late := time.AfterFunc(lastTime, b.stop)
	b.work.Wait()
	late.Stop()
	b.stop()
}

// find returns the place of what a request needs.
func (b *Broker) find(r sdk.AuthRequest) (*cachedCredential, error) {
	key := keyOf(r)
	b.mu.Lock()
	defer b.mu.Unlock()
	h := b.held[key]
	if h == nil {
		if len(b.held) >= heldMost && !b.evict() {
			return nil, sdk.Errorf(sdk.Denied, "credentials were asked for %d different purposes already", heldMost)
		}
		h = &cachedCredential{request: r, server: b.o.Server, tenant: b.o.Tenant}
		b.held[key] = h
	}
	h.used = time.Now()
	b.latest = h
	return h, nil
}

// evict makes room. What was refused stays, or whoever asks for ever new
// purposes would be free to begin anew.
func (b *Broker) evict() bool {
	var oldest string
	for key, h := range b.held {
		if h.asking == nil && h.strikes == 0 && h.trouble == nil && (oldest == "" || h.used.Before(b.held[oldest].used)) {
			oldest = key
		}
	}
	delete(b.held, oldest)
	return oldest != ""
}

func (b *Broker) changed() string {
	if b.o.Changed == nil {
		return ""
	}
	return b.o.Changed()
}
