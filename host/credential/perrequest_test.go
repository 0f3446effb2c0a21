package credential

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/testdata/bubble"
)

// A signer returns a credential for the method and URL of each request.
type signer struct {
	provider
	down error
}

func (s *signer) Authorize(_ context.Context, r sdk.AuthRequest) (sdk.Credential, error) {
	bubble.Sleep(time.Millisecond)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.authorized++
	return sdk.Credential{
		Headers:    map[string]string{"Authorization": fmt.Sprint(r.Method, " ", r.URL, " ", s.authorized)},
		PerRequest: true,
	}, s.down
}

// TestPerRequestCredentialsAreNotKept: each request has its own credential, also when
// many callers ask at once. After a failure no earlier credential is used.
func TestPerRequestCredentialsAreNotKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &signer{}
		b := broker(t, Options{Auth: s})
		var mu sync.Mutex
		seen := map[string]bool{}
		var all sync.WaitGroup
		for n := range 50 {
			all.Go(func() {
				r := sdk.AuthRequest{Method: fmt.Sprint("M", n), URL: fmt.Sprint("https://x/", n),
					Resource: "https://x"}
				c, err := b.Authorize(t.Context(), r)
				mu.Lock()
				defer mu.Unlock()
				var count int
				var method, url string
				_, scan := fmt.Sscan(c.Headers["Authorization"], &method, &url, &count)
				if err != nil || scan != nil || method != r.Method || url != r.URL || seen[fmt.Sprint(count)] {
					t.Errorf("%d: %v, %v", n, c, err)
				}
				seen[fmt.Sprint(count)] = true
			})
		}
		all.Wait()
		if n, _ := s.asked(); n != 50 {
			t.Errorf("asked %d times", n)
		}
		s.down = sdk.Errorf(sdk.Unavailable, "the key server is down")
		if c, err := b.Authorize(t.Context(), request); sdk.CodeOf(err) != sdk.Unavailable {
			t.Errorf("%v, %v", c, err)
		}
	})
}
