package credential

import (
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/testdata/bubble"
)

func retry(int) (sdk.ChallengeResult, error) { return sdk.ChallengeResult{Retry: true}, nil }

func nothing(int) (sdk.ChallengeResult, error) {
	return sdk.ChallengeResult{Reason: "it is what there is"}, nil
}

// TestParallelRefusalsShareOneQuery: twenty requests that are refused the same credential
// cause one query, also if some refusals arrive late. AUO-10, B19
func TestParallelRefusalsShareOneQuery(t *testing.T) {
	t.Run("unnamed", func(t *testing.T) { parallelRefusals(t, false) })
	t.Run("named", func(t *testing.T) { parallelRefusals(t, true) })
}

func parallelRefusals(t *testing.T, named bool) {
	synctest.Test(t, func(t *testing.T) {
		p := &provider{takes: time.Second, challenge: retry}
		p.authorize = func(int) (sdk.Credential, error) {
			_, n := p.asked()
			return bearer(n+1, 0), nil
		}
		b := broker(t, Options{Auth: p})
		var calls sync.WaitGroup
		for i := range 20 {
			calls.Go(func() {
				status, err := callAs(t, b, named, func(authorization string) int {
					bubble.Sleep(time.Duration(i) * 200 * time.Millisecond) // up to four seconds
					if authorization == "Bearer token-1" {
						return http.StatusUnauthorized
					}
					return http.StatusOK
				})
				if err != nil || status != http.StatusOK {
					t.Errorf("%d, %v", status, err)
				}
			})
		}
		calls.Wait()
		if n, m := p.asked(); n != 2 || m != 1 {
			t.Errorf("asked %d times for a credential and %d times what to do", n, m)
		}
	})
}

// TestNamedCredentialIsReplacedAgain: a token that is revoked soon after its first use is
// replaced like the one before, because the transport names it.
func TestNamedCredentialIsReplacedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &provider{challenge: retry}
		p.authorize = func(int) (sdk.Credential, error) {
			_, n := p.asked()
			return bearer(n, 0), nil
		}
		b := broker(t, Options{Auth: p})
		for revoked := range 3 {
			for n := range 3 {
				status, err := callAs(t, b, true, func(authorization string) int {
					if authorization == fmt.Sprintf("Bearer token-%d", revoked) {
						return http.StatusOK
					}
					return http.StatusUnauthorized
				})
				if err != nil || status != http.StatusOK {
					t.Fatalf("call %d with token %d: %d, %v", n, revoked, status, err)
				}
				bubble.Sleep(time.Second)
			}
		}
		if _, m := p.asked(); m != 2 {
			t.Errorf("asked what to do %d times", m)
		}
	})
}

// TestRefusingServerGetsFewRequests: a server that refuses everything, and its issuer,
// get few requests from a day of calls, one every ten seconds.
func TestRefusingServerGetsFewRequests(t *testing.T) {
	for name, c := range map[string]struct {
		authorize                          func(n, challenged int) (sdk.Credential, error)
		challenge                          func(int) (sdk.ChallengeResult, error)
		writes                             bool // each query stores something, as a refresh does
		presented, challenged, least, most int
	}{
		"renews": {
			func(_, m int) (sdk.Credential, error) { return bearer(m, 0), nil }, retry, false, 3, 1, 2, 3,
		},
		"renews and stores": {
			func(_, m int) (sdk.Credential, error) { return bearer(m, 0), nil }, retry, true, 3, 1, 2, 5,
		},
		"has one": {
			func(int, int) (sdk.Credential, error) { return bearer("fixed", 0), nil }, nothing, false, 3, 2, 20, 40,
		},
		"needs a login at once": {
			func(int, int) (sdk.Credential, error) { return sdk.Credential{}, sdk.Errorf(sdk.NeedsLogin, "") }, nothing,
			false, 0, 0, 1, 1,
		},
		"needs a login then": {
			func(int, int) (sdk.Credential, error) { return sdk.Credential{}, nil },
			func(int) (sdk.ChallengeResult, error) { return sdk.ChallengeResult{NeedsLogin: true}, nil }, false, 1,
			1, 1, 1,
		},
		"cannot be asked": {
			func(int, int) (sdk.Credential, error) { return bearer("fixed", 0), nil },
			func(int) (sdk.ChallengeResult, error) { return sdk.ChallengeResult{}, errors.New("odd") }, false, 3, 2,
			1, 40,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var s stamp
				p := &provider{challenge: c.challenge}
				p.authorize = func(n int) (sdk.Credential, error) {
					if c.writes {
						s.change()
					}
					_, m := p.asked()
					return c.authorize(n, m)
				}
				b := broker(t, Options{Auth: p, Changed: s.now})
				presented := 0
				for range 24 * 60 * 6 {
					if status, err := call(t, b,
						func(string) int { presented++; return http.StatusUnauthorized }); err == nil &&
						status != http.StatusUnauthorized {
						t.Fatalf("%d, %v", status, err)
					}
					bubble.Sleep(10 * time.Second)
				}
				n, m := p.asked()
				if presented != c.presented || m != c.challenged || n < c.least || n > c.most {
					t.Errorf("the server got %d requests; the provider was asked %d times for a credential and %d times what to do",
						presented, n, m)
				}
				if k := b.State().Kind; k != "refused" && k != "needs_login" {
					t.Errorf("the state is %s", k)
				}
			})
		})
	}
}

// TestBurstCostsFewQueries: many concurrent calls without a pause cost at most three
// queries.
func TestBurstCostsFewQueries(t *testing.T) {
	const callers = 20
	for name, challenge := range map[string]func(int) (sdk.ChallengeResult, error){
		"renews": retry, "has one": nothing,
		"cannot be asked": func(int) (sdk.ChallengeResult, error) { return sdk.ChallengeResult{}, errors.New("odd") },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &provider{takes: 100 * time.Millisecond, challenge: challenge}
				p.authorize = func(int) (sdk.Credential, error) {
					if _, m := p.asked(); name == "renews" {
						return bearer(m, 0), nil
					}
					return bearer("fixed", 0), nil
				}
				b := broker(t, Options{Auth: p})
				var presented atomic.Int32
				var calls sync.WaitGroup
				for range callers {
					calls.Go(func() {
						const pause = 50 * time.Millisecond
						for begun := time.Now(); time.Since(begun) < 2*time.Minute; bubble.Sleep(pause) {
							_, _ = call(t, b, func(string) int {
								presented.Add(1)
								bubble.Sleep(20 * time.Millisecond)
								return http.StatusUnauthorized
							})
						}
					})
				}
				calls.Wait()
				if n := presented.Load(); n > 4*callers {
					t.Errorf("the server got %d requests", n)
				}
				if _, m := p.asked(); m > 3 {
					t.Errorf("the provider was asked %d times what to do", m)
				}
			})
		})
	}
}

// TestNoCredentialAfterLogout: a credential is not presented after a logout in another
// process.
func TestNoCredentialAfterLogout(t *testing.T) {
	var s stamp
	out := false
	p := &provider{authorize: func(n int) (sdk.Credential, error) {
		if out {
			return sdk.Credential{}, sdk.Errorf(sdk.NeedsLogin, "")
		}
		return bearer(n, time.Hour), nil
	}}
	b := broker(t, Options{Auth: p, Changed: s.now})
	if _, err := b.Authorize(t.Context(), request); err != nil {
		t.Fatal(err)
	}
	out = true
	s.change()
	for range 2 {
		if c, err := b.Authorize(t.Context(), request); sdk.CodeOf(err) != sdk.NeedsLogin {
			t.Errorf("%v, %v", c, err)
		}
	}
}

// TestBlockEndsWithOtherCredential: a blocked server gets requests again when there is a
// credential that it has not refused. The new credential gets one attempt.
func TestBlockEndsWithOtherCredential(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s stamp
		has, good := "old", ""
		p := &provider{challenge: retry, authorize: func(int) (sdk.Credential, error) { return bearer(has, 0), nil }}
		b := broker(t, Options{Auth: p, Changed: s.now})
		presented := 0
		takes := func(authorization string) int {
			if presented++; authorization == "Bearer token-"+good {
				return http.StatusOK
			}
			return http.StatusUnauthorized
		}
		hour := func(want int) (last error) {
			t.Helper()
			presented = 0
			for range 360 {
				_, last = call(t, b, takes)
				bubble.Sleep(10 * time.Second)
			}
			if presented != want {
				t.Errorf("the server got %d requests, want %d", presented, want)
			}
			return last
		}
		if err := hour(3); sdk.CodeOf(err) != sdk.AuthRequired {
			t.Errorf("%#v", err)
		}
		hour(0)
		s.change()
		hour(0)
		has = "other"
		hour(0) // the change is not announced yet
		s.change()
		hour(1)
		has, good = "new", "new"
		s.change()
		if err := hour(360); err != nil {
			t.Error(err)
		}
		good = ""
		hour(3)
	})
}

// TestFixedCredentialIsRechecked: a provider that cannot renew is asked again later,
// because a person may have replaced its file.
func TestFixedCredentialIsRechecked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		has := "old"
		p := &provider{challenge: nothing, authorize: func(int) (sdk.Credential, error) { return bearer(has, 0), nil }}
		b := broker(t, Options{Auth: p})
		takes := func(authorization string) int {
			if authorization == "Bearer token-new" {
				return http.StatusOK
			}
			return http.StatusUnauthorized
		}
		for range 100 {
			if status, err := call(t, b, takes); err == nil && status != http.StatusUnauthorized {
				t.Fatalf("%d, %v", status, err)
			}
			bubble.Sleep(time.Second)
		}
		if b.State().Kind != "refused" {
			t.Errorf("the state is %+v", b.State())
		}
		has = "new"
		bubble.Sleep(5 * time.Minute)
		if status, err := call(t, b, takes); err != nil || status != http.StatusOK {
			t.Errorf("%d, %v", status, err)
		}
	})
}

// TestAcceptedCredentialResetsStrikes: a credential that was accepted for a while does
// not count as refused when it is revoked.
func TestAcceptedCredentialResetsStrikes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &provider{challenge: retry}
		p.authorize = func(int) (sdk.Credential, error) {
			_, m := p.asked()
			return bearer(m, 0), nil
		}
		b := broker(t, Options{Auth: p})
		for day := range 30 {
			for range 24 {
				status, err := call(t, b, func(authorization string) int {
					if authorization != fmt.Sprintf("Bearer token-%d", day) {
						return http.StatusUnauthorized
					}
					return http.StatusOK
				})
				if err != nil || status != http.StatusOK {
					t.Fatalf("day %d: %d, %v", day, status, err)
				}
				bubble.Sleep(time.Hour)
			}
		}
	})
}

// TestCredentialRenewedElsewhere: if another process stored a newer credential, the
// broker uses it and does not ask for a renewal.
func TestCredentialRenewedElsewhere(t *testing.T) {
	var s stamp
	has := "old"
	p := &provider{challenge: retry, authorize: func(int) (sdk.Credential, error) { return bearer(has, 0), nil }}
	b := broker(t, Options{Auth: p, Changed: s.now})
	status, err := call(t, b, func(authorization string) int {
		if authorization == "Bearer token-old" {
			has = "new"
			s.change()
			return http.StatusUnauthorized
		}
		return http.StatusOK
	})
	if n, m := p.asked(); err != nil || status != http.StatusOK || n != 2 || m != 0 {
		t.Errorf("%d, %v; asked %d and %d times", status, err, n, m)
	}
}

// TestMissingScopeKeepsCredential: a credential that lacks a scope for one request stays
// valid for others. B22
func TestMissingScopeKeepsCredential(t *testing.T) {
	for name, c := range map[string]struct {
		challenge         func(int) (sdk.ChallengeResult, error)
		challenged, tried int
		code              sdk.Code
	}{
		"a login": {func(int) (sdk.ChallengeResult, error) {
			return sdk.ChallengeResult{NeedsLogin: true, Reason: "the scope admin is missing"}, nil
		}, 1, 100, sdk.NeedsLogin},
		"no way":  {nothing, 1, 100, ""},
		"in vain": {retry, 3, 104, ""},
		"broken": {func(int) (sdk.ChallengeResult, error) { return sdk.ChallengeResult{}, errors.New("odd") }, 1, 100,
			sdk.Unavailable},
	} {
		t.Run(name, func(t *testing.T) {
			p := &provider{challenge: c.challenge,
				authorize: func(int) (sdk.Credential, error) { return bearer("fixed", 0), nil }}
			b := broker(t, Options{Auth: p})
			tried := 0
			for i := range 100 {
				status, err := call(t, b, func(string) int { tried++; return http.StatusForbidden })
				if status != http.StatusForbidden || c.code != "" && sdk.CodeOf(err) != c.code {
					t.Fatalf("%d: %d, %v", i, status, err)
				}
				if status, err := call(t, b, func(string) int { return http.StatusOK }); err != nil ||
					status != http.StatusOK {
					t.Fatalf("%d: what it does for: %d, %v", i, status, err)
				}
			}
			if _, m := p.asked(); m > c.challenged || tried > c.tried {
				t.Errorf("asked %d times, and tried %d", m, tried)
			}
			if s := b.State(); s.Kind != "ready" {
				t.Errorf("the state is %+v", s)
			}
		})
	}
}

// TestRequestSucceedsWithMoreScopes: a request succeeds when the provider returns a
// credential with more scopes.
func TestRequestSucceedsWithMoreScopes(t *testing.T) {
	p := &provider{challenge: func(int) (sdk.ChallengeResult, error) {
		return sdk.ChallengeResult{Retry: true, Scopes: []string{"a"}}, nil
	}}
	p.authorize = func(int) (sdk.Credential, error) {
		_, m := p.asked()
		return bearer(m, 0), nil
	}
	b := broker(t, Options{Auth: p})
	for range 3 {
		status, err := call(t, b, func(authorization string) int {
			if authorization == "Bearer token-0" {
				return http.StatusForbidden
			}
			return http.StatusOK
		})
		if err != nil || status != http.StatusOK {
			t.Errorf("%d, %v", status, err)
		}
	}
	if n, m := p.asked(); n != 2 || m != 1 || len(b.State().Scopes) != 1 {
		t.Errorf("asked %d and %d times; %+v", n, m, b.State())
	}
}
