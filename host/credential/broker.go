package credential

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/host/filelock"
	"github.com/junctor-mcp/junctor/sdk"
)

const (
	maxEntries     = 16               // credentials of one server and tenant, one for each purpose
	defaultTimeout = 30 * time.Second // limit of one query to the provider
	drainTimeout   = 3 * time.Second  // how long Close waits for queries in flight before it cancels them
)

// Options configure a [Broker]. They do not change after New. The functions may be called
// concurrently, but for Lock, of which a broker has one call at a time for each query.
type Options struct {
	Server, Tenant string // used in messages that ask for a login
	Auth           sdk.Authorizer

	// Lock takes the lock that other processes with the same secrets respect, so
	// that only one of them asks the provider. It may be nil. See [LockFile].
	Lock func(context.Context) (release func(), err error)
	// Changed returns a version of the stored secrets. It differs after every
	// write by any process. The broker calls it for every request. nil means
	// that the secrets never change.
	Changed func() string
	// Conceal receives every value that must not be printed. It may be nil.
	Conceal func(secret string)

	Log     hclog.Logger
	Timeout time.Duration // limit of one query to the provider; 0 means 30 seconds
}

// LockFile returns a function for Options.Lock that takes the lock of a file. It
// creates the file when it is first called.
func LockFile(path string) func(context.Context) (release func(), err error) {
	return func(ctx context.Context) (func(), error) { return filelock.Lock(ctx, path) }
}

// A Broker caches the credentials for one server and one tenant. Its methods may
// be called concurrently. A Pool, or a command that needs one, makes it and must call Close.
type Broker struct {
	o             Options
	ctx           context.Context // ends when Close begins
	cancel        context.CancelFunc
	queryCtx      context.Context // ends when queries in flight are cancelled
	cancelQueries context.CancelFunc
	queries       sync.WaitGroup
	warnOnce      sync.Once

	mu       sync.Mutex
	closed   bool                         // guarded by mu
	inFlight int                          // guarded by mu; queries in flight, also those that have no waiting caller
	entries  map[string]*cachedCredential // by purpose, see keyOf; mu guards the map and its values
	latest   *cachedCredential            // guarded by mu; the entry of the latest call
}

var _ sdk.Credentials = (*Broker)(nil)

// New returns a Broker. It does not call the provider yet.
func New(o Options) *Broker {
	if o.Timeout == 0 {
		o.Timeout = defaultTimeout
	}
	if o.Log == nil {
		o.Log = hclog.NewNullLogger()
	}
	b := &Broker{o: o, entries: map[string]*cachedCredential{}}
	b.ctx, b.cancel = context.WithCancel(context.Background())
	b.queryCtx, b.cancelQueries = context.WithCancel(context.Background())
	return b
}

// Authorize returns a credential to present, from memory if possible. ctx bounds
// how long this caller waits. It does not cancel the query to the provider: other
// callers may share the query, and its result may hold the only copy of a new
// refresh token. Authorize fails with the provider's error, with [sdk.NeedsLogin]
// if a person has to log in, and with [sdk.Canceled] after Close.
func (b *Broker) Authorize(ctx context.Context, r sdk.AuthRequest) (sdk.Credential, error) {
	cc, err := b.find(r)
	if err != nil {
		return sdk.Credential{}, err
	}
	for {
		stamp := b.changed()
		b.mu.Lock()
		q := cc.pending
		started := q == nil
		if started {
			if cred, err := cc.cached(stamp, time.Now()); cred != nil || err != nil {
				b.mu.Unlock()
				return valueOf(cred, err)
			}
			q = b.start(cc, r, nil)
		}
		b.mu.Unlock()
		if err := b.wait(ctx, q); err != nil {
			return sdk.Credential{}, err
		}
		if q.challenge || !started && q.cred != nil && q.cred.PerRequest {
			continue // the query was a challenge, or its credential is for another request
		}
		b.mu.Lock()
		if q.cred != nil {
			cc.recordUse(time.Now())
		}
		b.mu.Unlock()
		return valueOf(q.cred, q.err)
	}
}

func valueOf(cred *sdk.Credential, err error) (sdk.Credential, error) {
	if cred == nil {
		return sdk.Credential{}, err
	}
	return *cred, nil
}

// Challenge reports a refused credential and returns whether a retry is worth it.
// All callers that were refused the same credential share one query to the
// provider. An Attempt above 1 means that the server also refused the replacement;
// that only counts as a further refusal.
func (b *Broker) Challenge(ctx context.Context, c sdk.Challenge) (sdk.ChallengeResult, error) {
	cc, err := b.find(c.AuthRequest)
	if err != nil {
		return sdk.ChallengeResult{}, err
	}
	b.mu.Lock()
	arrived := cc.generation
	b.mu.Unlock()
	for {
		stamp := b.changed()
		b.mu.Lock()
		q := cc.pending
		started := q == nil
		if started {
			if res, err, done := cc.decide(c, arrived, stamp, time.Now()); done {
				b.mu.Unlock()
				return b.withCommand(res), err
			}
			q = b.start(cc, c.AuthRequest, &c)
		}
		b.mu.Unlock()
		if err := b.wait(ctx, q); err != nil {
			return sdk.ChallengeResult{}, err
		}
		if started {
			return b.withCommand(q.result), q.err
		}
	}
}

// withCommand adds the login command to the reason that transports show to people.
func (b *Broker) withCommand(res sdk.ChallengeResult) sdk.ChallengeResult {
	if res.NeedsLogin {
		res.Reason = needsLogin(res.Reason, b.o.Server, b.o.Tenant).Message + ": run `" + command(b.o.Server,
			b.o.Tenant) + "`"
	}
	return res
}

// Forget drops all cached credentials. Callers use it after a login, a logout or
// any other change of what the provider would return.
func (b *Broker) Forget() {
	b.mu.Lock()
	defer b.mu.Unlock()
	// A query in flight still answers its waiting callers. Its result goes into an
	// entry that is no longer in the map.
	b.entries, b.latest = map[string]*cachedCredential{}, nil
}

// Close fails all waiting callers at once and returns when no query is in flight.
// Queries get drainTimeout to complete, with the lock held. A refresh that is cut
// off halfway would spend the old refresh token and lose the new one.
func (b *Broker) Close() {
	b.mu.Lock()
	b.closed = true
	b.mu.Unlock()
	b.cancel()
	late := time.AfterFunc(drainTimeout, b.cancelQueries)
	b.queries.Wait()
	late.Stop()
	b.cancelQueries()
}

// find returns the entry for the purpose of a request. It creates one if needed.
func (b *Broker) find(r sdk.AuthRequest) (*cachedCredential, error) {
	key := keyOf(r)
	b.mu.Lock()
	defer b.mu.Unlock()
	cc := b.entries[key]
	if cc == nil {
		if len(b.entries) >= maxEntries && !b.evict() {
			return nil, sdk.Errorf(sdk.Denied, "too many purposes: one server may have credentials for %d combinations of resource, scopes and subject",
				maxEntries)
		}
		cc = &cachedCredential{request: r, server: b.o.Server, tenant: b.o.Tenant}
		b.entries[key] = cc
	}
	cc.used = time.Now()
	b.latest = cc
	return cc, nil
}

// evict removes the entry that was used longest ago and reports whether it did.
// Entries with a failure stay. Otherwise a caller could reset the count of
// refusals by asking for many purposes.
func (b *Broker) evict() bool {
	var oldest string
	for key, cc := range b.entries {
		if cc.pending == nil && cc.strikes == 0 && cc.failure == nil &&
			(oldest == "" || cc.used.Before(b.entries[oldest].used)) {
			oldest = key
		}
	}
	delete(b.entries, oldest)
	return oldest != ""
}

func (b *Broker) changed() string {
	if b.o.Changed == nil {
		return ""
	}
	return b.o.Changed()
}

// A State describes the credential that was requested last. It contains no secret.
type State struct {
	Kind    string // "unknown" (not requested yet), "ready", "needs_login", "refused" or "failed"
	Account string
	Scopes  []string  // that the server asked for; may be empty
	Expires time.Time // zero: unknown
	Since   time.Time // zero for "unknown"
	Reason  string    // why Kind is not "ready"
	Asked   time.Time // when the running call of the provider began; zero: none runs
}

// State returns the state of the latest credential without asking the provider.
func (b *Broker) State() State {
	b.mu.Lock()
	defer b.mu.Unlock()
	cc := b.latest
	if cc == nil {
		return State{Kind: "unknown"}
	}
	s := State{Kind: cmp.Or(cc.kind, "unknown"), Scopes: slices.Clone(cc.scopes), Since: cc.since}
	if cc.pending != nil {
		s.Asked = cc.pending.begun
	}
	if cc.cred != nil {
		s.Account, s.Expires = cc.cred.Account, cc.cred.Expires
	}
	if cc.failure != nil {
		s.Reason = cc.failure.err.Message
	}
	return s
}
