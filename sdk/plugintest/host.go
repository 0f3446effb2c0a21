package plugintest

import (
	"context"
	"fmt"
	"maps"
	"net"
	"net/http"
	"strings"
	"sync"

	"github.com/junctor-mcp/junctor/sdk"
)

// A Host is a fake host of a plugin. It keeps secrets in a map, answers prompts
// from a map and opens pages with Browser. Set the exported fields before use;
// the methods report what the plugin did.
type Host struct {
	// Answers holds the user's answers to prompts by the name of the field. A
	// prompt for another field fails with code Canceled.
	Answers map[string]string

	// Browser is called with the URL of each page that the plugin opens; may be
	// nil. See [Follow].
	Browser func(url string) error

	// Credential is the credential that a transport receives. Challenged is the
	// answer to its challenges.
	Credential sdk.Credential
	Challenged sdk.ChallengeResult

	mu      sync.Mutex
	secrets map[string]string // guarded by mu
	opened  []string          // guarded by mu
	prompts []sdk.Prompt      // guarded by mu
	events  []string          // guarded by mu
}

// Keep stores a secret before the test.
func (h *Host) Keep(key, value string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.secrets == nil {
		h.secrets = map[string]string{}
	}
	h.secrets[key] = value
}

// Secrets returns the stored secrets.
func (h *Host) Secrets() map[string]string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return maps.Clone(h.secrets)
}

// Opened returns the URLs of the opened pages.
func (h *Host) Opened() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]string(nil), h.opened...)
}

// Prompts returns the prompts that the plugin showed.
func (h *Host) Prompts() []sdk.Prompt {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]sdk.Prompt(nil), h.prompts...)
}

// Events returns the names of the events that the plugin reported.
func (h *Host) Events() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]string(nil), h.events...)
}

// Services returns the services that this host offers to a plugin, for an
// author's own tests. The services of a nil Host fail with the code Unimplemented, as those do that a
// configuration does not grant.
func (h *Host) Services() sdk.Host {
	if h == nil {
		return sdk.Host{Secrets: refusing{}, Person: refusing{}, Credentials: refusing{}, Events: refusing{}}
	}
	return sdk.Host{Secrets: services{h}, Person: services{h}, Credentials: services{h}, Events: services{h}}
}

type services struct{ *Host }

func (s services) Secret(_ context.Context, key string) ([]byte, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v, ok := s.secrets[key]
	return []byte(v), ok, nil
}

func (s services) SetSecret(_ context.Context, key string, value []byte, _ string) error {
	if len(value) > sdk.MaxSecret {
		return sdk.Errorf(sdk.Invalid, "a secret has at most %d bytes, this one has %d", sdk.MaxSecret, len(value))
	}
	s.Keep(key, string(value))
	return nil
}

func (s services) DeleteSecret(_ context.Context, key string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.secrets, key)
	return nil
}

func (s services) OpenURL(_ context.Context, url, _ string) error {
	local := strings.HasPrefix(url, "http://127.0.0.1:") || strings.HasPrefix(url, "http://localhost:") ||
		strings.HasPrefix(url, "http://[::1]:")
	if !local && !strings.HasPrefix(url, "https://") {
		return sdk.Errorf(sdk.Denied, "the host opens only https URLs, and http URLs of the loopback")
	}
	s.mu.Lock()
	s.opened = append(s.opened, url)
	s.mu.Unlock()
	if s.Browser == nil {
		return nil
	}
	return s.Browser(url)
}

func (s services) Prompt(_ context.Context, p sdk.Prompt) (map[string]string, error) {
	s.mu.Lock()
	s.prompts = append(s.prompts, p)
	s.mu.Unlock()
	answers := map[string]string{}
	for _, f := range p.Fields {
		answer, ok := s.Answers[f.Name]
		if !ok {
			return nil, sdk.Errorf(sdk.Canceled, "Answers has no answer for the field %q", f.Name)
		}
		answers[f.Name] = answer
	}
	return answers, nil
}

func (s services) Callback(_ context.Context, path string) (sdk.Callback, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	c := &redirect{url: fmt.Sprintf("http://%s/%s", l.Addr(), strings.TrimPrefix(path, "/")),
		query: make(chan string, 1)}
	mux := http.NewServeMux()
	mux.HandleFunc("/"+strings.TrimPrefix(path, "/"), func(w http.ResponseWriter, r *http.Request) {
		select {
		case c.query <- r.URL.RawQuery:
		default: // only the first request counts
		}
	})
	c.server = &http.Server{Handler: mux}
	go func() { _ = c.server.Serve(l) }()
	return c, nil
}

func (s services) Authorize(context.Context, sdk.AuthRequest) (sdk.Credential, error) {
	return s.Credential, nil
}

func (s services) Challenge(context.Context, sdk.Challenge) (sdk.ChallengeResult, error) {
	return s.Challenged, nil
}

func (s services) Event(_ context.Context, name, _ string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events = append(s.events, name)
	return nil
}

// A redirect is a listener for the redirect at the end of a login.
type redirect struct {
	url    string
	query  chan string
	server *http.Server
}

func (r *redirect) URL() string { return r.url }

func (r *redirect) Wait(ctx context.Context) (string, error) {
	select {
	case q := <-r.query:
		return q, nil
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

func (r *redirect) Close() error { return r.server.Close() }

// Follow is a Browser for [Host] that fetches the page and follows redirects,
// like a user who agrees to everything.
func Follow(url string) error {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Get(url)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}
