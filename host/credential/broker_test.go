package credential

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/testdata/bubble"
)

// TestExpiredCredentialIsRefreshedOnce: a hundred callers that find the credential
// expired share one query. AUO-10
func TestExpiredCredentialIsRefreshedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &provider{takes: time.Second,
			authorize: func(n int) (sdk.Credential, error) { return bearer(n, time.Hour), nil }}
		b := broker(t, Options{Auth: p})
		for round := 1; round <= 2; round++ {
			var calls sync.WaitGroup
			for range 100 {
				calls.Go(func() {
					c, err := b.Authorize(t.Context(), request)
					if want := fmt.Sprintf("Bearer token-%d", round); err != nil || c.Headers["Authorization"] != want {
						t.Errorf("%v, %v; want %s", c, err, want)
					}
				})
			}
			calls.Wait()
			if n, _ := p.asked(); n != round {
				t.Fatalf("the provider was asked %d times in %d rounds", n, round)
			}
			bubble.Sleep(time.Hour)
		}
	})
}

// TestCredentialIsReplacedBeforeExpiry: a credential is replaced shortly before it
// expires. If that fails it is used until it expires.
func TestCredentialIsReplacedBeforeExpiry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var down error
		p := &provider{authorize: func(n int) (sdk.Credential, error) { return bearer(n, 10*time.Minute), down }}
		b := broker(t, Options{Auth: p})
		at := func(d time.Duration) { bubble.Sleep(d) }
		want := func(token string, asked int) {
			t.Helper()
			c, err := b.Authorize(t.Context(), request)
			n, _ := p.asked()
			if token == "" && err == nil ||
				token != "" && (err != nil || c.Headers["Authorization"] != "Bearer "+token) || n != asked {
				t.Fatalf("%v, %v after %d questions; want %q after %d", c, err, n, token, asked)
			}
		}
		want("token-1", 1)
		at(9*time.Minute + 29*time.Second)
		want("token-1", 1)
		at(time.Second)
		want("token-2", 2)
		down = sdk.Errorf(sdk.Unavailable, "the issuer is down")
		at(9*time.Minute + 31*time.Second)
		want("token-2", 3) // the provider is not asked again for one second
		want("token-2", 3)
		at(time.Second)
		want("token-2", 4)
		at(30 * time.Second)
		want("", 5)
		if s := b.State(); s.Kind != "failed" || s.Reason != "the issuer is down" {
			t.Errorf("the state is %+v", s)
		}
		down = nil
		at(10 * time.Second)
		want("token-6", 6)
		if s := b.State(); s.Kind != "ready" || s.Account != "ada" ||
			!s.Expires.Equal(time.Now().Add(10*time.Minute)) || !s.Since.Equal(time.Now()) {
			t.Errorf("the state is %+v", s)
		}
	})
}

// TestShortLivedCredentialIsUsedForHalfItsLife: a credential that lasts less than 30 s is
// used for half its life before the provider is asked again.
func TestShortLivedCredentialIsUsedForHalfItsLife(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lasts := []time.Duration{-time.Hour, time.Second, 20 * time.Second, skew, time.Hour}
		p := &provider{authorize: func(n int) (sdk.Credential, error) { return bearer(n, lasts[n-1]), nil }}
		b := broker(t, Options{Auth: p})
		for _, step := range []struct {
			after time.Duration
			want  int
		}{{0, 1}, {0, 2}, {0, 2}, {499 * time.Millisecond, 2}, {time.Millisecond, 3}, {9 * time.Second, 3},
			{time.Second, 4}, {14 * time.Second, 4}, {time.Second, 5}, {59 * time.Minute, 5}} {
			bubble.Sleep(step.after)
			if c, err := b.Authorize(t.Context(), request); err != nil ||
				c.Headers["Authorization"] != fmt.Sprintf("Bearer token-%d", step.want) {
				t.Errorf("%d: %v, %v", step.want, c, err)
			}
		}
	})
}

// TestFailingProviderIsAskedLessOften: the broker asks a failing provider less and less
// often. Callers receive the reason and the time of the next attempt at once.
func TestFailingProviderIsAskedLessOften(t *testing.T) {
	for name, failure := range map[string]error{
		"unreachable": &sdk.Error{Code: sdk.Unavailable, Reason: "unreachable", Message: "the issuer is down",
			Hint: "check the network"},
		"plugin":   fault.New(fault.PluginExited, "the plugin's process ended").WithHint("see its log"),
		"settings": sdk.AttrErrorf("token", "the variable TOKEN is not set"),
		"odd":      errors.New("odd"),
		"late":     context.DeadlineExceeded,
		"absent":   sdk.Errorf(sdk.Unimplemented, "no such method"),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &provider{authorize: func(int) (sdk.Credential, error) { return sdk.Credential{}, failure }}
				b := broker(t, Options{Auth: p})
				var e *sdk.Error
				for range 60 * 60 {
					_, err := b.Authorize(t.Context(), request)
					if !errors.As(err, &e) || e.Code == sdk.Unimplemented || e.Code == sdk.Internal ||
						!strings.Contains(e.Hint, "it is tried again in ") {
						t.Fatalf("%#v", err)
					}
					bubble.Sleep(time.Second)
				}
				if n, _ := p.asked(); n < 60 || n > 70 {
					t.Errorf("asked %d times in an hour", n)
				}
				if f := new(fault.Error); errors.As(failure, &f) &&
					(e.Message != f.Message || !strings.HasPrefix(e.Hint, "see its log; ")) {
					t.Errorf("%+v", e)
				}
			})
		})
	}
}

// TestDeniedIsAskedAgainAfterAMinute: the broker asks a provider that returned Denied
// again after a minute or when the stored secrets change. The hint does not announce
// that.
func TestDeniedIsAskedAgainAfterAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s stamp
		denied := &sdk.Error{Code: sdk.Denied, Message: "not for you", Hint: "ask the owner", Path: "scopes[0]"}
		p := &provider{authorize: func(int) (sdk.Credential, error) { return sdk.Credential{}, denied }}
		b := broker(t, Options{Auth: p, Changed: s.now})
		for range 120 {
			_, err := b.Authorize(t.Context(), request)
			e, ok := errors.AsType[*sdk.Error](err)
			if !ok || e.Code != sdk.Denied || e.Hint != denied.Hint || e.Path != denied.Path ||
				e.Message != denied.Message {
				t.Fatalf("%#v", err)
			}
			bubble.Sleep(time.Second)
		}
		if n, _ := p.asked(); n != 2 {
			t.Errorf("asked %d times in two minutes", n)
		}
		s.change()
		_, _ = b.Authorize(t.Context(), request)
		if n, _ := p.asked(); n != 3 {
			t.Errorf("asked %d times", n)
		}
	})
}

func TestNoQueryAfterNeedsLogin(t *testing.T) {
	for tenant, want := range map[string]string{
		"":           "junctor login github",
		"ada@x.org":  "junctor login github --tenant ada@x.org",
		"o'neill; x": `junctor login github --tenant 'o'\''neill; x'`,
	} {
		synctest.Test(t, func(t *testing.T) {
			var s stamp
			loggedIn := false
			p := &provider{authorize: func(n int) (sdk.Credential, error) {
				if !loggedIn {
					return sdk.Credential{},
						&sdk.Error{Code: sdk.NeedsLogin, Message: "the login expired", Hint: "whatever the plugin says"}
				}
				return bearer(n, 0), nil
			}}
			b := broker(t, Options{Auth: p, Changed: s.now, Tenant: tenant})
			for range 1000 {
				_, err := b.Authorize(t.Context(), request)
				if e, ok := errors.AsType[*sdk.Error](err); !ok || e.Code != sdk.NeedsLogin ||
					e.Reason != "needs_login" || e.Message != "the login expired" || e.Hint != "run `"+want+"`" {
					t.Fatalf("%#v", err)
				}
				bubble.Sleep(time.Minute)
			}
			res, err := b.Challenge(t.Context(), sdk.Challenge{AuthRequest: request, Status: 401, Attempt: 1})
			if err != nil || res.Retry || !res.NeedsLogin || res.Reason != "the login expired: run `"+want+"`" {
				t.Errorf("%+v, %v", res, err)
			}
			if n, m := p.asked(); n != 1 || m != 0 {
				t.Errorf("asked %d and %d times", n, m)
			}
			s.change() // the secrets of another server
			if _, err := b.Authorize(t.Context(), request); sdk.CodeOf(err) != sdk.NeedsLogin {
				t.Error(err)
			}
			if state := b.State(); state.Kind != "needs_login" || state.Reason != "the login expired" ||
				time.Since(state.Since) < 900*time.Minute {
				t.Errorf("the state is %+v", state)
			}
			loggedIn = true
			if _, err := b.Authorize(t.Context(), request); sdk.CodeOf(err) != sdk.NeedsLogin {
				t.Error("nothing was stored, and it was asked:", err)
			}
			s.change()
			if c, err := b.Authorize(t.Context(), request); err != nil || c.Account != "ada" {
				t.Errorf("%v, %v", c, err)
			}
		})
	}
}

// TestQueryOutlivesItsCaller: a caller whose context ends returns. Its query goes on, and
// the next caller receives the answer.
func TestQueryOutlivesItsCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &provider{takes: 10 * time.Second,
			authorize: func(n int) (sdk.Credential, error) { return bearer(n, 0), nil }}
		b := broker(t, Options{Auth: p})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		begun := time.Now()
		if _, err := b.Authorize(ctx, request); !errors.Is(err, context.DeadlineExceeded) ||
			time.Since(begun) != time.Second {
			t.Errorf("%v after %s", err, time.Since(begun))
		}
		bubble.Sleep(9 * time.Second)
		begun = time.Now()
		if _, err := b.Authorize(t.Context(), request); err != nil || time.Since(begun) != 0 {
			t.Errorf("%v after %s", err, time.Since(begun))
		}
		if n, _ := p.asked(); n != 1 {
			t.Errorf("asked %d times", n)
		}
	})
}

// TestQueryTimesOut: a query ends at its timeout. A closed broker does not wait for it at
// all.
func TestQueryTimesOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &provider{takes: time.Hour, authorize: func(n int) (sdk.Credential, error) { return bearer(n, 0), nil }}
		b := broker(t, Options{Auth: p, Timeout: 20 * time.Second})
		begun := time.Now()
		if _, err := b.Authorize(t.Context(), request); sdk.CodeOf(err) != sdk.Deadline ||
			time.Since(begun) != 20*time.Second {
			t.Errorf("%v after %s", err, time.Since(begun))
		}
		bubble.Sleep(time.Second)
		begun = time.Now()
		time.AfterFunc(time.Second, b.Close)
		if _, err := b.Authorize(t.Context(), request); sdk.CodeOf(err) != sdk.Canceled ||
			time.Since(begun) != time.Second {
			t.Errorf("%v after %s", err, time.Since(begun))
		}
		b.Forget()
		if _, err := b.Authorize(t.Context(), request); sdk.CodeOf(err) != sdk.Canceled {
			t.Error(err)
		}
	})
}

// TestForgetDropsRefusals: after Forget, earlier refusals do not count.
func TestForgetDropsRefusals(t *testing.T) {
	p := &provider{
		authorize: func(n int) (sdk.Credential, error) { return bearer(n, 0), nil },
		challenge: func(int) (sdk.ChallengeResult, error) {
			return sdk.ChallengeResult{NeedsLogin: true, Reason: "revoked"}, nil
		},
	}
	b := broker(t, Options{Auth: p})
	refusing := true
	takes := func(string) int {
		if refusing {
			return http.StatusUnauthorized
		}
		return http.StatusOK
	}
	for range 3 {
		if _, err := call(t, b, takes); sdk.CodeOf(err) != sdk.NeedsLogin {
			t.Fatal(err)
		}
	}
	if b.Forget(); b.State().Kind != "unknown" {
		t.Errorf("the state is %+v", b.State())
	}
	refusing = false
	if status, err := call(t, b, takes); err != nil || status != http.StatusOK {
		t.Errorf("%d, %v", status, err)
	}
	if n, m := p.asked(); n != 2 || m != 1 {
		t.Errorf("asked %d and %d times", n, m)
	}
}

// TestPurposesHaveTheirOwnCredentials: each purpose has its own credential, and the
// number of purposes is bounded.
func TestPurposesHaveTheirOwnCredentials(t *testing.T) {
	p := &provider{authorize: func(n int) (sdk.Credential, error) { return bearer(n, 0), nil }}
	b := broker(t, Options{Auth: p})
	for i, r := range []struct {
		sdk.AuthRequest
		token int
	}{
		{sdk.AuthRequest{Method: "POST", URL: "https://x/mcp"}, 1},
		{sdk.AuthRequest{Method: "GET", URL: "https://x/mcp#f"}, 1},
		{sdk.AuthRequest{URL: "https://x/other", Resource: "https://x/mcp"}, 1},
		{sdk.AuthRequest{URL: "https://x/other"}, 2},
		{sdk.AuthRequest{URL: "https://x/mcp", Scopes: []string{"b", "a"}}, 3},
		{sdk.AuthRequest{URL: "https://x/mcp", Scopes: []string{"a", "b"}}, 3},
		{sdk.AuthRequest{URL: "https://x/mcp", Subject: "ada"}, 4},
		{sdk.AuthRequest{URL: "https://x/mcp", Subject: "bob"}, 5},
	} {
		c, err := b.Authorize(t.Context(), r.AuthRequest)
		if err != nil || c.Headers["Authorization"] != fmt.Sprintf("Bearer token-%d", r.token) {
			t.Errorf("%d: %v, %v", i, c, err)
		}
	}
	for i := range 100 {
		if _, err := b.Authorize(t.Context(), sdk.AuthRequest{URL: fmt.Sprint("https://x/", i)}); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(b.entries); n > maxEntries {
		t.Errorf("%d are kept", n)
	}
}

// TestNewPurposesDoNotEvictFailures: entries with a failure are not evicted in favour of
// new purposes.
func TestNewPurposesDoNotEvictFailures(t *testing.T) {
	p := &provider{
		authorize: func(int) (sdk.Credential, error) { return sdk.Credential{}, sdk.Errorf(sdk.NeedsLogin, "") },
	}
	b := broker(t, Options{Auth: p})
	for i := range 100 {
		_, err := b.Authorize(t.Context(), sdk.AuthRequest{URL: fmt.Sprint("https://x/", i)})
		if want := sdk.NeedsLogin; i < maxEntries && sdk.CodeOf(err) != want ||
			i >= maxEntries && sdk.CodeOf(err) != sdk.Denied {
			t.Fatalf("%d: %v", i, err)
		}
	}
	if n, _ := p.asked(); n != maxEntries {
		t.Errorf("asked %d times", n)
	}
}

// TestSecretsAreConcealed: Conceal receives the secrets before Authorize returns them.
func TestSecretsAreConcealed(t *testing.T) {
	var concealed []string
	p := &provider{authorize: func(int) (sdk.Credential, error) {
		return sdk.Credential{Headers: map[string]string{"Authorization": "Bearer abc", "X-Key": "def"},
			Query: map[string]string{"key": "ghi"}}, nil
	}}
	b := broker(t, Options{Auth: p, Conceal: func(secret string) { concealed = append(concealed, secret) }})
	if _, err := b.Authorize(t.Context(), request); err != nil {
		t.Fatal(err)
	}
	if want := []string{"Bearer abc", "abc", "def", "ghi"}; !slices.Equal(concealed, want) {
		t.Errorf("%q", concealed)
	}
}
