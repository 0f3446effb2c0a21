package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/host/credential"
	"github.com/junctor-mcp/junctor/plugins/internal/httpclienttest"
	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/sdk/ndjson"
)

// An account is an auth provider with numbered tokens. The server accepts the
// token good.
type account struct {
	mu          sync.Mutex
	token, good int // guarded by mu
	challenged  []string
}

func (a *account) Authorize(context.Context, sdk.AuthRequest) (sdk.Credential, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return sdk.Credential{Headers: map[string]string{"Authorization": fmt.Sprintf("Bearer %d", a.token)}}, nil
}

func (a *account) Challenge(_ context.Context, c sdk.Challenge) (sdk.ChallengeResult, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.challenged = append(a.challenged, c.Method+" "+c.Resource)
	if a.good == 0 {
		return sdk.ChallengeResult{NeedsLogin: true, Reason: "the login expired"}, nil
	}
	a.token++
	return sdk.ChallengeResult{Retry: true}, nil
}

func (a *account) expire() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.good++
}

// guarded serves an echo that requires the valid token.
func guarded(t *testing.T, a *account) (url string) {
	back := make(chan []byte, 16)
	url, _ = httpclienttest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		a.mu.Lock()
		known := r.Header.Get("Authorization") == fmt.Sprintf("Bearer %d", a.good)
		a.mu.Unlock()
		switch {
		case !known:
			w.WriteHeader(http.StatusUnauthorized)
		case r.Method == "POST":
			back <- body
			w.WriteHeader(http.StatusAccepted)
		default:
			w.Header().Set("Content-Type", "text/event-stream")
			for event := "event: endpoint\ndata: /post?session=1\n\n"; ; {
				_, _ = io.WriteString(w, event)
				w.(http.Flusher).Flush()
				select {
				case msg := <-back:
					event = "data: " + string(msg) + "\n\n"
				case <-r.Context().Done():
					return
				}
			}
		}
	}))
	return url + "/sse"
}

func connect(t *testing.T, a *account, url string) (sdk.Conn, error) {
	t.Helper()
	b := credential.New(credential.Options{Server: "old", Auth: a})
	t.Cleanup(b.Close)
	settings, err := json.Marshal(map[string]string{"url": url})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	return plugin().Transports["sse"].Open(ctx, &sdk.Server{
		Name: "old", MaxMessage: ndjson.DefaultLimit, Log: hclog.NewNullLogger(), Host: sdk.Host{Credentials: b},
	}, settings)
}

// TestCredentials checks that the stream and every message carry the
// credential, and that a rejected credential is renewed for both. B25
func TestCredentials(t *testing.T) {
	a := &account{token: 1, good: 2}
	url := guarded(t, a)
	c, err := connect(t, a, url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close(context.Background()) }()
	a.expire()
	const msg = `{"jsonrpc":"2.0","id":1,"method":"tools/call"}`
	if err := c.Send([]byte(msg)); err != nil {
		t.Fatal(err)
	}
	if got, err := c.Recv(); err != nil || string(got) != msg {
		t.Errorf("%q, %v", got, err)
	}
	if want := []string{"GET " + url, "POST " + url}; fmt.Sprint(a.challenged) != fmt.Sprint(want) {
		t.Errorf("challenges: %q", a.challenged)
	}
}

// TestNeedsLogin checks that Open fails with a hint if the user must log in.
func TestNeedsLogin(t *testing.T) {
	a := &account{token: 1}
	_, err := connect(t, a, guarded(t, a))
	e, ok := errors.AsType[*sdk.Error](err)
	if !ok || e.Code != sdk.NeedsLogin || e.Message != "the login expired: run `junctor login old`" {
		t.Errorf("%#v", err)
	}
}
