package credential

import (
	"context"
	"sync"
	"time"

	"github.com/junctor-mcp/junctor/sdk"
)

const (
	restTime   = time.Hour      // without use, after which a broker is given up
	grudgeTime = 24 * time.Hour // the same of one that remembers a refusal, which keeps the server in peace
	sweepEvery = 5 * time.Minute
)

// A Key is whose credentials a broker keeps.
type Key struct{ Server, Tenant string }

// A Pool keeps brokers. They are made when they are needed and given up when they
// were not for long: there may be as many as servers and tenants, and what they
// know can be had again, for the provider has kept what is worth it. The zero
// value is one that is empty. Its methods may be called concurrently.
type Pool struct {
	mu     sync.Mutex
	all    map[Key]*member // guarded by mu
	closed bool            // guarded by mu
}

// A member is a broker and how it is used; guarded by the pool's mu.
type member struct {
	broker *Broker
	end    func() // ends its provider
	users  int    // calls in flight
	used   time.Time
}

func (m *member) close() {
	m.broker.Close()
	m.end()
}

// Credentials are those of a key, for as long as anybody likes to ask. open makes
// the broker, and what ends its provider, whenever there is none.
func (p *Pool) Credentials(k Key, open func() (b *Broker, end func())) sdk.Credentials {
	return &borrower{pool: p, key: k, open: open}
}

type borrower struct {
	pool *Pool
	key  Key
	open func() (*Broker, func())
}

func (b *borrower) Authorize(ctx context.Context, r sdk.AuthRequest) (sdk.Credential, error) {
	broker, done := b.pool.borrow(b.key, b.open)
	defer done()
	return broker.Authorize(ctx, r)
}

func (b *borrower) Challenge(ctx context.Context, c sdk.Challenge) (sdk.ChallengeResult, error) {
	broker, done := b.pool.borrow(b.key, b.open)
	defer done()
	return broker.Challenge(ctx, c)
}

// borrow returns the broker of a key, which stays until done.
func (p *Pool) borrow(k Key, open func() (*Broker, func())) (b *Broker, done func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	m := p.all[k]
	if m == nil {
		m = new(member)
		m.broker, m.end = open()
		if p.closed {
			m.close() // nothing was started; the broker answers that it is closed
			return m.broker, func() {}
		}
		if p.all == nil {
			p.all = map[Key]*member{}
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

// find returns the broker of a key where there is one, which does not count as use.
func (p *Pool) find(k Key) *Broker {
	p.mu.Lock()
	defer p.mu.Unlock()
	if m := p.all[k]; m != nil {
		return m.broker
	}
	return nil
}

// State says how it stands with the credentials of a key, without asking anybody.
func (p *Pool) State(k Key) State {
	if b := p.find(k); b != nil {
		return b.State()
	}
	return State{Kind: "unknown"}
}

// Forget makes the broker of a key ask anew.
func (p *Pool) Forget(k Key) {
	if b := p.find(k); b != nil {
		b.Forget()
	}
}

// Tenants are those on whose behalf a server was reached lately.
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

// Attend gives up brokers that rest, until ctx ends.
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
	var over []*member
	p.mu.Lock()
	for k, m := range p.all {
		if m.users == 0 && m.broker.rests(now.Sub(m.used)) {
			over = append(over, m)
			delete(p.all, k)
		}
	}
	p.mu.Unlock()
	closeAll(over)
}

// Close ends all of them. Whoever asks after that is told so.
func (p *Pool) Close() {
	var all []*member
	p.mu.Lock()
	for _, m := range p.all {
		all = append(all, m)
	}
	p.all, p.closed = nil, true
	p.mu.Unlock()
	closeAll(all)
}

func closeAll(all []*member) {
	var wg sync.WaitGroup
	for _, m := range all {
		wg.Go(m.close)
	}
	wg.Wait()
}

// rests reports whether a broker can be given up that was not used for a while.
func (b *Broker) rests(unused time.Duration) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	limit := restTime
	for _, h := range b.held {
		if h.strikes > 0 || h.trouble != nil || h.scope.strikes > 0 {
			limit = grudgeTime
		}
	}
	return b.asking == 0 && unused > limit
}
