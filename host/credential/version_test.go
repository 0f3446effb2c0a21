package credential

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/junctor-mcp/junctor/sdk"
)

// TestPoolKeepsVersionsApart: after the settings of a server have changed, the broker
// that was made of the earlier ones does not answer.
func TestPoolKeepsVersionsApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newTestPool(t)
		for _, version := range []string{"old", "new", "old"} {
			p := &provider{authorize: func(int) (sdk.Credential, error) {
				return sdk.Credential{Headers: map[string]string{"Authorization": version}}, nil
			}}
			cred, err := c.Credentials(Key{Server: "github", Version: version}, func() (*Broker, func()) {
				c.open.Add(1)
				return New(Options{Server: "github", Auth: p}), func() { c.open.Add(-1) }
			}).Authorize(t.Context(), request)
			if err != nil || cred.Headers["Authorization"] != version {
				t.Errorf("%s: %v, %v", version, cred, err)
			}
		}
	})
}

// TestPoolClosesOtherVersions: the brokers of earlier settings of a server are closed
// when they are not in use. Those of other servers stay.
func TestPoolClosesOtherVersions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newTestPool(t)
		of := func(server, version string, takes time.Duration) sdk.Credentials {
			p := &provider{authorize: func(n int) (sdk.Credential, error) { return bearer(n, 0), nil }, takes: takes}
			return c.Credentials(Key{Server: server, Version: version}, func() (*Broker, func()) {
				c.open.Add(1)
				return New(Options{Server: server, Auth: p}), func() { c.open.Add(-1) }
			})
		}
		for _, k := range []Key{{Server: "github", Version: "1"}, {Server: "github", Version: "2"},
			{Server: "gitlab", Version: "1"}} {
			if _, err := of(k.Server, k.Version, 0).Authorize(t.Context(), request); err != nil {
				t.Fatal(err)
			}
		}
		answered := make(chan error, 1)
		go func() {
			_, err := of("github", "busy", time.Second).Authorize(t.Context(), request)
			answered <- err
		}()
		synctest.Wait()
		c.CloseOtherVersions("github", "2")
		if c.open.Load() != 3 || c.find(Key{Server: "github", Version: "1"}) != nil {
			t.Errorf("%d brokers are open", c.open.Load())
		}
		if err := <-answered; err != nil {
			t.Errorf("the broker in use: %v", err)
		}
		if c.CloseOtherVersions("github", ""); c.open.Load() != 1 ||
			c.find(Key{Server: "gitlab", Version: "1"}) == nil {
			t.Errorf("after the removal %d brokers are open", c.open.Load())
		}
	})
}
