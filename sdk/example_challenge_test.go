package sdk_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"

	"github.com/junctor-mcp/junctor/sdk"
)

// A renewer is an auth provider whose tokens may be revoked at any time.
type renewer struct {
	issue func() string // returns a new token from the issuer

	mu    sync.Mutex
	token string // guarded by mu
}

// Authorize returns the token. The first call obtains one.
func (r *renewer) Authorize(context.Context, sdk.AuthRequest) (sdk.Credential, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.token == "" {
		r.token = r.issue()
	}
	return sdk.Credential{Headers: map[string]string{"Authorization": "Bearer " + r.token}}, nil
}

// Challenge renews the token once. If the new token is rejected too, the user
// must log in.
func (r *renewer) Challenge(_ context.Context, c sdk.Challenge) (sdk.ChallengeResult, error) {
	if c.Attempt > 1 {
		return sdk.ChallengeResult{NeedsLogin: true, Reason: "the server refuses new tokens too"}, nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.token = r.issue()
	return sdk.ChallengeResult{Retry: true}, nil
}

// get sends one request, as a transport does with Server.Host.Credentials.
func get(ctx context.Context, credentials sdk.Credentials, url string) (int, error) {
	about := sdk.AuthRequest{Method: http.MethodGet, URL: url}
	for attempt := 1; ; attempt++ {
		cred, err := credentials.Authorize(ctx, about)
		if err != nil {
			return 0, err
		}
		req, err := http.NewRequestWithContext(ctx, about.Method, about.URL, nil)
		if err != nil {
			return 0, err
		}
		for name, value := range cred.Headers {
			req.Header.Set(name, value)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			return 0, sdk.Errorf(sdk.Unavailable, "%v", err)
		}
		_ = res.Body.Close()
		if res.StatusCode != http.StatusUnauthorized {
			return res.StatusCode, nil
		}
		said, err := credentials.Challenge(ctx, sdk.Challenge{
			AuthRequest: about, Status: res.StatusCode, WWWAuthenticate: res.Header.Values("WWW-Authenticate"),
			Attempt: attempt, Presented: cred.Name,
		})
		switch {
		case err != nil:
			return 0, err
		case said.NeedsLogin:
			return 0, sdk.Errorf(sdk.NeedsLogin, "%s", said.Reason)
		case !said.Retry || attempt > 1:
			return res.StatusCode, nil
		}
	}
}

// A server rejects a request, the auth provider answers the challenge with a
// new token, and the request is sent again. In a plugin the host is between the
// two: it caches the credential and asks the provider once for all requests.
func Example_challenge() {
	issued, valid := 0, "token-1"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+valid {
			w.Header().Set("WWW-Authenticate", `Bearer error="invalid_token"`)
			w.WriteHeader(http.StatusUnauthorized)
		}
	}))
	defer server.Close()
	provider := &renewer{issue: func() string { issued++; return fmt.Sprint("token-", issued) }}

	fmt.Println(get(context.Background(), provider, server.URL))
	valid = "token-2" // the server revokes token-1
	fmt.Println(get(context.Background(), provider, server.URL))
	valid = "none"
	fmt.Println(get(context.Background(), provider, server.URL))
	// Output:
	// 200 <nil>
	// 200 <nil>
	// 0 the server refuses new tokens too
}
