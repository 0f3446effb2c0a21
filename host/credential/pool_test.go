package credential

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/testdata/bubble"
)

// A testPool is a pool of brokers of one provider. It counts the open ones.
type testPool struct {
	Pool
	opened, open atomic.Int32
}

func (c *testPool) of(tenant string, p *provider) sdk.Credentials {
	return c.Credentials(Key{Server: "github", Tenant: tenant}, func() (*Broker, func()) {
		c.opened.Add(1)
		c.open.Add(1)
		return New(Options{Server: "github", Tenant: tenant, Auth: p}), func() { c.open.Add(-1) }
	})
}

// newTestPool attends a pool until the test ends and checks that all brokers closed.
func newTestPool(t *testing.T) *testPool {
	c := new(testPool)
	ctx := t.Context()
	done := make(chan struct{})
	go func() { c.Attend(ctx); close(done) }()
	t.Cleanup(func() {
		<-done
		if c.Close(); c.open.Load() != 0 || len(c.all) != 0 {
			t.Errorf("%d are open in the end", c.open.Load())
		}
	})
	return c
}

// TestPoolClosesIdleBrokers: of the tenants of a week, the pool keeps those of the last
// hour. A tenant that returns later gets a new broker.
func TestPoolClosesIdleBrokers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newTestPool(t)
		p := &provider{authorize: func(n int) (sdk.Credential, error) { return bearer(n, 0), nil }}
		first := c.of("tenant-0", p)
		most := int32(0)
		for n := range 7 * 24 * 30 { // one every two minutes
			cred, err := c.of(fmt.Sprintf("tenant-%d", n), p).Authorize(t.Context(), request)
			if err != nil || cred.Headers["Authorization"] != fmt.Sprintf("Bearer token-%d", n+1) {
				t.Fatalf("%v, %v", cred, err)
			}
			most = max(most, c.open.Load())
			bubble.Sleep(2 * time.Minute)
		}
		if most < 30 || most > 35 {
			t.Errorf("%d were open at the same time", most)
		}
		if s := c.State(Key{Server: "github", Tenant: "tenant-0"}); s.Kind != "unknown" {
			t.Errorf("the first is %+v", s)
		}
		if cred, err := first.Authorize(t.Context(), request); err != nil ||
			cred.Headers["Authorization"] != "Bearer token-5041" {
			t.Errorf("the first gets %v, %v", cred, err)
		}
		if got := c.Tenants("github"); len(got) > 35 || len(c.Tenants("gitlab")) != 0 {
			t.Errorf("there are %d", len(got))
		}
	})
}

// TestPoolKeepsBusyBrokers: a slow call keeps its broker open. So does a query without a
// waiting caller, since its result may contain a refresh token.
func TestPoolKeepsBusyBrokers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newTestPool(t)
		p := &provider{authorize: func(n int) (sdk.Credential, error) { return bearer(n, 0), nil },
			takes: 3 * time.Hour}
		slow := func(tenant string) sdk.Credentials {
			return c.Credentials(Key{Server: "github", Tenant: tenant}, func() (*Broker, func()) {
				c.open.Add(1)
				return New(Options{Server: "github", Auth: p, Timeout: 9 * time.Hour}), func() { c.open.Add(-1) }
			})
		}
		answered := make(chan error, 1)
		go func() {
			_, err := slow("patient").Authorize(t.Context(), request)
			answered <- err
		}()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := slow("leaves").Authorize(ctx, request); err == nil {
			t.Error("it was answered at once")
		}
		bubble.Sleep(150 * time.Minute)
		if c.open.Load() != 2 {
			t.Errorf("%d are open while both are asked about", c.open.Load())
		}
		if err := <-answered; err != nil {
			t.Error(err)
		}
		bubble.Sleep(10 * time.Minute)
		if c.open.Load() != 1 {
			t.Errorf("%d are open: that of the call has just been used, and nothing goes on in the other",
				c.open.Load())
		}
		if bubble.Sleep(2 * time.Hour); c.open.Load() != 0 {
			t.Errorf("%d are open that nobody uses", c.open.Load())
		}
	})
}

// TestPoolRemembersRefusals: a broker remembers a refusal longer than an hour without
// use. Of hourly calls to a server that refuses everything, at most four present a
// credential.
func TestPoolRemembersRefusals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newTestPool(t)
		p := &provider{challenge: retry, authorize: func(n int) (sdk.Credential, error) { return bearer(n, 0), nil }}
		presented := 0
		for range 48 {
			for attempt := 1; attempt < 3; attempt++ {
				if _, err := c.of("acme", p).Authorize(t.Context(), request); err != nil {
					break
				}
				presented++
				if _, err := c.of("acme", p).Challenge(t.Context(),
					sdk.Challenge{AuthRequest: request, Status: http.StatusUnauthorized,
						Attempt: attempt}); err != nil {
					t.Fatal(err)
				}
			}
			bubble.Sleep(61 * time.Minute)
		}
		if presented > 4 || c.opened.Load() != 1 {
			t.Errorf("%d presented, %d brokers", presented, c.opened.Load())
		}
		if bubble.Sleep(25 * time.Hour); c.open.Load() != 0 {
			t.Error("it is kept for ever")
		}
	})
}

// TestPoolClose: a closed pool serves no calls and has no open brokers.
func TestPoolClose(t *testing.T) {
	c := new(testPool)
	p := &provider{authorize: func(n int) (sdk.Credential, error) { return bearer(n, 0), nil }}
	one := c.of("acme", p)
	c.Forget(Key{Server: "github", Tenant: "acme"}) // no broker yet
	if _, err := one.Authorize(t.Context(), request); err != nil {
		t.Error(err)
	}
	c.Forget(Key{Server: "github", Tenant: "acme"})
	c.Close()
	if _, err := one.Authorize(t.Context(), request); sdk.CodeOf(err) != sdk.Canceled {
		t.Error(err)
	}
	if _, err := one.Challenge(t.Context(),
		sdk.Challenge{AuthRequest: request, Status: http.StatusUnauthorized}); err == nil {
		t.Error("a refusal is answered after the end")
	}
	if c.open.Load() != 0 {
		t.Errorf("%d are open", c.open.Load())
	}
}
