package credential

import (
	"context"
	"sync"
	"time"

	"github.com/junctor-mcp/junctor/sdk"
)

const (
	idleTime = time.Hour // unused brokers are closed after this time
	// The same for brokers that remember a refusal, so that the server is not asked again.
	idleTimeRefused = 24 * time.Hour
	sweepEvery      = 5 * time.Minute
)

// A Key identifies a broker in a [Pool].
type Key struct {
	Server, Tenant string
	// Version differs after a reload that changed the server: the broker before it must
	// not answer for the new settings.
	Version string
}

// A Pool creates brokers on demand and closes those that are idle. There may be one
// for each pair of server and tenant. A closed broker loses nothing of value,
// because providers persist their own state. The zero value is an empty pool. Its
// methods may be called concurrently.
type Pool struct {
	mu     sync.Mutex
	all    map[Key]*poolEntry // guarded by mu
	closed bool               // guarded by mu
}

// A poolEntry is a broker and its use. The pool's mu guards it.
type poolEntry struct {
	broker *Broker
	end    func() // closes the provider
	users  int    // calls in flight
	used   time.Time
}

func (m *poolEntry) close() {
	m.broker.Close()
	m.end()
}

// Credentials returns the credentials of a key. The value stays usable when the
// pool closes the broker. open creates a broker and the function that closes its
// provider; the pool calls it whenever the key has no broker.
func (p *Pool) Credentials(k Key, open func() (b *Broker, end func())) sdk.Credentials {
	return &pooledCredentials{pool: p, key: k, open: open}
}

type pooledCredentials struct {
	pool *Pool
	key  Key
	open func() (*Broker, func())
}

func (b *pooledCredentials) Authorize(ctx context.Context, r sdk.AuthRequest) (sdk.Credential, error) {
	broker, done := b.pool.acquire(b.key, b.open)
	defer done()
	return broker.Authorize(ctx, r)
}

func (b *pooledCredentials) Challenge(ctx context.Context, c sdk.Challenge) (sdk.ChallengeResult, error) {
	broker, done := b.pool.acquire(b.key, b.open)
	defer done()
	return broker.Challenge(ctx, c)
}

// acquire returns the broker of a key. It stays open until the caller calls done. The caller
// must call done once. open runs with the lock held, so it must not wait.
func (p *Pool) acquire(k Key, open func() (*Broker, func())) (b *Broker, done func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	m := p.all[k]
	if m == nil {
		m = new(poolEntry)
		m.broker, m.end = open()
		if p.closed {
			m.close() // it has started nothing, and answers Canceled from now on
			return m.broker, func() {}
		}
		if p.all == nil {
			p.all = map[Key]*poolEntry{}
		}
		p.all[k] = m
	}
	m.users++
	return m.broker, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		m.users--
		m.used = time.Now()
	}
}

// find returns the broker of a key, or nil. It does not count as use.
func (p *Pool) find(k Key) *Broker {
	p.mu.Lock()
	defer p.mu.Unlock()
	if m := p.all[k]; m != nil {
		return m.broker
	}
	return nil
}

// State returns the state of a key's credentials without asking the provider.
func (p *Pool) State(k Key) State {
	if b := p.find(k); b != nil {
		return b.State()
	}
	return State{Kind: "unknown"}
}

// Forget drops what the broker of a key has cached.
func (p *Pool) Forget(k Key) {
	if b := p.find(k); b != nil {
		b.Forget()
	}
}

// Tenants returns the tenants of a server that have a broker now.
func (p *Pool) Tenants(server string) (tenants []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for k := range p.all {
		if k.Server == server {
			tenants = append(tenants, k.Tenant)
		}
	}
	return tenants
}

// Attend closes idle brokers every five minutes until ctx ends. It blocks; package host gives
// it a goroutine.
func (p *Pool) Attend(ctx context.Context) {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			p.sweep(time.Now())
		case <-ctx.Done():
			return
		}
	}
}

func (p *Pool) sweep(now time.Time) {
	p.closeIf(func(_ Key, m *poolEntry) bool { return m.broker.idle(now.Sub(m.used)) })
}

// CloseOtherVersions closes the brokers of a server that have another version, except
// those in use, which are closed when they are idle.
func (p *Pool) CloseOtherVersions(server, version string) {
	p.closeIf(func(k Key, m *poolEntry) bool {
		return k.Server == server && k.Version != version && !m.broker.asking()
	})
}

// closeIf closes the brokers without calls for which over returns true.
func (p *Pool) closeIf(over func(Key, *poolEntry) bool) {
	var all []*poolEntry
	p.mu.Lock()
	for k, m := range p.all {
		if m.users == 0 && over(k, m) {
			all = append(all, m)
			delete(p.all, k)
		}
	}
	p.mu.Unlock()
	closeAll(all)
}

// Close closes all brokers. Later requests fail with [sdk.Canceled]. It blocks until all
// brokers are closed.
func (p *Pool) Close() {
	var all []*poolEntry
	p.mu.Lock()
	for _, m := range p.all {
		all = append(all, m)
	}
	p.all, p.closed = nil, true
	p.mu.Unlock()
	closeAll(all)
}

func closeAll(all []*poolEntry) {
	var wg sync.WaitGroup
	for _, m := range all {
		wg.Go(m.close)
	}
	wg.Wait()
}

// idle reports whether a broker that was unused for a time can be closed.
func (b *Broker) idle(unused time.Duration) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	limit := idleTime
	for _, cc := range b.entries {
		if cc.strikes > 0 || cc.failure != nil || cc.scope.strikes > 0 {
			limit = idleTimeRefused
		}
	}
	return b.inFlight == 0 && unused > limit
}

// asking reports whether a query of the provider is in flight, which may return a
// refresh token.
func (b *Broker) asking() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.inFlight > 0
}
