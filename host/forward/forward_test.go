package forward

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"
	"go.uber.org/goleak"

	"github.com/junctor-mcp/junctor/testdata/bubble"
	"github.com/junctor-mcp/junctor/testdata/eventually"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A text is a buffer for several goroutines.
type text struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (x *text) Write(b []byte) (int, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.b.Write(b)
}

func (x *text) String() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.b.String()
}

// waitFor waits until a text contains another.
func (x *text) waitFor(t *testing.T, want string) {
	t.Helper()
	eventually.NoError(t, func() error {
		if got := x.String(); !strings.Contains(got, want) {
			return fmt.Errorf("%q is missing in %.500q", want, got)
		}
		return nil
	})
}

// start returns a forwarder to a target and its log.
func start(t *testing.T, target string, o Options) (*Forwarder, *text) {
	t.Helper()
	said := &text{}
	o.Log, o.Version = hclog.New(&hclog.LoggerOptions{Output: said}), "1.2.3"
	if o.wait == 0 {
		o.wait = time.Millisecond
	}
	f := New([]string{target}, o)
	return f, said
}

func line(n int) []byte { return fmt.Appendf(nil, `{"seq":%d}`+"\n", n) }

// accept copies what connections send.
func accept(l net.Listener, got *text) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		go func() { _, _ = io.Copy(got, c); c.Close() }()
	}
}

// TestTargetsGetLines sends two lines to each kind of target.
func TestTargetsGetLines(t *testing.T) {
	var got text
	secure := httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		fmt.Fprint(&got,
			r.Header.Get("Content-Type")+" "+r.Header.Get("User-Agent")+" "+r.Header.Get("Authorization")+" ")
		_, _ = io.Copy(&got, r.Body)
	}))
	defer secure.Close()
	roots := Authorities(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw}))
	listen := func(config *tls.Config, network, address string) string {
		l, err := net.Listen(network, address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		if config != nil {
			l = tls.NewListener(l, config)
		}
		go accept(l, &got)
		return l.Addr().String()
	}
	packets := func(network, address string) string {
		c, err := net.ListenPacket(network, address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		go func() {
			b := make([]byte, 4096)
			for {
				n, _, err := c.ReadFrom(b)
				if err != nil {
					return
				}
				got.Write(b[:n])
			}
		}()
		return c.LocalAddr().String()
	}
	header := `<110>1 \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z \S+ junctor \d+ audit - `
	message, counted := header+`{"seq":1}`+header+`{"seq":2}`, `\d+ `+header+`{"seq":1}\d+ `+header+`{"seq":2}`
	const post = `application/x-ndjson junctor/1\.2\.3 Bearer canary `
	targets := map[string]string{
		"udp://" + packets("udp", "127.0.0.1:0"):                                                    message,
		"tcp://" + listen(nil, "tcp", "127.0.0.1:0"):                                                counted,
		"tls://" + listen(&tls.Config{Certificates: secure.TLS.Certificates}, "tcp", "127.0.0.1:0"): counted,
		secure.URL +
			"/ingest": post + `{"seq":1}\n(` + post + `)?{"seq":2}\n`, // the lines may come in two requests
		Stderr: `{"seq":1}\n{"seq":2}\n`,
	}
	if runtime.GOOS != "windows" {
		dir := t.TempDir()
		targets["unix://"+packets("unixgram", filepath.Join(dir, "log"))] = message
		targets["unix://"+listen(nil, "unix", filepath.Join(dir, "stream"))] = counted
	}
	for target, want := range targets {
		got.mu.Lock()
		got.b.Reset()
		got.mu.Unlock()
		f, said := start(t, target,
			Options{Stderr: &got, Roots: roots, Headers: map[string]string{"Authorization": "Bearer canary"}})
		f.Forward([][]byte{line(1), line(2)})
		got.waitFor(t, `"seq":2}`)
		f.Close()
		if !regexp.MustCompile("^" + want + "$").MatchString(got.String()) {
			t.Errorf("%s: %q, want %s", Name(target), got.String(), want)
		}
		if said.String() != "" {
			t.Errorf("%s: %s", Name(target), said)
		}
	}
}

// TestLinesWaitForReceiver starts a receiver after the first attempts, and one that fails for
// a while.
func TestLinesWaitForReceiver(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	f, said := start(t, "tcp://"+address, Options{wait: 20 * time.Millisecond})
	f.Forward([][]byte{line(1)})
	said.waitFor(t, "copies of the audit log are not sent")
	if l, err = net.Listen("tcp", address); err != nil {
		t.Skip(err)
	}
	defer l.Close()
	var got text
	go accept(l, &got)
	got.waitFor(t, `{"seq":1}`)
	said.waitFor(t, "are sent again")
	f.Close()

	var tries, received text
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if fmt.Fprint(&tries, "x"); len(tries.String()) < 4 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		_, _ = io.Copy(&received, r.Body)
	}))
	defer server.Close()
	f, _ = start(t, server.URL, Options{})
	f.Forward([][]byte{line(7)})
	received.waitFor(t, `{"seq":7}`)
	f.Close()
}

// TestReceiverBlocksNoCaller has a receiver that is slow, one that refuses and one that is gone.
func TestReceiverBlocksNoCaller(t *testing.T) {
	release := make(chan struct{})
	slow := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	refusing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusForbidden)
	}))
	redirecting := httptest.NewServer(http.RedirectHandler(refusing.URL, http.StatusTemporaryRedirect))
	gone := httptest.NewServer(nil)
	gone.Close()
	defer func() { close(release); slow.Close(); refusing.Close(); redirecting.Close() }()
	for target, want := range map[string]string{
		slow.URL: "its queue is full", refusing.URL: "403 Forbidden",
		redirecting.URL: "307 Temporary Redirect", gone.URL: "refused",
		"https://169.254.169.254/latest": "not an address of a receiver",
	} {
		f, said := start(t, target, Options{})
		begun := time.Now()
		for n := range 3 * queueLines {
			f.Forward([][]byte{line(n)})
		}
		if took := time.Since(begun); took > 2*time.Second {
			t.Errorf("%s: the caller waited %v", target, took)
		}
		said.waitFor(t, "rows are missing in a copy of the audit log")
		said.waitFor(t, want)
		begun = time.Now()
		f.Close()
		if took := time.Since(begun); took > 2*drainTime {
			t.Errorf("%s: the end took %v", target, took)
		}
	}
}

// TestCheckRefusesTargets has a table of texts.
func TestCheckRefusesTargets(t *testing.T) {
	for text, ok := range map[string]bool{
		"stderr": true, "unix:///dev/log": true, "udp://10.0.0.1:514": true,
		"tls://logs.example.com:6514": true, "https://siem.example.com/in?x=1": true, "http://127.0.0.1:80/": true,
		"stdout": false, "": false, "unix://dev/log": false, "udp://host": false, "tcp://host:1/path": false,
		"http://siem.example.com/": false, "https://u:p@host/": false, "ftp://host:21": false, "https:///": false,
	} {
		if err := Check(text); (err == nil) != ok {
			t.Errorf("%q: %v", text, err)
		}
	}
	if got := Name("https://siem.example.com/secret?key=1"); got != "https://siem.example.com" {
		t.Error(got)
	}
}

// A flaky sender has errors for some attempts.
type flaky struct {
	errs []error // of the next attempts
	sent int
}

func (f *flaky) send(_ context.Context, lines [][]byte) (int, error) {
	if len(f.errs) > 0 {
		err := f.errs[0]
		if f.errs = f.errs[1:]; err != nil {
			return 0, err
		}
	}
	f.sent += len(lines)
	return len(lines), nil
}

func (*flaky) close() {}

// TestSilentTargetsAreReportedOnce: a datagram to a receiver that is gone is sent without an
// error, and the next one fails for it. The log has one line until a minute has passed without a failure.
func TestSilentTargetsAreReportedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		said, counts, refused := &text{}, &Counts{}, errors.New("connection refused")
		to := &flaky{errs: []error{nil, refused, nil, refused, nil, refused, nil}}
		log := hclog.New(&hclog.LoggerOptions{Output: said})
		one := &target{name: "udp://a", to: to, silent: true,
			opts: Options{Log: log, Counts: counts, wait: time.Second}}
		for n := range 6 {
			one.deliver(t.Context(), [][]byte{line(n)}, nil)
			bubble.Sleep(time.Second)
		}
		if got := said.String(); strings.Count(got, "not sent") != 1 || strings.Contains(got, "sent again") ||
			counts.Failing.Load() != 1 {
			t.Errorf("%d targets fail, the log says %s", counts.Failing.Load(), got)
		}
		bubble.Sleep(calm)
		one.deliver(t.Context(), [][]byte{line(7)}, nil)
		if got := said.String(); strings.Count(got, "sent again") != 1 || counts.Failing.Load() != 0 || to.sent != 7 {
			t.Errorf("%d lines, %d targets fail, the log says %s", to.sent, counts.Failing.Load(), got)
		}
	})
}

// TestLostLinesAreCounted: the counts have lines that a dead receiver does not get.
func TestLostLinesAreCounted(t *testing.T) {
	var counts Counts
	f, said := start(t, "http://127.0.0.1:1/", Options{Counts: &counts})
	f.Forward([][]byte{line(1), line(2)})
	said.waitFor(t, "rows are missing")
	if n := counts.Dropped.Load(); n < 1 || counts.Failing.Load() != 1 {
		t.Errorf("%d lines dropped, %d targets fail", n, counts.Failing.Load())
	}
	f.Close()
	if n := counts.Dropped.Load(); n != 2 || counts.Failing.Load() != 0 {
		t.Errorf("after the end %d lines dropped, %d targets fail", n, counts.Failing.Load())
	}
}
