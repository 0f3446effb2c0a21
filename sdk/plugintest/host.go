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

// A Host plays the host of a plugin: it keeps secrets in a map, answers prompts
// from a script and has a browser of sorts. The exported fields are set before
// it is used; what happened is told by its methods.
type Host struct {
	// Answers are those of a person to prompts, by the name of the field. A
	// prompt for a field that is not here fails, as when a person gives up.
	Answers map[string]string

	// Browser is what a person does with a page that is opened. See [Follow].
	Browser func(url string) error

	// Credential is what a transport gets to present, and Challenged the
	// answer when it was refused.
	Credential sdk.Credential
	Challenged sdk.ChallengeResult

	mu      sync.Mutex
	secrets map[string]string // guarded by mu
	opened  []string          // guarded by mu
	prompts []sdk.Prompt      // guarded by mu
	events  []string          // guarded by mu
}

// Keep stores a secret beforehand.
func (h *Host) Keep(key, value string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.secrets == nil {
		h.secrets = map[string]string{}
	}
	h.secrets[key] = value
}

// Secrets returns what the plugin has stored.
func (h *Host) Secrets() map[string]string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return maps.Clone(h.secrets)
}

// Opened returns the pages that were opened.
func (h *Host) Opened() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]string(nil), h.opened...)
}

// Prompts returns what a person was asked.
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

// Services is the host as a plugin sees it, for an author's own tests. A nil
// Host grants nothing.
func (h *Host) Services() sdk.Host {
	if h == nil {
		return sdk.Host{}
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
	local := strings.HasPrefix(url, "http://127.0.0.1:") || strings.HasPrefix(url, "http://localhost:") || strings.HasPrefix(url, "http://[::1]:")
	if !local && !strings.HasPrefix(url, "https://") {
		return sdk.Errorf(sdk.Denied, "a host opens https, or http to the loopback, and not this")
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
			return nil, sdk.Errorf(sdk.Canceled, "the person does not answer %q", f.Name)
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
	c := &redirect{url: fmt.Sprintf("http://%s/%s", l.Addr(), strings.TrimPrefix(path, "/")), query: make(chan string, 1)}
	mux := http.NewServeMux()
	mux.HandleFunc("/"+strings.TrimPrefix(path, "/"), func(w http.ResponseWriter, r *http.Request) {
		select {
		case c.query <- r.URL.RawQuery:
		default: // only the first counts
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

// A redirect is a listener for the end of a login.
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

// Follow is a browser for [Host] whose person agrees to everything: it fetches
// the page and goes wherever it is sent.
func Follow(url string) error {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Get(url)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}
