package plugintest

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/sdk"
)

// browsing is an authorizer with a login in the browser.
type browsing struct {
	page string
	host sdk.Host
}

type browsingSettings struct {
	Page string `hcl:"page" doc:"Where people log in." format:"uri"`
}

func startBrowsing(_ context.Context, s *sdk.AuthServer, c *browsingSettings) (sdk.Authorizer, error) {
	return &browsing{c.Page, s.Host}, nil
}

func (b *browsing) Authorize(ctx context.Context, _ sdk.AuthRequest) (sdk.Credential, error) {
	code, found, err := b.host.Secrets.Secret(ctx, "code")
	if err == nil && !found {
		err = sdk.Errorf(sdk.NeedsLogin, "log in first")
	}
	return sdk.Credential{Query: map[string]string{"code": string(code)}}, err
}

func (b *browsing) Challenge(context.Context, sdk.Challenge) (sdk.ChallengeResult, error) {
	return sdk.ChallengeResult{NeedsLogin: true}, nil
}

func (b *browsing) Login(ctx context.Context, _ []string) (string, error) {
	callback, err := b.host.Person.Callback(ctx, "/done")
	if err != nil {
		return "", err
	}
	defer callback.Close()
	if err := b.host.Person.OpenURL(ctx, b.page+"?redirect_uri="+url.QueryEscape(callback.URL()),
		"to log in"); err != nil {
		return "", err
	}
	query, err := callback.Wait(ctx)
	if err != nil {
		return "", err
	}
	values, err := url.ParseQuery(query)
	if err != nil {
		return "", err
	}
	return values.Get("who"), b.host.Secrets.SetSecret(ctx, "code", []byte(values.Get("code")), "")
}

func (b *browsing) Logout(ctx context.Context) error { return b.host.Secrets.DeleteSecret(ctx, "code") }

// TestBrowser checks a login with an authorization page and a redirect.
func TestBrowser(t *testing.T) {
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, r.FormValue("redirect_uri")+"?who=alice&code="+Canary, http.StatusFound)
	}))
	defer page.Close()
	var host *Host
	InProcess(t,
		&sdk.Plugin{Name: "browsing", Version: "1.0.0", Auths: map[string]sdk.Auth{"b": sdk.NewAuth(startBrowsing)}},
		Auth{
			Name: "b", Settings: `{"page":"` + page.URL + `"}`, Login: true, Account: "alice",
			Host: func(testing.TB) *Host { host = &Host{Browser: Follow}; return host },
			Want: sdk.Credential{Query: map[string]string{"code": Canary}},
		})
	if opened := host.Opened(); len(opened) == 0 ||
		!strings.HasPrefix(opened[0], page.URL+"?redirect_uri=http%3A%2F%2F127.0.0.1%3A") {
		t.Errorf("opened %q", opened)
	}
}

func TestHost(t *testing.T) {
	h := &Host{Answers: map[string]string{"user": "alice"}, Credential: sdk.Credential{Account: "bob"},
		Challenged: sdk.ChallengeResult{Retry: true}}
	h.Keep("before", "x")
	s := h.Services()
	if v, found, err := s.Secrets.Secret(t.Context(), "before"); string(v) != "x" || !found || err != nil {
		t.Errorf("kept %q, %t, %v", v, found, err)
	}
	if err := s.Secrets.SetSecret(t.Context(), "big", make([]byte, sdk.MaxSecret+1), ""); err == nil {
		t.Error("a secret that is too large was stored")
	}
	for address, ok := range map[string]bool{
		"https://a.example/": true, "http://127.0.0.1:1/": true,
		"http://localhost:1/": true, "http://a.example/": false,
		"file:///etc/passwd": false, "javascript:alert(1)": false,
		"--flag": false, "http://127.0.0.1.example:1/": false,
	} {
		if err := s.Person.OpenURL(t.Context(), address, ""); (err == nil) != ok {
			t.Errorf("%s: %v", address, err)
		}
	}
	if _, err := s.Person.Prompt(t.Context(),
		sdk.Prompt{Fields: []sdk.PromptField{{Name: "user"}, {Name: "password"}}}); err == nil {
		t.Error("a prompt without an answer succeeded")
	}
	if got := h.Prompts(); len(got) != 1 || len(got[0].Fields) != 2 {
		t.Errorf("asked %v", got)
	}
	cred, _ := s.Credentials.Authorize(t.Context(), sdk.AuthRequest{})
	res, _ := s.Credentials.Challenge(t.Context(), sdk.Challenge{})
	_ = s.Events.Event(t.Context(), "degraded", "")
	if cred.Account != "bob" || !res.Retry || !slices.Equal(h.Events(), []string{"degraded"}) {
		t.Errorf("%+v %+v %v", cred, res, h.Events())
	}
	callback, err := s.Person.Callback(t.Context(), "done")
	if err != nil {
		t.Fatal(err)
	}
	defer callback.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := callback.Wait(ctx); err == nil {
		t.Error("Wait returned without a redirect")
	}
	none := (*Host)(nil).Services()
	_, _, err = none.Secrets.Secret(t.Context(), "before")
	for what, err := range map[string]error{
		"Secret": err, "OpenURL": none.Person.OpenURL(t.Context(), "https://example.com", ""),
		"Event": none.Events.Event(t.Context(), "x", ""),
	} {
		if sdk.CodeOf(err) != sdk.Unimplemented {
			t.Errorf("%s of a nil Host: %v", what, err)
		}
	}
}
