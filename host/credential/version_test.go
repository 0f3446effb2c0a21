package credential

import (
	"testing"
	"testing/synctest"

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
