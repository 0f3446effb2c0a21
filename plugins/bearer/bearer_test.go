package main

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/plugins/internal/docscheck"
	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/sdk/plugintest"
)

var configured = plugintest.Auth{
	Name: "bearer", Settings: `{"token":"` + plugintest.Canary + `"}`,
	Want: sdk.Credential{Headers: map[string]string{"Authorization": "Bearer " + plugintest.Canary}},
	Refused: []plugintest.Refusal{
		{Settings: `{"token":""}`, Paths: []string{"token"}},
		{Settings: `{"token":" \n"}`, Paths: []string{"token"}},
		{Settings: `{"token":"a\nb"}`, Paths: []string{"token"}},
		{Settings: `{"token":"ä"}`, Paths: []string{"token"}},
		{Settings: `{"token":"Bearer x"}`, Paths: []string{"token"}},
		{Settings: `{"token":"bearer"}`, Paths: []string{"token"}},
		{Settings: `{"token":"token t","scheme":"Token"}`, Paths: []string{"token"}},
		{Settings: `{"token":"` + strings.Repeat("x", maxToken+1) + `"}`, Paths: []string{"token"}},
		{Settings: `{"token":"x","token_file":"y"}`, Paths: []string{"token"}},
		{Settings: `{"token":["x"],"scheme":1}`, Paths: []string{"token", "scheme"}},
		{Settings: `{"header":"","scheme":"a b"}`, Paths: []string{"header", "scheme"}},
		{Settings: `{"header":"X Y"}`, Paths: []string{"header"}},
		{Settings: `{"header":"Host"}`, Paths: []string{"header"}},
		{Settings: `{"header":"mcp-session-id"}`, Paths: []string{"header"}},
		{Settings: `{"header":"A\r\nB"}`, Paths: []string{"header"}},
	},
}

// enteredOnce has no sensitive setting. The checks require the canary in the
// settings all the same, so scheme contains it.
var enteredOnce = plugintest.Auth{
	Name: "bearer", Settings: `{"scheme":"X-` + plugintest.Canary + `"}`, Login: true,
	Host: func(testing.TB) *plugintest.Host {
		return &plugintest.Host{Answers: map[string]string{"token": " " + plugintest.Canary + "\n"}}
	},
	Want: sdk.Credential{
		Headers: map[string]string{"Authorization": "X-" + plugintest.Canary + " " + plugintest.Canary},
	},
}

func TestPlugin(t *testing.T) { plugintest.InProcess(t, plugin(), configured, enteredOnce) }

func TestProgram(t *testing.T) { plugintest.Binary(t, plugintest.Build(t, "."), configured) }

// started starts an authorizer.
func started(t *testing.T, server *sdk.AuthServer, settings string) sdk.Authorizer {
	t.Helper()
	server.Name = "demo"
	a, err := plugin().Auths["bearer"].Start(t.Context(), server, []byte(settings))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// presents compares the headers of an authorizer's credential.
func presents(t *testing.T, a sdk.Authorizer, want map[string]string) {
	t.Helper()
	cred, err := a.Authorize(t.Context(), sdk.AuthRequest{})
	if err != nil || !maps.Equal(cred.Headers, want) {
		t.Errorf("presents %v, %v; want %v", cred.Headers, err, want)
	}
}

func challenged(t *testing.T, a sdk.Authorizer) sdk.ChallengeResult {
	t.Helper()
	res, err := a.Challenge(t.Context(), sdk.Challenge{Status: 401, Attempt: 1})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func TestPresented(t *testing.T) {
	for settings, want := range map[string]map[string]string{
		`{"token":"abc"}`:                                             {"Authorization": "Bearer abc"},
		`{"token":" abc\n"}`:                                          {"Authorization": "Bearer abc"},
		`{"token":"Bearerabc"}`:                                       {"Authorization": "Bearer Bearerabc"},
		`{"token":"abc","scheme":""}`:                                 {"Authorization": "abc"},
		`{"token":"token=abc","scheme":"Token"}`:                      {"Authorization": "Token token=abc"},
		`{"token":"abc","header":"X-API-Key","scheme":""}`:            {"X-API-Key": "abc"},
		`{"token":"Bearer abc","header":"authorization","scheme":""}`: {"authorization": "Bearer abc"},
	} {
		presents(t, started(t, &sdk.AuthServer{}, settings), want)
	}
	a := started(t, &sdk.AuthServer{}, `{"token":"abc"}`)
	if res := challenged(t, a); !res.Retry {
		t.Errorf("after a restart: %+v", res)
	}
	res := challenged(t, a)
	if res.Retry || res.NeedsLogin ||
		!strings.Contains(res.Reason, "the attribute token holds: put another one there") {
		t.Errorf("a configured token that is refused: %+v", res)
	}
}

// TestFile checks that the path is relative to the configuration, that a new
// token is found, and that errors explain what is wrong with the file.
func TestFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "token")
	put := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	a := started(t, &sdk.AuthServer{Dir: dir}, `{"token_file":"token"}`)
	for what, spoil := range map[string]func(){
		"there is no such file":   func() {},
		"is empty":                func() { put(" \n") },
		"is longer than":          func() { put(strings.Repeat("s3cret", maxToken)) },
		"such as a line break":    func() { put("s3cret\nsecond\n") },
		"begins with the scheme":  func() { put("Bearer s3cret") },
		"that is no regular file": func() { _ = os.Remove(path); _ = os.Mkdir(path, 0o700) },
	} {
		spoil()
		_, err := a.Authorize(t.Context(), sdk.AuthRequest{})
		e, ok := errors.AsType[*sdk.Error](err)
		if !ok || e.Path != "token_file" || e.Code != sdk.AuthRequired || !strings.Contains(e.Message, what) ||
			!strings.Contains(e.Message, path) || strings.Contains(e.Message, "s3cret") {
			t.Errorf("want %q: %v", what, err)
		}
		_ = os.Remove(path)
	}
	put("one\n")
	presents(t, a, map[string]string{"Authorization": "Bearer one"})
	if res := challenged(t, a); res.Retry || res.NeedsLogin || !strings.Contains(res.Reason, path) {
		t.Errorf("the unchanged token was rejected: %+v", res)
	}
	put("two\n")
	if res := challenged(t, a); !res.Retry {
		t.Errorf("the file has a new token: %+v", res)
	}
	presents(t, a, map[string]string{"Authorization": "Bearer two"})
	if res := challenged(t, a); res.Retry {
		t.Errorf("the new token was rejected too: %+v", res)
	}
	put("")
	if res := challenged(t, a); res.Retry || res.NeedsLogin || !strings.Contains(res.Reason, "is empty") {
		t.Errorf("the file is empty: %+v", res)
	}
	if cred, err := started(t, &sdk.AuthServer{}, `{"token":"x"}`).Authorize(t.Context(),
		sdk.AuthRequest{}); err != nil ||
		!cred.Expires.IsZero() {
		t.Errorf("a configured token expires: %v, %v", cred.Expires, err)
	}
}

// TestEntered checks that an entered token is trimmed, or rejected and not
// stored, and that a token entered meanwhile is found.
func TestEntered(t *testing.T) {
	host := &plugintest.Host{Answers: map[string]string{}}
	a := started(t, &sdk.AuthServer{Host: host.Services()}, `{}`)
	login := func() error {
		_, err := a.(sdk.Loginer).Login(t.Context(), nil)
		return err
	}
	_, err := a.Authorize(t.Context(), sdk.AuthRequest{})
	if e, ok := errors.AsType[*sdk.Error](err); !ok || e.Code != sdk.NeedsLogin ||
		!strings.Contains(e.Hint, "junctor login demo") {
		t.Errorf("before the login: %v", err)
	}
	if err := login(); sdk.CodeOf(err) != sdk.Canceled {
		t.Errorf("the user cancels the prompt: %v", err)
	}
	for _, wrong := range []string{"", " ", "Bearer s3cret", "s3\ncret", strings.Repeat("s3cret", maxToken)} {
		host.Answers["token"] = wrong
		if err := login(); sdk.CodeOf(err) != sdk.Invalid || strings.Contains(err.Error(), "s3") {
			t.Errorf("%.20q: %v", wrong, err)
		}
	}
	if len(host.Secrets()) != 0 {
		t.Errorf("stored: %v", host.Secrets())
	}
	host.Answers["token"] = "one"
	if err := login(); err != nil {
		t.Fatal(err)
	}
	presents(t, a, map[string]string{"Authorization": "Bearer one"})
	if res := challenged(t, a); !res.NeedsLogin || res.Retry {
		t.Errorf("the token was rejected: %+v", res)
	}
	host.Keep(secretKey, "two")
	if res := challenged(t, a); !res.Retry || res.NeedsLogin {
		t.Errorf("there is a new token: %+v", res)
	}
	if p := host.Prompts(); !p[0].Fields[0].Secret || !strings.Contains(p[0].Title, "demo") {
		t.Errorf("the prompt was %+v", p[0])
	}
	if err := a.(sdk.Loginer).Logout(context.Background()); err != nil || len(host.Secrets()) != 0 {
		t.Errorf("after the logout: %v, %v", host.Secrets(), err)
	}
	if st, err := a.(sdk.AuthStatuser).Status(t.Context()); err != nil || st.State != "needs_login" {
		t.Errorf("after the logout: %+v, %v", st, err)
	}
	if res := challenged(t, a); !res.NeedsLogin {
		t.Errorf("after the logout: %+v", res)
	}
}

// TestDocuments checks that CHANGELOG.md has the version and README.md every
// setting.
func TestDocuments(t *testing.T) { docscheck.Check(t, plugin()) }
