package interoptest

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/testdata/eventually"
)

// A webServer is a server that listens on a port.
type webServer struct {
	plugin string // http or sse
	mode   string // mode of http; empty: the default
	url    string

	process *process
	start   func(port string) *process
}

// hcl returns the transport block.
func (w *webServer) hcl() string {
	mode := ""
	if w.mode != "" {
		mode = fmt.Sprintf("    mode = %q\n", w.mode)
	}
	return fmt.Sprintf("  transport %q {\n    url = %q\n%s  }\n", w.plugin, w.url, mode)
}

// listening matches the lines in which programs report their port.
var listening = regexp.MustCompile(`(?:listening on |Uvicorn running on http://)127\.0\.0\.1:(\d+)`)

// listen starts a server on a free port and waits until it listens. Programs
// get the port as PORT in their environment and for $PORT in their arguments.
func (s server) listen(t *testing.T, plugin, path string) server {
	t.Helper()
	if testing.Short() {
		t.Skip("it starts a server")
	}
	w := &webServer{plugin: plugin}
	w.start = func(port string) *process {
		var args []string
		for _, a := range s.command[1:] {
			args = append(args, strings.ReplaceAll(a, "$PORT", port))
		}
		cmd := exec.Command(s.command[0], args...)
		// In its own process group, because some run a shell that runs the
		// rest.
		inOwnGroup(cmd)
		cmd.Env = append(os.Environ(), "PORT="+port)
		for name, value := range s.env {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
		p := launch(t, cmd)
		p.work.Go(func() { _, _ = io.Copy(io.Discard, p.stdout) })
		t.Cleanup(func() { w.kill(p) })
		return p
	}
	w.begin(t, "0", path)
	s.web = w
	return s
}

// begin starts the program and waits until it reports its port.
func (w *webServer) begin(t *testing.T, port, path string) {
	t.Helper()
	w.process = w.start(port)
	eventually.NoError(t, func() error {
		if found := listening.FindStringSubmatch(w.process.stderr.String()); found != nil {
			w.url = "http://127.0.0.1:" + found[1] + path
			return nil
		}
		select {
		case <-w.process.exited:
			t.Fatalf("the server exited: %s", w.process.stderr)
		default:
		}
		return fmt.Errorf("the server does not listen: %s", w.process.stderr)
	})
}

// stop ends the server.
func (w *webServer) stop() { w.kill(w.process) }

// restart starts the server again at the same address.
func (w *webServer) restart(t *testing.T) {
	t.Helper()
	u, err := url.Parse(w.url)
	if err != nil {
		t.Fatal(err)
	}
	w.begin(t, u.Port(), u.Path)
}

// kill ends all processes of a program.
func (w *webServer) kill(p *process) {
	killGroup(p.cmd)
	<-p.exited
}

// direct returns the client's end of a conversation with a modern server,
// without Junctor. Each line is a request.
func (w *webServer) direct(t *testing.T, d dialect) *peer {
	t.Helper()
	if !d.modern() {
		t.Fatal("only modern servers work without sessions")
	}
	out, in := io.Pipe()
	p := &process{t: t, stdin: &poster{t: t, url: w.url, revision: d.revision, PipeWriter: in}, stdout: out}
	t.Cleanup(func() { out.Close(); p.work.Wait() })
	return newPeer(t, p, d)
}

// A poster sends each line that is written to it as a request, and writes the
// answers to a pipe.
type poster struct {
	t             *testing.T
	url, revision string
	*io.PipeWriter
}

func (p *poster) Write(line []byte) (int, error) {
	var m struct {
		Method string
		Params struct{ Name, URI string }
	}
	decode(p.t, line, &m)
	req, err := http.NewRequestWithContext(p.t.Context(), "POST", p.url, bytes.NewReader(line))
	if err != nil {
		return 0, err
	}
	for name, value := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"MCP-Protocol-Version": p.revision,
		"Mcp-Method":           m.Method, "Mcp-Name": m.Params.Name + m.Params.URI,
	} {
		if value != "" {
			req.Header.Set(name, value)
		}
	}
	res, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return 0, err
	}
	if strings.HasPrefix(res.Header.Get("Content-Type"), "application/json") {
		body = append([]byte("data: "), body...)
	}
	for event := range strings.Lines(string(body)) {
		if data, ok := strings.CutPrefix(event, "data: "); ok {
			fmt.Fprintln(p.PipeWriter, strings.TrimRight(data, "\r\n"))
		}
	}
	return len(line), nil
}

// preloaded returns the environment of an npm program with preloaded scripts.
// Without them some programs listen on all addresses.
func preloaded(scripts ...string) map[string]string {
	options := ""
	for _, script := range scripts {
		options += " --require " + source(script)
	}
	return map[string]string{"NODE_OPTIONS": options}
}

// everythingOver returns *everything* over streamableHttp or sse, as it names
// them.
func everythingOver(transport string) func(*testing.T) server {
	plugin, path := "http", "/mcp"
	if transport == "sse" {
		plugin, path = "sse", "/sse"
	}
	return func(t *testing.T) server {
		t.Helper()
		s := everything(t)
		s.command, s.env = append(slices.Clone(s.command), transport), preloaded("servers/hurry.cjs",
			"web/loopback.cjs")
		return s.listen(t, plugin, path)
	}
}

// everythings are all transports of *everything*.
var everythings = map[string]func(*testing.T) server{
	"stdio": everything, "http": everythingOver("streamableHttp"), "sse": everythingOver("sse"),
}

// eachEverything runs a test with each of them and clients of both eras.
func eachEverything(t *testing.T, test func(t *testing.T, s server, d dialect)) {
	for way, of := range everythings {
		for era, d := range eras {
			t.Run(way+"/"+era, func(t *testing.T) {
				if way == "http" && !d.modern() || way == "sse" && d.modern() {
					rarely(t)
				}
				t.Parallel()
				test(t, of(t), d)
			})
		}
	}
}

// pythonOver returns one of the Python servers over streamable-http or sse.
func pythonOver(of func(*testing.T) server, transport string, more ...string) func(*testing.T) server {
	plugin, path := "http", "/mcp"
	if transport == "sse" {
		plugin, path = "sse", "/sse"
	}
	return func(t *testing.T) server {
		t.Helper()
		s := of(t)
		s.command = append(append(slices.Clone(s.command), transport, "$PORT"), more...)
		return s.listen(t, plugin, path)
	}
}

// gosdkOver returns gosdk at one of its paths.
func gosdkOver(plugin, path string) func(*testing.T) server {
	return func(t *testing.T) server {
		t.Helper()
		return server{name: "go", command: []string{program("gosdk"), "-http", "127.0.0.1:$PORT"}}.listen(t,
			plugin, path)
	}
}

// typescript returns testdata/interop/web/server.mjs.
func typescript(t *testing.T) server {
	t.Helper()
	npmWeb.require(t)
	return server{name: "ts", command: []string{"node", npmWeb.path("server.mjs")}}.listen(t, "http", "/mcp")
}

// merged merges two maps.
func merged[V any](one, other map[string]V) map[string]V {
	all := maps.Clone(one)
	maps.Copy(all, other)
	return all
}
