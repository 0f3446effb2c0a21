package credential

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/testdata/bubble"
)

// TestChangedTokenIsPresented: a new token is presented with the next request after the
// stored secrets change, no matter how often the old one was refused. The refused token
// is not.
func TestChangedTokenIsPresented(t *testing.T) {
	for name, refused := range map[string]int{"once": 1, "to the end": 100} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var s stamp
				has, presented := "old", 0
				p := &provider{challenge: nothing,
					authorize: func(int) (sdk.Credential, error) { return bearer(has, time.Minute), nil }}
				b := broker(t, Options{Auth: p, Changed: s.now})
				takes := func(authorization string) int {
					if presented++; authorization == "Bearer token-new" {
						return http.StatusOK
					}
					return http.StatusUnauthorized
				}
				for range refused {
					_, _ = call(t, b, takes)
				}
				bubble.Sleep(time.Duration(refused) * 3 * time.Second)
				for range refused {
					_, _ = call(t, b, takes)
					bubble.Sleep(time.Second)
				}
				before := presented
				s.change() // the file was written with the same token
				_, _ = call(t, b, takes)
				if refused > maxStrikes && presented != before {
					t.Error("what was refused to the end was presented again")
				}
				has = "new"
				s.change()
				if status, err := call(t, b, takes); err != nil || status != http.StatusOK {
					t.Errorf("%d, %v", status, err)
				}
			})
		})
	}
}

// TestSecretsChangeDuringQuery: the stored secrets change while the provider reads them:
// it returns the refused token, although Changed is new already. The broker asks again,
// but not without end if the provider itself writes with each call.
func TestSecretsChangeDuringQuery(t *testing.T) {
	for name, writes := range map[string]int{"a login": 1, "a provider that writes": 1000} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var s stamp
				has, left := "old", 0
				p := &provider{challenge: retry, authorize: func(int) (sdk.Credential, error) {
					cred := bearer(has, time.Hour)
					if left > 0 {
						s.change() // while the provider reads
						if left--; left == 0 {
							has = "new"
						}
					}
					return cred, nil
				}}
				b := broker(t, Options{Auth: p, Changed: s.now})
				calls := func() (status int) {
					for range 100 {
						status, _ = call(t, b, func(authorization string) int {
							if authorization == "Bearer token-new" {
								return http.StatusOK
							}
							return http.StatusUnauthorized
						})
						bubble.Sleep(time.Second)
					}
					return status
				}
				calls()
				before, _ := p.asked()
				left = writes
				s.change()
				status := calls()
				if after, _ := p.asked(); after-before > authorizeMost || (status == http.StatusOK) != (writes == 1) {
					t.Errorf("%d after %d questions", status, after-before)
				}
			})
		})
	}
}

// TestProviderIsAskedAgainAfterChange: a provider that has nothing to present is asked
// again when the stored secrets change, but not because of its own writes.
func TestProviderIsAskedAgainAfterChange(t *testing.T) {
	for name, writes := range map[string]bool{"reads": false, "writes": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var s stamp
				empty := true
				p := &provider{authorize: func(int) (sdk.Credential, error) {
					if writes {
						s.change()
					}
					if empty {
						return sdk.Credential{}, sdk.Errorf(sdk.AuthRequired, "the file is empty")
					}
					return bearer("new", time.Minute), nil
				}}
				b := broker(t, Options{Auth: p, Changed: s.now})
				for range 10 * 60 {
					if _, err := b.Authorize(t.Context(), request); sdk.CodeOf(err) != sdk.AuthRequired {
						t.Fatal(err)
					}
					bubble.Sleep(time.Second)
				}
				if n, _ := p.asked(); n > 20 {
					t.Errorf("asked %d times in ten minutes", n)
				}
				empty = false
				s.change()
				if _, err := b.Authorize(t.Context(), request); err != nil {
					t.Error(err)
				}
			})
		})
	}
}
