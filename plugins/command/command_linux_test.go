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
	"github.com/junctor-mcp/junctor/testdata/eventually"
)

// settingsOf returns settings that run a shell script, with more attributes.
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
		Name: "command",
		Settings: settingsOf(t, `set -x; printf '{"token":"%s","expires_in":3600}' "$TOKEN"`,
			map[string]any{"env": map[string]string{"TOKEN": plugintest.Canary}}),
		Want: sdk.Credential{Headers: map[string]string{"Authorization": "Bearer " + plugintest.Canary}},
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

// startScript returns an authorizer that runs a script in a directory of its own,
// and a function that returns how often the script ran.
func startScript(t *testing.T, script string, more map[string]any, env ...string) (a sdk.Authorizer, runs func() int) {
	t.Helper()
	dir := t.TempDir()
	a, err := plugin().Auths["command"].Start(t.Context(), &sdk.AuthServer{Dir: dir, Env: env},
		[]byte(settingsOf(t, "echo x >>runs\n"+script, more)))
	if err != nil {
		t.Fatal(err)
	}
	return a, func() int {
		text, _ := os.ReadFile(filepath.Join(dir, "runs"))
		return strings.Count(string(text), "x")
	}
}

// authorization returns the value of the header Authorization.
func authorization(t *testing.T, a sdk.Authorizer) string {
	t.Helper()
	cred, err := a.Authorize(t.Context(), sdk.AuthRequest{})
	if err != nil {
		t.Fatal(err)
	}
	return cred.Headers["Authorization"]
}

// TestRequestsShareOneRun counts the runs for 20 concurrent requests and one more.
func TestRequestsShareOneRun(t *testing.T) {
	for name, c := range map[string]struct {
		output string
		more   map[string]any
		runs   int // after 20 requests, and then one more
	}{
		"without an end":        {`{"token":"t"}`, nil, 1},
		"with an end":           {`{"token":"t","expires_in":3600}`, nil, 1},
		"that ends within 30 s": {`{"token":"t","expires_in":20}`, nil, 1},
		"cached":                {`{"token":"t"}`, map[string]any{"cache": "1h"}, 1},
		"that has ended":        {`{"token":"t","expires_in":0.05}`, nil, 2},
		"cached and ended":      {`{"token":"t"}`, map[string]any{"cache": "50ms"}, 2},
	} {
		a, runs := startScript(t, "echo '"+c.output+"'", c.more)
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				if _, err := a.Authorize(t.Context(), sdk.AuthRequest{}); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		time.Sleep(60 * time.Millisecond) // longer than the two outputs that expire
		if got := authorization(t, a); got != "Bearer t" {
			t.Errorf("%s: %q", name, got)
		}
		if got := runs(); got < c.runs || c.runs == 1 && got > 1 {
			t.Errorf("%s: %d runs, want %d", name, got, c.runs)
		}
	}
}

func TestChallengeRetriesOnlyWithAnotherCredential(t *testing.T) {
	for name, c := range map[string]struct {
		script string
		retry  bool
	}{
		"the same":    {`echo '{"token":"t"}'`, false},
		"another end": {`echo '{"token":"t","expires_in":'$(wc -l <runs)'000}'`, false},
		"another":     {`echo '{"token":"t'$(wc -l <runs)'"}'`, true},
	} {
		a, runs := startScript(t, c.script, nil)
		authorization(t, a)
		res, err := a.Challenge(t.Context(), sdk.Challenge{Status: 401, Attempt: 1})
		if err != nil || res.Retry != c.retry || res.NeedsLogin || runs() != 2 {
			t.Errorf("%s: %+v, %v after %d runs", name, res, err, runs())
		}
		if authorization(t, a); runs() != 2 {
			t.Errorf("%s: %d runs after the next request", name, runs())
		}
	}
	a, _ := startScript(t, `echo '{"token":"t"}'`, nil)
	if res, err := a.Challenge(t.Context(), sdk.Challenge{Status: 401, Attempt: 1}); err != nil || !res.Retry {
		t.Errorf("after a restart: %+v, %v", res, err)
	}
}

// TestFailedRun checks the error for each way in which a run can fail. The error
// shows no value that the program was given or printed on standard output.
func TestFailedRun(t *testing.T) {
	const secret = "s3cret-in-the-environment"
	for name, c := range map[string]struct {
		script  string
		more    map[string]any
		message string
		output  string
	}{
		"a status": {"echo no session; echo log in first >&2; exit 3",
			nil, "exited with status 3", "log in first"},
		"a signal": {"kill -9 $$", nil, "was killed by SIGKILL", ""},
		"time": {"sleep 100 & sleep 100",
			map[string]any{"timeout": "200ms"}, "had not ended after 200ms", ""},
		"too much":          {"head -c 70000 /dev/zero; sleep 100", nil, "printed more than 64 KiB", ""},
		"too much, at once": {"head -c 65537 /dev/zero", nil, "printed more than 64 KiB", ""},
		"no JSON":           {"echo hello; echo whatever >&2", nil, "did not print one JSON object", "whatever"},
		"no JSON but tokens": {"echo tok3n-on-stdout; echo got tok3n-on-stdout >&2",
			nil, "did not print one JSON object", "got ***"},
		"being debugged": {"set -x; : $GIVEN $PASSED-passed; exit 1",
			map[string]any{"env": map[string]string{"GIVEN": secret}}, "exited with status 1", ": *** ***-passed"},
		"many words": {"seq 1 10000 >&2; exit 1", nil, "exited with status 1", "10000"},
	} {
		begun := time.Now()
		a, _ := startScript(t, c.script, c.more, "PASSED="+secret+"-2")
		_, err := a.Authorize(t.Context(), sdk.AuthRequest{})
		e, ok := errors.AsType[*sdk.Error](err)
		if !ok || e.Code != sdk.Unavailable || !strings.Contains(e.Message, `the program "sh" `+c.message) ||
			e.Path != "command" || e.Hint == "" {
			t.Errorf("%s: %v", name, err)
			continue
		}
		output := strings.Join(e.Output, "\n")
		if !strings.Contains(output, c.output) || len(e.Output) > maxErrorLines ||
			strings.Contains(output+e.Message+e.Hint, "s3cret") || strings.Contains(output, "tok3n") {
			t.Errorf("%s: the output is %q", name, output)
		}
		if took := time.Since(begun); took > 20*time.Second {
			t.Errorf("%s took %s", name, took)
		}
	}
	_, err := startSettings(t, `{"command":["junctor-has-no-such-program"]}`).Authorize(t.Context(), sdk.AuthRequest{})
	if e, ok := errors.AsType[*sdk.Error](err); !ok || e.Reason != "command_not_found" || e.Path != "command" {
		t.Errorf("a program that does not exist: %v", err)
	}
}

// startSettings returns an authorizer with the given settings.
func startSettings(t *testing.T, settings string) sdk.Authorizer {
	t.Helper()
	a, err := plugin().Auths["command"].Start(t.Context(), &sdk.AuthServer{Dir: t.TempDir()}, []byte(settings))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestProcessesOfTheProgramAreKilled checks that child processes end with the
// program, and that the program ends when its request is cancelled.
func TestProcessesOfTheProgramAreKilled(t *testing.T) {
	a, _ := startScript(t, `sleep 100 & echo '{"token":"'$!'"}'`, nil)
	begun := time.Now()
	pid := strings.TrimPrefix(authorization(t, a), "Bearer ")
	if took := time.Since(begun); took > 20*time.Second {
		t.Errorf("it took %s: the run waited for the child process to close the output", took)
	}
	// A killed process needs a moment to end.
	eventually.True(t, "process "+pid+" has ended", func() bool { return !alive(pid) })
	a, runs := startScript(t, `sleep 100`, nil)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		_, err := a.Authorize(ctx, sdk.AuthRequest{})
		ended <- err
	}()
	eventually.True(t, "the program runs", func() bool { return runs() > 0 })
	cancel()
	select {
	case err := <-ended:
		if !errors.Is(err, context.Canceled) {
			t.Errorf("the cancelled request failed with %v", err)
		}
	case <-time.After(20 * time.Second):
		t.Error("the cancelled request waits for its program")
	}
	if runs() != 1 {
		t.Errorf("%d runs", runs())
	}
}

// alive reports whether a process exists and is not a zombie.
func alive(pid string) bool {
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	return err == nil && !strings.Contains(string(stat), ") Z ")
}

// TestProgramGetsItsEnvironmentAndArgumentsUnchanged checks that the program gets
// only the configured variables, and that no shell interprets its arguments.
func TestProgramGetsItsEnvironmentAndArgumentsUnchanged(t *testing.T) {
	t.Setenv("CANARY", "not for programs")
	a, _ := startScript(t, `printf '{"token":"%s"}' "$GIVEN,$PASSED,$CANARY."`,
		map[string]any{"env": map[string]string{"GIVEN": "1"}}, "PASSED=2")
	if got := authorization(t, a); got != "Bearer 1,2,." {
		t.Errorf("got %q", got)
	}
	text := `$(id);"&|` + "`id`"
	a = startSettings(t, settingsOf(t, `printf %s "$1"`,
		map[string]any{"format": "token", "command": []string{"/bin/sh", "-c", `printf %s "$1"`, "sh", text}}))
	if got := authorization(t, a); got != "Bearer "+text {
		t.Errorf("got %q", got)
	}
}

func TestStatusDoesNotRunTheProgram(t *testing.T) {
	end := time.Now().Add(time.Hour).Truncate(time.Second).UTC()
	a, runs := startScript(t,
		fmt.Sprintf(`echo '{"token":"t","account":"ann","expires_at":"%s"}'`, end.Format(time.RFC3339)), nil)
	if st, err := a.(sdk.AuthStatuser).Status(t.Context()); err != nil || st.State != "unknown" || runs() != 0 {
		t.Errorf("before: %+v, %v, %d runs", st, err, runs())
	}
	authorization(t, a)
	if st, err := a.(sdk.AuthStatuser).Status(t.Context()); err != nil || st.State != "ready" || st.Account != "ann" ||
		!st.Expires.Equal(end) || runs() != 1 {
		t.Errorf("after: %+v, %v, %d runs", st, err, runs())
	}
}
