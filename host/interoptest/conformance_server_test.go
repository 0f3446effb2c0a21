package interoptest

import (
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/testdata/eventually"
)

// TestConformanceServer runs the conformance suite against Junctor as a server
// of both eras at one URL. Behind it is the test server of the Go SDK, of both
// eras or one, whose names must not be changed.
func TestConformanceServer(t *testing.T) {
	pinned := func(of func(*testing.T) server, revision string) func(*testing.T) server {
		return func(t *testing.T) server { return of(t).pinned(revision) }
	}
	for name, behind := range map[string]func(*testing.T) server{
		"stdio": everythingServer, "stdio legacy": pinned(everythingServer, latestLegacy),
		"stdio modern": pinned(everythingServer, modern),
		"http":         everythingServerBoth,
		"http legacy":  everythingServerAt("-stateless=false"),
		"http modern":  pinned(everythingServerAt("-stateless=true"), modern),
	} {
		t.Run(name, func(t *testing.T) {
			if testing.Short() {
				t.Skip("it starts many programs")
			}
			t.Parallel()
			suite.require(t)
			expected := expectedOf(t, append(strings.Fields(name), "any"))
			e := newWorkspace(t, behind(t).with("  prefix = \"\"\n  share = \"session\"\n")).serveHTTP()
			for revision, atLeast := range map[string]int{latestLegacy: 29, modern: 36} {
				t.Run(revision, func(t *testing.T) {
					if os.Getenv("JUNCTOR_CONFORMANCE") == "latest" && strings.HasSuffix(name, eraOf(revision)) {
						t.Skip("covered by the server of both eras; see JUNCTOR_CONFORMANCE")
					}
					t.Parallel()
					passed := conform(t, expected, "server", "--url", e.url, "--requirements", revision)
					if passed < atLeast {
						t.Errorf("%d scenarios passed, want at least %d", passed, atLeast)
					}
					t.Logf("%d scenarios passed", passed)
				})
			}
		})
	}
}

// eraOf returns the era of a revision, as in the names of the servers.
func eraOf(revision string) string {
	if revision == modern {
		return "modern"
	}
	return "legacy"
}

// expectedOf writes some parts of our list of expected failures to a file for
// the suite.
func expectedOf(t *testing.T, parts []string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(repository, "testdata", "conformance", "server.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	list, part := "server:\n", ""
	for line := range strings.Lines(string(b)) {
		if name, head := strings.CutSuffix(strings.TrimSpace(line), ":"); head {
			part = name
		} else if slices.Contains(parts, part) {
			list += line
		}
	}
	file := filepath.Join(t.TempDir(), "expected.yaml")
	if err := os.WriteFile(file, []byte(list), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// everythingServer returns the test server of the Go SDK.
func everythingServer(*testing.T) server {
	return server{name: "everything", command: []string{program("everything-server")}}
}

// everythingServerAt returns the test server over HTTP, of one era.
func everythingServerAt(era string) func(*testing.T) server {
	return func(t *testing.T) server {
		t.Helper()
		return server{name: "everything", web: &webServer{plugin: "http", url: everythingURL(t, era)}}
	}
}

// everythingURL starts the server and returns its URL. The server cannot choose
// a port itself, so it gets a port that was free a moment ago.
func everythingURL(t *testing.T, era string) string {
	t.Helper()
	for range 5 {
		address := fmt.Sprintf("127.0.0.1:%d", freePort(t))
		p := launch(t, exec.Command(program("everything-server"), "-http", address, era))
		if p.waitListening(address) {
			return "http://" + address + "/"
		}
	}
	t.Fatal("the server does not listen")
	return ""
}

// waitListening waits until a process accepts connections, or has ended.
func (p *process) waitListening(address string) bool {
	listens := false
	eventually.True(p.t, "the server listens or has ended", func() bool {
		select {
		case <-p.exited: // another process has the port
			return true
		default:
		}
		c, err := net.Dial("tcp", address)
		if err == nil {
			c.Close()
			listens = true
		}
		return listens
	})
	return listens
}

// everythingServerBoth returns one address with a server of each era behind it.
// A server of the Go SDK over HTTP either has sessions or speaks 2026-07-28.
func everythingServerBoth(t *testing.T) server {
	t.Helper()
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	handler := func(era string) http.Handler {
		to, err := url.Parse(everythingURL(t, era))
		if err != nil {
			t.Fatal(err)
		}
		return &httputil.ReverseProxy{
			// Streams that clients closed are logged.
			Transport: transport, FlushInterval: -1, ErrorLog: log.New(io.Discard, "", 0),
			Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) },
		}
	}
	sessions, stateless := handler("-stateless=false"), handler("-stateless=true")
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// Otherwise the first byte of an answer closes the body of the request, and the proxy's
		// connection to the server with it, if the proxy has not seen the end of the body yet.
		if err := http.NewResponseController(w).EnableFullDuplex(); err != nil {
			t.Error(err)
		}
		if r.Header.Get("Mcp-Protocol-Version") >= modern {
			stateless.ServeHTTP(w, r)
			return
		}
		sessions.ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	return server{name: "everything", web: &webServer{plugin: "http", url: front.URL + "/"}}
}
