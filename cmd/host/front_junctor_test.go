package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/junctor-mcp/junctor/testdata/eventually"
)

// asker is an MCP server with a tool that asks questions and one that waits for its
// cancellation. It records what happens in files in the directory of its argument.
func asker() {
	s := mcp.NewServer(&mcp.Implementation{Name: "asker", Version: "1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "ask"}, func(ctx context.Context, r *mcp.CallToolRequest, _ struct{}) (
		*mcp.CallToolResult, any, error,
	) {
		var heard []string
		for i := range 3 {
			answer, err := r.Session.Elicit(ctx, &mcp.ElicitParams{Message: fmt.Sprintf("question %d", i),
				RequestedSchema: json.RawMessage(`{"type":"object","properties":{"word":{"type":"string"}}}`)})
			if err != nil {
				return nil, nil, err
			}
			heard = append(heard, fmt.Sprint(answer.Content["word"]))
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: strings.Join(heard, " ")}}}, nil, nil
	})
	mcp.AddTool(s, &mcp.Tool{Name: "wait"},
		func(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
			leave := func(name string) { _ = os.WriteFile(filepath.Join(os.Args[1], name), nil, 0o600) }
			leave("called")
			<-ctx.Done()
			leave("cancelled")
			return nil, nil, ctx.Err()
		})
	if err := s.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		os.Exit(1)
	}
}

// TestDeployJunctor: Junctor and nginx work together with the configurations of the
// recipe.
func TestDeployJunctor(t *testing.T) {
	if _, err := exec.LookPath("nginx"); err != nil {
		if os.Getenv("JUNCTOR_REQUIRE_PROXY") == "nginx" {
			t.Fatal(err)
		}
		t.Skip("nginx is not installed; its recipe was not run")
	}
	dir := socketDir(t)
	socket := filepath.Join(dir, "mcp.sock")
	startJunctor(t, dir, socket)
	f := nginxFront(t, "unix:"+socket)
	t.Run("refused", func(t *testing.T) { f.refused(t) })
	t.Run("asked back", func(t *testing.T) { f.askedBack(t) })
	t.Run("large", func(t *testing.T) { f.large(t) })
	t.Run("gone", func(t *testing.T) { f.goneAway(t, dir) })
}

const deployToken = "0123456789abcdef0123456789abcdef"

func startJunctor(t *testing.T, dir, socket string) {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	build(t, filepath.Join(dir, "plugins", "junctor-plugin-stdio"), "./plugins/stdio")
	server := filepath.Join(dir, "asker")
	if err := os.Symlink(program, server); err != nil {
		t.Skip(err)
	}
	config := filepath.Join(dir, "config")
	if err := os.Mkdir(config, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"junctor.hcl": deployFile(t, "junctor.hcl"),
		"asker.hcl": fmt.Sprintf("server \"asker\" {\n  share    = \"session\"\n  protocol = \"2025-11-25\"\n  transport \"stdio\" {\n    command = [%q, %q]\n  }\n}\n",
			server, dir)} {
		if err := os.WriteFile(filepath.Join(config, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(program, "-c", config, "serve", "--http=unix:"+socket)
	cmd.Args[0] = "junctor"
	cmd.Env = append(os.Environ(), "JUNCTOR_HOME="+filepath.Join(dir, "home"),
		"JUNCTOR_PLUGIN_DIR="+filepath.Join(dir, "plugins"), "JUNCTOR_TOKEN="+deployToken)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &said, &said, time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		hard := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
		if err := cmd.Wait(); err != nil {
			t.Errorf("junctor: %v", err)
		}
		hard.Stop()
		if t.Failed() {
			t.Logf("junctor said:\n%s", said.String())
		}
	})
	await(t, socket)
}

// await waits for a file.
func await(t *testing.T, path string) {
	t.Helper()
	eventually.NoError(t, func() error {
		_, err := os.Lstat(path)
		return err
	})
}

func (f front) send(t *testing.T, ctx context.Context, message string, header ...string) *http.Response {
	t.Helper()
	header = append([]string{"Content-Type", "application/json", "Authorization", "Bearer " + deployToken,
		"Origin", "https://app.example.com"}, header...)
	return f.do(t, ctx, http.MethodPost, "/mcp", strings.NewReader(message), header...)
}

// refused: nginx passes the credentials and the origin to Junctor.
func (f front) refused(t *testing.T) {
	const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	for name, header := range map[string][]string{"token": {"Authorization", "Bearer wrong"},
		"origin": {"Origin", "https://evil.example.com"}} {
		if resp := f.send(t, t.Context(), ping, header...); resp.StatusCode != http.StatusUnauthorized &&
			resp.StatusCode != http.StatusForbidden {
			t.Errorf("a wrong %s: %s", name, resp.Status)
		}
	}
}

// open starts a legacy session.
func (f front) open(t *testing.T) (session []string) {
	t.Helper()
	resp := f.send(t, t.Context(), `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}},"clientInfo":{"name":"t","version":"1"}}}`)
	answer, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK || resp.Header.Get("Mcp-Session-Id") == "" {
		t.Fatalf("%s, %v: %s", resp.Status, err, answer)
	}
	session = []string{"Mcp-Session-Id", resp.Header.Get("Mcp-Session-Id"), "Mcp-Protocol-Version", "2025-11-25"}
	if resp := f.send(t, t.Context(), `{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		session...); resp.StatusCode != http.StatusAccepted {
		t.Fatal(resp.Status)
	}
	return session
}

// askedBack: each question arrives while the stream is open, because the next one and the
// result follow its answer.
func (f front) askedBack(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	session := f.open(t)
	resp := f.send(t, ctx,
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"asker__ask","arguments":{}}}`, session...)
	lines := bufio.NewScanner(resp.Body)
	var unread []string
	for asked := 0; lines.Scan(); {
		data, ok := strings.CutPrefix(lines.Text(), "data:")
		if !ok || strings.TrimSpace(data) == "" {
			unread = append(unread, lines.Text())
			continue
		}
		var m struct {
			ID     json.RawMessage
			Method string
			Result json.RawMessage
		}
		if err := json.Unmarshal([]byte(data), &m); err != nil {
			t.Fatal(err)
		}
		if m.Method == "" {
			if asked != 3 || !strings.Contains(string(m.Result), `"word0 word1 word2"`) {
				t.Errorf("after %d questions: %s", asked, data)
			}
			return
		}
		answer := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"word":"word%d"}}}`,
			m.ID, asked)
		if resp := f.send(t, ctx, answer, session...); resp.StatusCode != http.StatusAccepted {
			t.Fatal(resp.Status)
		}
		asked++
	}
	t.Fatalf("%s: the stream ended (%v): %q", resp.Status, lines.Err(), unread)
}

// large: a message of 1 MiB, the configured maximum, is accepted.
func (f front) large(t *testing.T) {
	session := f.open(t)
	message := `{"jsonrpc":"2.0","id":3,"method":"ping","params":{"_meta":{"pad":"%s"}}}`
	message = fmt.Sprintf(message, strings.Repeat("x", 1<<20-len(message)+len("%s")))
	resp := f.send(t, t.Context(), message, session...)
	answer, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK || !strings.Contains(string(answer), `"result":{}`) {
		t.Errorf("%d bytes: %s, %v: %s", len(message), resp.Status, err, answer)
	}
	if resp := f.send(t, t.Context(), message+" ", session...); resp.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("one byte more: %s", resp.Status)
	}
}

// goneAway: the server learns that a modern client has disconnected.
func (f front) goneAway(t *testing.T, dir string) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	const call = `{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"asker__wait","arguments":{},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, f.url+"/mcp", strings.NewReader(call))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{"Content-Type": "application/json",
		"Accept": "application/json, text/event-stream", "Authorization": "Bearer " + deployToken,
		"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "asker__wait"} {
		req.Header.Set(name, value)
	}
	done := make(chan string, 1)
	go func() {
		resp, err := f.client.Do(req)
		if err == nil {
			answer, _ := io.ReadAll(resp.Body)
			_ = resp.Body.Close()
			done <- resp.Status + ": " + string(answer)
			return
		}
		done <- err.Error()
	}()
	await(t, filepath.Join(dir, "called"))
	cancel()
	<-done
	await(t, filepath.Join(dir, "cancelled"))
}
