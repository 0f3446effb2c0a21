package credential

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/sdk"
)

// A provider is an auth provider with answers set by the test. n counts from 1.
type provider struct {
	authorize func(n int) (sdk.Credential, error)
	challenge func(n int) (sdk.ChallengeResult, error)
	takes     time.Duration

	mu         sync.Mutex
	authorized int             // guarded by mu
	challenged []sdk.Challenge // guarded by mu
}

func (p *provider) Authorize(ctx context.Context, _ sdk.AuthRequest) (sdk.Credential, error) {
	p.mu.Lock()
	p.authorized++
	n := p.authorized
	p.mu.Unlock()
	select {
	case <-time.After(p.takes):
		return p.authorize(n)
	case <-ctx.Done():
		return sdk.Credential{}, ctx.Err()
	}
}

func (p *provider) Challenge(ctx context.Context, c sdk.Challenge) (sdk.ChallengeResult, error) {
	p.mu.Lock()
	p.challenged = append(p.challenged, c)
	n := len(p.challenged)
	p.mu.Unlock()
	select {
	case <-time.After(p.takes):
		return p.challenge(n)
	case <-ctx.Done():
		return sdk.ChallengeResult{}, ctx.Err()
	}
}

// asked returns how often each method was called.
func (p *provider) asked() (authorized, challenged int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.authorized, len(p.challenged)
}

func bearer(token any, lasts time.Duration) sdk.Credential {
	c := sdk.Credential{Headers: map[string]string{"Authorization": fmt.Sprintf("Bearer token-%v", token)},
		Account: "ada"}
	if lasts != 0 {
		c.Expires = time.Now().Add(lasts)
	}
	return c
}

// A stamp implements Options.Changed.
type stamp struct {
	mu sync.Mutex
	n  int // guarded by mu
}

func (s *stamp) change() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.n++
}

func (s *stamp) now() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return fmt.Sprint(s.n)
}

func broker(t *testing.T, o Options) *Broker {
	t.Helper()
	o.Server = "github"
	b := New(o)
	t.Cleanup(b.Close)
	return b
}

var request = sdk.AuthRequest{Method: "POST", URL: "https://mcp.example.com/mcp",
	Resource: "https://mcp.example.com/mcp"}

// call does what a transport does for one request. takes returns the server's status
// for a credential.
func call(t *testing.T, b *Broker, takes func(authorization string) (status int)) (status int, err error) {
	t.Helper()
	return callAs(t, b, false, takes)
}

// callAs is call. named says that the transport names the refused credential.
func callAs(t *testing.T, b *Broker, named bool,
	takes func(authorization string) (status int)) (status int, err error) {
	t.Helper()
	for attempt := 1; ; attempt++ {
		c, err := b.Authorize(t.Context(), request)
		if err != nil {
			return 0, err
		}
		status := takes(c.Headers["Authorization"])
		if status != http.StatusUnauthorized && status != http.StatusForbidden {
			return status, nil
		}
		about := sdk.Challenge{AuthRequest: request, Status: status, WWWAuthenticate: []string{`Bearer scope="a"`},
			Attempt: attempt}
		if named {
			about.Presented = c.Name
		}
		res, err := b.Challenge(t.Context(), about)
		switch {
		case err != nil:
			return status, err
		case res.NeedsLogin:
			return status, sdk.Errorf(sdk.NeedsLogin, "%s", res.Reason)
		case !res.Retry || attempt > 1:
			return status, nil
		}
	}
}
