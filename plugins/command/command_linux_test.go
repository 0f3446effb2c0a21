package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/sdk/plugintest"
)

// settingsOf makes the settings for a shell script.
func settingsOf(t testing.TB, script string, more map[string]any) string {
	t.Helper()
	all := map[string]any{"command": []string{"/bin/sh", "-c", script}}
	for name, v := range more {
		all[name] = v
	}
	text, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func commandCase(t testing.TB) plugintest.Auth {
	return plugintest.Auth{
		Name:     "command",
		Settings: settingsOf(t, `set -x; printf '{"token":"%s","expires_in":3600}' "$TOKEN"`, map[string]any{"env": map[string]string{"TOKEN": plugintest.Canary}}),
		Want:     sdk.Credential{Headers: map[string]string{"Authorization": "Bearer " + plugintest.Canary}},
		Refused: []plugintest.Refusal{
			{Settings: `{}`, Paths: []string{"command"}},
			{Settings: `{"command":[]}`, Paths: []string{"command"}},
			{Settings: `{"command":[""]}`, Paths: []string{"command"}},
			{Settings: `{"command":"x -y"}`, Paths: []string{"command"}},
			{Settings: `{"command":["x"],"format":"yaml"}`, Paths: []string{"format"}},
			{Settings: `{"command":["x"],"timeout":"0s"}`, Paths: []string{"timeout"}},
			{Settings: `{"command":["x"],"timeout":"6m"}`, Paths: []string{"timeout"}},
			{Settings: `{"command":["x"],"cache":"-1s"}`, Paths: []string{"cache"}},
			{Settings: `{"command":["x"],"header":"Host","scheme":"a b"}`, Paths: []string{"header", "scheme"}},
			{Settings: `{"command":["x"],"env":{"A":1},"pass_env":"B"}`, Paths: []string{`env["A"]`, "pass_env"}},
		},
	}
}

func TestPlugin(t *testing.T) { plugintest.InProcess(t, plugin(), commandCase(t)) }

func TestProgram(t *testing.T) {
	plugintest.Binary(t, plugintest.Build(t, "."), commandCase(t))
}

// started makes an authorizer that runs a script in a directory of its own,
// where the script counts its runs in the file "runs".
func started(t *testing.T, script string, more map[string]any, env ...string) (a sdk.Authorizer, runs func() int) {
	t.Helper()
	dir := t.TempDir()
	a, err := plugin().Auths["command"].Start(t.Context(), &sdk.AuthServer{Dir: dir, Env: env}, []byte(settingsOf(t, "echo x >>runs\n"+script, more)))
	if err != nil {
		t.Fatal(err)
	}
	return a, func() int {
		text, _ := os.ReadFile(filepath.Join(dir, "runs"))
		return strings.Count(string(text), "x")
	}
}

func authorized(t *testing.T, a sdk.Authorizer) string {
	t.Helper()
	cred, err := a.Authorize(t.Context(), sdk.AuthRequest{})
	if err != nil {
		t.Fatal(err)
	}
	return cred.Headers["Authorization"]
}

// TestOnce: many requests are one run, until the output ends.
func TestOnce(t *testing.T) {
	for what, c := range map[string]struct {
		output string
		more   map[string]any
		runs   int // after 20 requests, and then one more
	}{
		"without an end":        {`{"token":"t"}`, nil, 1},
		"with an end":           {`{"token":"t","expires_in":3600}`, nil, 1},
		"that ends within skew": {`{"token":"t","expires_in":20}`, nil, 1},
		"cached":                {`{"token":"t"}`, map[string]any{"cache": "1h"}, 1},
		"that has ended":        {`{"token":"t","expires_in":0.05}`, nil, 2},
		"cached and ended":      {`{"token":"t"}`, map[string]any{"cache": "50ms"}, 2},
	} {
		a, runs := started(t, "echo '"+c.output+"'", c.more)
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				if _, err := a.Authorize(t.Context(), sdk.AuthRequest{}); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		time.Sleep(60 * time.Millisecond) // less than anything but those that end
		if got := authorized(t, a); got != "Bearer t" {
			t.Errorf("%s: %q", what, got)
		}
		if got := runs(); got < c.runs || c.runs == 1 && got > 1 {
			t.Errorf("%s: %d runs, want %d", what, got, c.runs)
		}
	}
}

// TestChallenge: the program runs once more, and only another credential is
// worth another request.
func TestChallenge(t *testing.T) {
	for what, c := range map[string]struct {
		script string
		retry  bool
	}{
		"the same":    {`echo '{"token":"t"}'`, false},
		"another end": {`echo '{"token":"t","expires_in":'$(wc -l <runs)'000}'`, false},
		"another":     {`echo '{"token":"t'$(wc -l <runs)'"}'`, true},
	} {
		a, runs := started(t, c.script, nil)
		authorized(t, a)
		res, err := a.Challenge(t.Context(), sdk.Challenge{Status: 401, Attempt: 1})
		if err != nil || res.Retry != c.retry || res.NeedsLogin || runs() != 2 {
			t.Errorf("%s: %+v, %v after %d runs", what, res, err, runs())
		}
		if authorized(t, a); runs() != 2 {
			t.Errorf("%s: %d runs after the next request", what, runs())
		}
	}
	a, _ := started(t, `echo '{"token":"t"}'`, nil)
	if res, err := a.Challenge(t.Context(), sdk.Challenge{Status: 401, Attempt: 1}); err != nil || !res.Retry {
		t.Errorf("after a restart: %+v, %v", res, err)
	}
}

// TestFails: how a run can fail, and what is said of it: not what the program
// was given or printed.
func TestFails(t *testing.T) {
	const secret = "s3cret-in-the-environment"
	for what, c := range map[string]struct {
		script string
		more   map[string]any
		says   string
		said   string
	}{
		"a status":           {"echo no session; echo log in first >&2; exit 3", nil, "exited with status 3", "log in first"},
		"a signal":           {"kill -9 $$", nil, "was killed by SIGKILL", ""},
		"time":               {"sleep 100 & sleep 100", map[string]any{"timeout": "200ms"}, "had not ended after 200ms", ""},
		"too much":           {"head -c 70000 /dev/zero; sleep 100", nil, "printed more than 64 KiB", ""},
		"too much, at once":  {"head -c 65537 /dev/zero", nil, "printed more than 64 KiB", ""},
		"no JSON":            {"echo hello; echo whatever >&2", nil, "did not print one JSON object", "whatever"},
		"no JSON but tokens": {"echo tok3n-on-stdout; echo got tok3n-on-stdout >&2", nil, "did not print one JSON object", "got ***"},
		"being debugged":     {"set -x; : $GIVEN $PASSED-passed; exit 1", map[string]any{"env": map[string]string{"GIVEN": secret}}, "exited with status 1", ": *** ***-passed"},
		"many words":         {"seq 1 10000 >&2; exit 1", nil, "exited with status 1", "10000"},
	} {
		begun := time.Now()
		a, _ := started(t, c.script, c.more, "PASSED="+secret+"-2")
		_, err := a.Authorize(t.Context(), sdk.AuthRequest{})
		e, ok := errors.AsType[*sdk.Error](err)
		if !ok || e.Code != sdk.Unavailable || !strings.Contains(e.Message, `the program "sh" `+c.says) || e.Path != "command" || e.Hint == "" {
			t.Errorf("%s: %v", what, err)
			continue
		}
		said := strings.Join(e.Output, "\n")
		if !strings.Contains(said, c.said) || len(e.Output) > saidLines || strings.Contains(said+e.Message+e.Hint, "s3cret") || strings.Contains(said, "tok3n") {
			t.Errorf("%s: it said %q", what, said)
		}
		if took := time.Since(begun); took > 20*time.Second {
			t.Errorf("%s took %s", what, took)
		}
	}
	_, err := of(t, `{"command":["junctor-has-no-such-program"]}`).Authorize(t.Context(), sdk.AuthRequest{})
	if e, ok := errors.AsType[*sdk.Error](err); !ok || e.Reason != "command_not_found" || e.Path != "command" {
		t.Errorf("a program that is not there: %v", err)
	}
}

func of(t *testing.T, settings string) sdk.Authorizer {
	t.Helper()
	a, err := plugin().Auths["command"].Start(t.Context(), &sdk.AuthServer{Dir: t.TempDir()}, []byte(settings))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestGone: what the program started is ended with it, at its end and when
// nobody waits any more.
func TestGone(t *testing.T) {
	a, _ := started(t, `sleep 100 & echo '{"token":"'$!'"}'`, nil)
	begun := time.Now()
	pid := strings.TrimPrefix(authorized(t, a), "Bearer ")
	if took := time.Since(begun); took > 20*time.Second {
		t.Errorf("it took %s: somebody waited for the end of the output", took)
	}
	for begun := time.Now(); alive(pid); time.Sleep(time.Millisecond) { // it was killed, and needs a moment
		if time.Since(begun) > 20*time.Second {
			t.Fatalf("process %s is left", pid)
		}
	}
	a, runs := started(t, `sleep 100`, nil)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	go func() {
		for runs() == 0 && ctx.Err() == nil {
			time.Sleep(time.Millisecond)
		}
		cancel()
	}()
	if _, err := a.Authorize(ctx, sdk.AuthRequest{}); !errors.Is(err, context.Canceled) {
		t.Errorf("who gave up got %v", err)
	}
	if runs() != 1 {
		t.Errorf("%d runs", runs())
	}
}

// alive reports whether a process is more than a name.
func alive(pid string) bool {
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	return err == nil && !strings.Contains(string(stat), ") Z ")
}

// TestEnvironment: the program gets what it was given, and no shell reads its
// arguments.
func TestEnvironment(t *testing.T) {
	t.Setenv("CANARY", "not for programs")
	a, _ := started(t, `printf '{"token":"%s"}' "$GIVEN,$PASSED,$CANARY."`, map[string]any{"env": map[string]string{"GIVEN": "1"}}, "PASSED=2")
	if got := authorized(t, a); got != "Bearer 1,2,." {
		t.Errorf("got %q", got)
	}
	text := `$(id);"&|` + "`id`"
	a = of(t, settingsOf(t, `printf %s "$1"`, map[string]any{"format": "token", "command": []string{"/bin/sh", "-c", `printf %s "$1"`, "sh", text}}))
	if got := authorized(t, a); got != "Bearer "+text {
		t.Errorf("got %q", got)
	}
}

// TestStatus: the program is not run for it.
func TestStatus(t *testing.T) {
	end := time.Now().Add(time.Hour).Truncate(time.Second).UTC()
	a, runs := started(t, fmt.Sprintf(`echo '{"token":"t","account":"ann","expires_at":"%s"}'`, end.Format(time.RFC3339)), nil)
	if st, err := a.(sdk.AuthStatuser).Status(t.Context()); err != nil || st.State != "unknown" || runs() != 0 {
		t.Errorf("before: %+v, %v, %d runs", st, err, runs())
	}
	authorized(t, a)
	if st, err := a.(sdk.AuthStatuser).Status(t.Context()); err != nil || st.State != "ready" || st.Account != "ann" || !st.Expires.Equal(end) || runs() != 1 {
		t.Errorf("after: %+v, %v, %d runs", st, err, runs())
	}
}
