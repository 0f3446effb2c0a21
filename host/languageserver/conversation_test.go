package languageserver

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"
	"go.uber.org/goleak"

	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/testdata/bubble"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// describeStdio knows the plugin stdio.
func describeStdio(_ context.Context, p config.Plugin) (sdk.Manifest, error) {
	if p.Source != "builtin/stdio" {
		return sdk.Manifest{}, fault.New(fault.PluginDescribe, "there is no cached description of %s", p.Use)
	}
	return sdk.Manifest{Name: "stdio", Version: "1.0.0",
		Transports: map[string]sdk.Schema{"stdio": {Description: "Starts a program.", Attributes: []sdk.Attribute{
			{Name: "command", Description: "The program and its arguments.",
				Type: json.RawMessage(`["list","string"]`), Required: true},
			{Name: "env", Description: "Environment variables.",
				Type: json.RawMessage(`["map","string"]`), Sensitive: true},
			{Name: "mode", Description: "How fast.", Type: json.RawMessage(`"string"`),
				Enum: []string{"fast", "careful"}, Default: json.RawMessage(`"fast"`)},
		}}}}, nil
}

// TestConversations plays the conversations in testdata. A line "-> JSON" is sent, and a line
// "<- JSON" is expected. A line "raw QUOTED" sends bytes without a frame, "end" ends the input,
// and "error TEXT" is the result of Serve, "error" alone for none.
func TestConversations(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join("testdata", "*.txt"))
	if err != nil || len(paths) == 0 {
		t.Fatal(err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { play(t, path, string(text)) })
		})
	}
}

// A session is a client of Serve.
type session struct {
	t      *testing.T
	in     *io.PipeWriter
	out    *bufio.Reader
	result chan error
}

// open starts a session.
func open(t *testing.T, o Options) *session {
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	s := &session{t: t, in: toServer, out: bufio.NewReader(fromServer), result: make(chan error, 1)}
	if o.Log == nil {
		o.Log = hclog.NewNullLogger()
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		err := Serve(ctx, in, out, o)
		_ = out.Close()
		s.result <- err
	}()
	t.Cleanup(func() {
		cancel()
		_ = toServer.Close()
		_ = fromServer.Close()
	})
	return s
}

// framed returns a message with its header.
func framed(text string) string { return fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(text), text) }

func (s *session) send(text string) {
	s.t.Helper()
	if _, err := fmt.Fprint(s.in, framed(text)); err != nil {
		s.t.Fatal(err)
	}
}

// receive returns the next message.
func (s *session) receive() string {
	s.t.Helper()
	length := 0
	for {
		line, err := s.out.ReadString('\n')
		if err != nil {
			s.t.Fatal(err)
		}
		line = strings.TrimSpace(line)
		if line == "" {
			break
		}
		if text, ok := strings.CutPrefix(line, "Content-Length: "); ok {
			length, _ = strconv.Atoi(text)
		}
	}
	body := make([]byte, length)
	if _, err := io.ReadFull(s.out, body); err != nil {
		s.t.Fatal(err)
	}
	return string(body)
}

func play(t *testing.T, path, text string) {
	s := open(t, Options{Version: "1.2.3", Describe: describeStdio})
	for i, line := range strings.Split(text, "\n") {
		word, rest, _ := strings.Cut(line, " ")
		switch word {
		case "", "#":
		case "->":
			s.send(rest)
		case "<-":
			got := s.receive()
			if !equalJSON(t, got, rest) {
				t.Errorf("%s:%d:\n got %s\nwant %s", path, i+1, got, rest)
			}
		case "raw":
			bytes, err := strconv.Unquote(rest)
			if err != nil {
				t.Fatalf("%s:%d: %v", path, i+1, err)
			}
			if _, err := io.WriteString(s.in, bytes); err != nil {
				t.Fatal(err)
			}
		case "wait":
			bubble.Sleep(time.Second) // of the bubble
		case "end":
			_ = s.in.Close()
		case "error":
			err := <-s.result
			if fmt.Sprint(err) != strings.TrimSpace(rest) && (err != nil || rest != "") {
				t.Errorf("%s:%d: Serve returns %v, want %q", path, i+1, err, rest)
			}
		default:
			t.Fatalf("%s:%d: there is no %q", path, i+1, word)
		}
	}
}

func equalJSON(t *testing.T, a, b string) bool {
	t.Helper()
	var one, other any
	if err := json.Unmarshal([]byte(a), &one); err != nil {
		t.Fatalf("%v in %s", err, a)
	}
	if err := json.Unmarshal([]byte(b), &other); err != nil {
		t.Fatalf("%v in %s", err, b)
	}
	return reflect.DeepEqual(one, other)
}

// TestHugeMessagesAreAnswered sends a message above the limit, and then a usual one.
func TestHugeMessagesAreAnswered(t *testing.T) {
	s := open(t, Options{Describe: describeStdio})
	huge := bytes.Repeat([]byte(" "), maxMessage+1)
	go func() { _, _ = fmt.Fprint(s.in, framed(string(huge))) }()
	if got := s.receive(); !strings.Contains(got, `"code":-32600`) || !strings.Contains(got, "the most is") {
		t.Error(got)
	}
	s.send(`{"jsonrpc":"2.0","id":1,"method":"shutdown"}`)
	if got := s.receive(); !strings.Contains(got, `"code":-32002`) {
		t.Error(got)
	}
	_ = s.in.Close()
	if err := <-s.result; err != ErrNoShutdown {
		t.Error(err)
	}
}

// TestServeEndsWithItsContext: a signal ends a session while it waits for the editor.
func TestServeEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	in, w := io.Pipe()
	defer w.Close()
	result := make(chan error, 1)
	go func() {
		result <- Serve(ctx, in, io.Discard, Options{Log: hclog.NewNullLogger(), Describe: describeStdio})
	}()
	cancel()
	if err := <-result; err != context.Canceled {
		t.Error(err)
	}
}

// TestLargeDocumentsAreNotChecked opens a document above the limit, changes it, and replaces
// it by a small one.
func TestLargeDocumentsAreNotChecked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, Options{Describe: describeStdio})
		s.send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}`)
		s.receive()
		large, err := json.Marshal(strings.Repeat("# comment\n", maxDocument/10+1))
		if err != nil {
			t.Fatal(err)
		}
		s.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":{"uri":"file:///x/junctor.hcl","version":1,"text":%s}}}`,
			large))
		if got := s.receive(); !strings.Contains(got, "the file is larger than 1024 KiB") {
			t.Error(got)
		}
		s.send(`{"jsonrpc":"2.0","method":"textDocument/didChange","params":{"textDocument":{"uri":"file:///x/junctor.hcl","version":2},"contentChanges":[{"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":1}},"text":"x"}]}}`)
		if got := s.receive(); !strings.Contains(got, "the file is larger than 1024 KiB") {
			t.Error(got)
		}
		s.send(`{"jsonrpc":"2.0","method":"textDocument/didChange","params":{"textDocument":{"uri":"file:///x/junctor.hcl","version":3},"contentChanges":[{"text":"locals { }\n"}]}}`)
		if got := s.receive(); !strings.Contains(got, `"diagnostics":[]`) {
			t.Error(got)
		}
	})
}

// TestRequestsCanBeCancelled cancels a completion that waits for the description of a plugin.
// Later messages are answered meanwhile.
func TestRequestsCanBeCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, Options{Describe: func(ctx context.Context, _ config.Plugin) (sdk.Manifest, error) {
			<-ctx.Done()
			return sdk.Manifest{}, ctx.Err()
		}})
		s.send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}`)
		s.receive()
		s.send(`{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":{"uri":"file:///x/a.hcl","version":1,"text":"server \"a\" {\n  transport \"\" {\n}\n}\n"}}}`)
		s.send(`{"jsonrpc":"2.0","id":"slow","method":"textDocument/completion","params":{"textDocument":{"uri":"file:///x/a.hcl"},"position":{"line":1,"character":13}}}`)
		s.send(`{"jsonrpc":"2.0","id":2,"method":"nothing"}`)
		seen := map[string]bool{}
		for !seen["2"] {
			if strings.Contains(s.receive(), `"id":2`) {
				seen["2"] = true
			}
		}
		s.send(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":"slow"}}`)
		for {
			if got := s.receive(); strings.Contains(got, `"id":"slow"`) {
				if !strings.Contains(got, `"code":-32800`) {
					t.Error(got)
				}
				return
			}
		}
	})
}

// TestDirectoriesAreOneConfiguration jumps to a local of a file that is not open, and checks
// both files that are.
func TestDirectoriesAreOneConfiguration(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("locals.hcl", "locals {\n  org = \"acme\"\n}\n")
	write("main.hcl", "")
	s := open(t, Options{Describe: describeStdio, Directory: dir})
	s.send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}`)
	s.receive()
	text, err := json.Marshal("server \"a\" {\n  prefix = local.org\n" +
		"  transport \"stdio\" {\n    command = [local.missing]\n  }\n}\n")
	if err != nil {
		t.Fatal(err)
	}
	s.send(fmt.Sprintf(
		`{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":{"uri":%q,"version":1,"text":%s}}}`,
		uriOf(filepath.Join(dir, "main.hcl")), text,
	))
	if got := s.receive(); !strings.Contains(got, `there is no local \"missing\"`) || strings.Contains(got, `\"org\"`) {
		t.Error(got)
	}
	s.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":2,"method":"textDocument/definition","params":{"textDocument":{"uri":%q},"position":{"line":1,"character":19}}}`,
		uriOf(filepath.Join(dir, "main.hcl"))))
	if got := s.receive(); !strings.Contains(got,
		`locals.hcl","range":{"start":{"line":1,"character":2},"end":{"line":1,"character":5}}`) {
		t.Error(got)
	}
}
