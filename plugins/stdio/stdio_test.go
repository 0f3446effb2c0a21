package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/plugins/internal/docscheck"
	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/sdk/plugintest"
)

var stdioCase = plugintest.Transport{
	Name: "stdio",
	Peer: func(t testing.TB) plugintest.Peer {
		command, die := plugintest.EchoCommand(t)
		settings, err := json.Marshal(map[string]any{
			"command": command[:2], "args": command[2:], "env": map[string]string{"TOKEN": plugintest.Canary},
			"cwd": t.TempDir(),
		})
		if err != nil {
			t.Fatal(err)
		}
		return plugintest.Peer{Settings: string(settings), Die: die}
	},
	Refused: []plugintest.Refusal{
		{Settings: `{"command":[]}`, Paths: []string{"command"}},
		{Settings: `{"command":[""],"args":["x"]}`, Paths: []string{"command"}},
		{Settings: `{"command":["x",null]}`, Paths: []string{"command[1]"}},
		{Settings: `{"command":["x"],"env":{"A":1},"pass_env":"B","cwd":2}`,
			Paths: []string{`env["A"]`, "pass_env", "cwd"}},
	},
}

func TestPlugin(t *testing.T) { plugintest.InProcess(t, plugin(), stdioCase) }

func TestProgram(t *testing.T) { plugintest.Binary(t, plugintest.Build(t, "."), stdioCase) }

// started opens a server and returns its first message.
func started(t *testing.T, server *sdk.Server, script string, more string) (string, error) {
	t.Helper()
	server.Log = hclog.NewNullLogger()
	settings := `{"command":["/bin/sh","-c"],"args":["` + script + `"]` + more + `}`
	conn, err := plugin().Transports["stdio"].Open(t.Context(), server, []byte(settings))
	if err != nil {
		return "", err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := conn.Close(ctx); err != nil {
			t.Error(err)
		}
	}()
	msg, err := conn.Recv()
	return string(msg), err
}

// TestCwd checks that a relative cwd is relative to the directory of the
// configuration.
func TestCwd(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	const where = `echo {\\\"at\\\":\\\"$(pwd -P)\\\"}`
	for cwd, want := range map[string]string{"": dir, "sub": filepath.Join(dir, "sub"), "/": "/"} {
		got, err := started(t, &sdk.Server{Dir: dir}, where, `,"cwd":"`+cwd+`"`)
		if want = `{"at":"` + want + `"}`; err != nil || got != want {
			t.Errorf("cwd %q: %s, %v; want %s", cwd, got, err, want)
		}
	}
	_, err = started(t, &sdk.Server{Dir: dir}, "exit", `,"cwd":"absent"`)
	if e, ok := errors.AsType[*sdk.Error](err); !ok || e.Path != "cwd" ||
		!strings.Contains(e.Message, filepath.Join(dir, "absent")) {
		t.Errorf("got %v", err)
	}
}

// TestEnv checks that variables of the settings replace those that the host
// passes, and these replace the inherited ones.
func TestEnv(t *testing.T) {
	t.Setenv("LANG", "inherited")
	t.Setenv("CANARY", "not for servers")
	got, err := started(t, &sdk.Server{Env: []string{"LANG=passed", "PASSED=1", "BOTH=passed"}},
		`echo {\\\"saw\\\":\\\"$LANG $PASSED $BOTH $CANARY.\\\"}`, `,"env":{"BOTH":"set"}`)
	if want := `{"saw":"passed 1 set ."}`; err != nil || got != want {
		t.Errorf("%s, %v; want %s", got, err, want)
	}
}

// TestDocuments checks that CHANGELOG.md has the version and README.md every
// setting.
func TestDocuments(t *testing.T) { docscheck.Check(t, plugin()) }
