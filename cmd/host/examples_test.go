package main

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// An example is run in a directory with the files and programs that it needs.
type example struct {
	run    []string // the arguments; the output must contain the last one
	needs  string   // a program in PATH; without it the file is only validated, and fails in CI
	lacks  []string // features that validate must report as unsupported
	guest  bool     // the program is rare: without it the file is only validated, also in CI
	addr   bool     // needs an MCP server on a TCP address
	http   bool     // needs MCP servers over HTTP
	plugin bool     // needs the third-party transport

	also    []also     // further commands
	prepare [][]string // command lines in the directory of the file, before these
	refuses [][]string // commands that must fail; the output must contain the last argument
}

// also is a command that needs a program in PATH. Without it, it is left out.
type also struct {
	needs string
	run   []string // as in example
}

var examples = map[string]example{
	"demo.hcl":        {run: []string{"call", "demo__add", "a=2", "b=40", `"sum":42`}},
	"gateway.hcl":     {run: []string{"call", "demo__add", "a=2", "b=40", `"sum":42`}},
	"identity.hcl":    {run: []string{"call", "demo__add", "a=2", "b=40", `"sum":42`}},
	"small-team.hcl":  {run: []string{"test", `"passed": true`}},
	"team.hcl":        {run: []string{"call", "demo__add", "a=2", "b=40", `"sum":42`}},
	"audit.hcl":       {run: []string{"call", "demo__add", "a=2", "b=40", `"sum":42`}},
	"policy.hcl":      {run: []string{"test", `"passed": true`}},
	"company.hcl":     {run: []string{"test", `"passed": true`}},
	"views.hcl":       {run: []string{"call", "office__welcome", "name=Ada", "Guten Tag, Ada!"}},
	"files.hcl":       {}, // host/interoptest runs it with servers from npm
	"several.hcl":     {}, // likewise
	"third-party.hcl": {run: []string{"call", "remote__greet", "Hello from afar"}, addr: true, plugin: true},
	"wrap.hcl": {run: []string{"call", "disk__usage", "path=.", `\t.`}, needs: "du", refuses: [][]string{
		{"call", "disk__usage", "path=..", "leads out of the directory"},
	}},
	"remote.hcl": {run: []string{"call", "remote__greet", "Hello from afar"}, http: true},
	"sse.hcl":    {run: []string{"call", "old__greet", "Hello from afar"}, http: true},
	"auto.hcl":   {run: []string{"call", "auto__greet", "Hello from afar"}, http: true},
	"git.hcl": {run: []string{"tools", "git", `"name": "git__log"`}, needs: "git", refuses: [][]string{
		{"call", "git__diff", `path:=["/dev/null","/etc/hostname"]`, "leads out of the directory"},
		{"call", "git__diff", `commit:=["/dev/null","/etc/hostname"]`, "leads out of the directory"},
		{"call", "git__diff", "no-index=true", "no-index"},
		{"call", "git__log", "output=x", "output"},
		{"call", "git__show", "ext-diff=true", "ext-diff"},
	}},
	"kubectl.hcl": {run: []string{"call", "k8s__version", "client=true", "Client Version"},
		needs: "kubectl", guest: true},
	"cage.hcl":     {run: []string{"call", "files__search", "text=fixed but", "most=1", "cage.hcl:1:"}, needs: "grep"},
	"language.hcl": {plugin: true},
	"tools.hcl": {
		run: []string{"call", "texts__compare", "old=a b", "new=a c", "words=true", "a [-b-]{+c+}"}, needs: "git",
		prepare: [][]string{{"mkdir", "data"}, {"ffmpeg",
			"-loglevel", "error", "-f", "lavfi", "-i", "testsrc=duration=2:size=640x480:rate=5", "v.mp4"}},
		also: []also{
			{"ffmpeg", []string{"call", "media__picture", "video=v.mp4", "at=00:01", `"mimeType":"image/png"`}},
			{"ffprobe", []string{"call", "media__codecs", "file=v.mp4", `"json":["`}},
			{"sqlite3", []string{"call", "database__query", "database=x.db",
				"stdin=create table t(a); insert into t values (1); select a from t;", `"json":[{"a":1}]`}},
		},
		refuses: [][]string{
			{"call", "media__picture", "video=v.mp4", "at=-i", "at"},
			{"call", "media__picture", "video=../../x", "leads out of the directory"},
			{"call", "media__picture", "video=v.mp4", "size=-vf", "size"},
			{"call", "database__query", "database=x.db", "stdin is required"},
			{"call", "database__query", "database=x.db", "stdin=.shell id", "is rejected"},
		},
	},
	"bearer.hcl":  {run: []string{"call", "remote__greet", "Hello from afar"}, http: true},
	"command.hcl": {}, // gcloud is rarely installed
	"oauth.hcl":   {}, // logins are tested with a test authorization server
}

// TestExamples: every file in examples/ is in the table and works.
func TestExamples(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs")
	}
	files, err := filepath.Glob(filepath.Join("..", "..", "examples", "*.hcl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	bin := t.TempDir()
	build(t, filepath.Join(bin, "junctor"), "./cmd/host")
	buildPlugins(t, bin)
	build(t, filepath.Join(bin, "junctor-demo"), "./testdata/demo")
	acme := filepath.Join(bin, "junctor-plugin-acme-transport")
	cmd := exec.Command("go", "build", "-o", acme, "./acme-transport")
	cmd.Dir = filepath.Join("..", "..", "testdata", "thirdparty")
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("building the third party's transport: %v\n%s", err, text)
	}
	if text, err := exec.Command(filepath.Join(bin, "junctor"), "fmt", "--check",
		filepath.Dir(files[0])).CombinedOutput(); err != nil {
		t.Errorf("not formatted: %s", text)
	}
	for _, file := range files {
		name := filepath.Base(file)
		t.Run(name, func(t *testing.T) {
			ex, ok := examples[name]
			if !ok {
				t.Fatal("nothing says what this example is good for")
			}
			at := place(t, file, bin, acme, ex)
			ex.validate(t, at)
			if ex.run != nil {
				ex.try(t, at)
			}
		})
	}
}

// A site is the directory of an example.
type site struct{ dir, junctor, config string }

// writeSigningKey writes a key that signs the heads of an audit log.
func writeSigningKey(path string) error {
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		return err
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	return os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), 0o600)
}

// place creates a directory with everything that an example refers to.
func place(t *testing.T, file, bin, acme string, ex example) site {
	t.Helper()
	root := t.TempDir()
	at := site{dir: root, junctor: filepath.Join(bin, "junctor"),
		config: filepath.Join(root, "examples", filepath.Base(file))}
	text, err := os.ReadFile(file)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(at.config), 0o755)
	}
	if err == nil {
		err = os.WriteFile(at.config, text, 0o644)
	}
	if err == nil {
		err = os.CopyFS(filepath.Join(root, "examples", "modules"),
			os.DirFS(filepath.Join(filepath.Dir(file), "modules")))
	}
	if err == nil {
		err = os.Symlink(bin, filepath.Join(root, "bin"))
	}
	if err == nil {
		err = writeSigningKey(filepath.Join(root, "examples", "audit.key"))
	}
	if err == nil {
		certificate(t, filepath.Join(root, "examples", "authorities.pem"), filepath.Join(t.TempDir(), "key.pem"))
	}
	if err == nil && ex.plugin {
		if err = os.MkdirAll(filepath.Join(root, "examples", "plugins"), 0o755); err == nil {
			err = os.Link(acme, filepath.Join(root, "examples", "plugins", "junctor-plugin-acme-transport"))
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("JUNCTOR_HOME", filepath.Join(root, "home"))
	t.Setenv("JUNCTOR_TOKEN", "a-token-of-an-example")
	t.Setenv("ALICE_TOKEN", "the-token-of-alice")
	t.Setenv("LOG_RECEIVER", "https://logs.example.com/ingest")
	t.Setenv("LOG_TOKEN", "a-token-of-an-example")
	t.Setenv("BOB_TOKEN", "the-token-of-bob")
	if ex.addr {
		t.Setenv("ACME_ADDRESS", listenMCP(t))
	}
	if ex.http {
		streamable, old := serveMCP(t)
		t.Setenv("REMOTE_URL", streamable)
		t.Setenv("SSE_URL", old)
		t.Setenv("AUTO_URL", old)
		t.Setenv("TOKEN", "a-token-of-an-example")
	}
	return at
}

func (at site) exec(args ...string) (stdout, stderr string, err error) {
	cmd := exec.Command(at.junctor, append([]string{"-c", at.config}, args...)...)
	cmd.Dir = at.dir
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	err = cmd.Run()
	return out.String(), errOut.String(), err
}

func (ex example) validate(t *testing.T, at site) {
	t.Helper()
	stdout, stderr, _ := at.exec("validate")
	var v struct {
		Valid       bool
		Diagnostics []struct{ Summary string }
	}
	if err := json.Unmarshal([]byte(stdout), &v); err != nil {
		t.Fatalf("%v\n%s%s", err, stdout, stderr)
	}
	if v.Valid != (ex.lacks == nil) {
		t.Errorf("valid is %v: %s", v.Valid, stdout)
	}
	var lacks []string
	for _, d := range v.Diagnostics {
		word, found := strings.CutPrefix(d.Summary, "this version does not have ")
		if !found {
			t.Errorf("unexpected: %s", d.Summary)
			continue
		}
		word, _, _ = strings.Cut(strings.Trim(word, `"`), `"`)
		lacks = append(lacks, word)
	}
	slices.Sort(lacks)
	if !slices.Equal(lacks, ex.lacks) {
		t.Errorf("lacks %q, want %q", lacks, ex.lacks)
	}
}

func (ex example) try(t *testing.T, at site) {
	t.Helper()
	if ex.needs != "" {
		if _, err := exec.LookPath(ex.needs); err != nil {
			if os.Getenv("JUNCTOR_REQUIRE_INTEROP") != "" && !ex.guest {
				t.Fatalf("%s is required and not installed", ex.needs)
			}
			t.Skipf("%s is not installed; the file was validated", ex.needs)
		}
	}
	for _, line := range ex.prepare {
		cmd := exec.Command(line[0], line[1:]...)
		cmd.Dir = filepath.Dir(at.config)
		if text, err := cmd.CombinedOutput(); err != nil {
			t.Logf("%v: %v\n%s", line, err, text) // what needs it is left out
		}
	}
	for _, more := range ex.also {
		last := len(more.run) - 1
		if _, err := exec.LookPath(more.needs); err != nil {
			t.Logf("%s is not installed", more.needs)
			continue
		}
		if stdout, stderr, err := at.exec(more.run[:last]...); err != nil || !strings.Contains(stdout, more.run[last]) {
			t.Errorf("%v: %v\n%s%s", more.run, err, stdout, stderr)
		}
	}
	want := ex.run[len(ex.run)-1]
	stdout, stderr, err := at.exec(ex.run[:len(ex.run)-1]...)
	if err != nil || !strings.Contains(stdout, want) {
		t.Errorf("%v: %v\n%s%s", ex.run, err, stdout, stderr)
	}
	for _, words := range ex.refuses {
		last := len(words) - 1
		stdout, stderr, err := at.exec(words[:last]...)
		switch {
		case strings.Contains(stderr, "upstream.command_not_found"):
			t.Logf("%v: the program is not installed", words)
		case err == nil || !strings.Contains(stdout+stderr, words[last]):
			t.Errorf("%v: %v\n%s%s", words, err, stdout, stderr)
		}
	}
}

// listenMCP starts an MCP server on a TCP address, with one message per line.
func listenMCP(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	s := mcp.NewServer(&mcp.Implementation{Name: "afar", Version: "1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "greet"}, greetFromAfar)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() { _ = s.Run(t.Context(), &mcp.IOTransport{Reader: conn, Writer: conn}) }()
		}
	}()
	return l.Addr().String()
}

// serveMCP starts MCP servers for both HTTP transports.
func serveMCP(t *testing.T) (streamable, old string) {
	t.Helper()
	s := mcp.NewServer(&mcp.Implementation{Name: "afar", Version: "1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "greet"}, greetFromAfar)
	get := func(*http.Request) *mcp.Server { return s }
	mux := http.NewServeMux()
	mux.Handle("/mcp", mcp.NewStreamableHTTPHandler(get, nil))
	mux.Handle("/sse", mcp.NewSSEHandler(get, nil))
	server := httptest.NewServer(mux)
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return server.URL + "/mcp", server.URL + "/sse"
}

func greetFromAfar(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "Hello from afar"}}}, nil, nil
}
