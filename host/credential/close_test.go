package credential

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/junctor-mcp/junctor/sdk"
)

// TestCloseDrainsQueries: callers that wait when a broker is closed return at once. A
// query in flight may complete within drainTimeout and holds the lock until then. A query
// that waits for the lock never starts.
func TestCloseDrainsQueries(t *testing.T) {
	for name, test := range map[string]struct {
		takes  time.Duration // duration of the provider's call
		busy   bool          // another process has the lock
		closes time.Duration // how long closing takes
		ends   bool          // the provider's call completed
	}{
		"nearly there": {takes: 2 * time.Second, closes: time.Second, ends: true},
		"hanging":      {takes: time.Hour, closes: drainTimeout},
		"not begun":    {busy: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ended, locked := false, false
				p := &provider{takes: test.takes, authorize: func(n int) (sdk.Credential, error) {
					if ended = true; !locked {
						t.Error("the lock was let go before the provider was done")
					}
					return bearer(n, time.Hour), nil
				}}
				b := broker(t, Options{Auth: p, Lock: func(ctx context.Context) (func(), error) {
					if test.busy {
						<-ctx.Done()
						return nil, ctx.Err()
					}
					locked = true
					return func() { locked = false }, nil
				}})
				begun := time.Now()
				closed := make(chan time.Duration)
				time.AfterFunc(time.Second, func() {
					b.Close()
					closed <- time.Since(begun) - time.Second
				})
				if _, err := b.Authorize(t.Context(), request); sdk.CodeOf(err) != sdk.Canceled ||
					time.Since(begun) != time.Second {
					t.Errorf("who waited got %v after %s", err, time.Since(begun))
				}
				if took := <-closed; took != test.closes || ended != test.ends || locked {
					t.Errorf("closing took %s, the provider ended: %t, locked: %t", took, ended, locked)
				}
			})
		})
	}
}
