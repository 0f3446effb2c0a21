package httpclient

import (
	"context"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/plugins/internal/httpclienttest"
	"github.com/junctor-mcp/junctor/sdk"
)

// fetch sends one request with a new DiscoveryClient.
func fetch(t *testing.T, home, address string, o DiscoveryOptions) (*Answer, error) {
	t.Helper()
	if home != "" {
		o.Home, _ = url.Parse(home)
	}
	if o.Timeout == 0 {
		o.Timeout = 2 * time.Second
	}
	v, err := NewDiscoveryClient(o)
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	u, err := v.URL("the page", address)
	if err != nil {
		return nil, err
	}
	return v.Ask(t.Context(), http.MethodGet, u, nil, "")
}

func reasonOf(err error) string {
	if e, ok := errors.AsType[*sdk.Error](err); ok {
		return e.Reason
	}
	return ""
}

// TestDiscoveryAddresses checks that supplied names may lead to public
// addresses only, and that the checked address is the one dialled. U2, U3
func TestDiscoveryAddresses(t *testing.T) {
	var hits atomic.Int32
	base, _ := httpclienttest.Serve(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { hits.Add(1) }))
	port := base[strings.LastIndexByte(base, ':'):]
	const public = "https://mcp.example/"

	for _, a := range []string{"127.0.0.1", "10.1.2.3", "169.254.169.254", "0.0.0.0", "192.168.0.1"} {
		names(t, a)
		if _, err := fetch(t, public, "https://as.example"+port,
			DiscoveryOptions{}); reasonOf(err) != "address_refused" ||
			!strings.Contains(err.(*sdk.Error).Hint, "auth block") {
			t.Errorf("a name that leads to %s: %v", a, err)
		}
	}
	asked := names(t, "127.0.0.1", "93.184.216.34")
	if _, err := fetch(t, public, "https://as.example"+port, DiscoveryOptions{}); reasonOf(err) != "address_refused" ||
		asked.Load() != 1 {
		t.Errorf("looked up %d times: %v", asked.Load(), err)
	}
	names(t, "10.0.0.1")
	if _, err := fetch(t, "http://localhost/", "http://sub.localhost"+port,
		DiscoveryOptions{}); reasonOf(err) != "address_refused" {
		t.Errorf("localhost led elsewhere: %v", err)
	}
	for home, address := range map[string]string{
		public:              "https://127.0.0.1" + port,
		"https://10.0.0.1/": "https://10.0.0.2" + port,
		"":                  "https://127.0.0.1" + port,
	} {
		if _, err := fetch(t, home, address, DiscoveryOptions{}); reasonOf(err) != "address_refused" {
			t.Errorf("from %q to %s: %v", home, address, err)
		}
	}
	if n := hits.Load(); n > 0 {
		t.Fatalf("%d connections were made", n)
	}

	names(t, "127.0.0.1")
	for _, one := range [][2]string{{"http://127.0.0.1:1/mcp", base}, {"http://localhost/",
		"http://sub.localhost" + port}} {
		if _, err := fetch(t, one[0], one[1], DiscoveryOptions{}); err != nil {
			t.Errorf("from %s to %s: %v", one[0], one[1], err)
		}
	}
	// Addresses in the configuration are allowed, and with AllowPrivate all
	// others.
	for _, one := range []struct {
		home, address string
		allow         bool
	}{{"https://10.0.0.1/mcp", "https://10.0.0.1:1/", false}, {"https://[fd00::1]/mcp", "https://[fd00::1]:1/", false},
		{public, "https://10.0.0.2:1/", true}} {
		u, _ := url.Parse(one.home)
		v, err := NewDiscoveryClient(DiscoveryOptions{Home: u, AllowPrivate: one.allow})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := v.URL("the page", one.address); err != nil {
			t.Errorf("from %s to %s: %v", one.home, one.address, err)
		}
	}
}

// TestDiscoveryReads checks the limits of responses, timeouts and redirects.
func TestDiscoveryReads(t *testing.T) {
	end := make(chan struct{})
	mux := http.NewServeMux()
	mux.HandleFunc("/large", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, fetchMost)) })
	mux.HandleFunc("/larger",
		func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, fetchMost+1)) })
	mux.HandleFunc("/slow", func(http.ResponseWriter, *http.Request) { <-end })
	mux.HandleFunc("/drip", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("{"))
		_ = http.NewResponseController(w).Flush()
		<-end
	})
	mux.HandleFunc("/stream", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_ = http.NewResponseController(w).Flush()
		<-end
	})
	mux.Handle("/away", http.RedirectHandler("https://evil.example/secret", http.StatusTemporaryRedirect))
	mux.HandleFunc("/cookie", func(w http.ResponseWriter, r *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "a", Value: "b"})
		if len(r.Cookies()) > 0 || r.Header.Get("Accept-Encoding") != "" {
			t.Errorf("sent %v", r.Header)
		}
	})
	base, _ := httpclienttest.Serve(t, mux)
	defer close(end)
	for path, want := range map[string]string{
		"/large": "", "/larger": "answer_too_large", "/slow": "unreachable", "/drip": "unreachable",
		"/stream": "", "/away": "redirect_refused", "/cookie": "",
	} {
		whole := 20 * time.Second
		if want == "unreachable" {
			whole = 200 * time.Millisecond
		}
		_, err := fetch(t, base, base+path, DiscoveryOptions{Timeout: whole})
		if reasonOf(err) != want || want == "" && err != nil || err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", path, err)
		}
	}
	v, err := NewDiscoveryClient(DiscoveryOptions{Home: &url.URL{Scheme: "http", Host: "127.0.0.1"},
		Timeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	u, _ := v.URL("the page", base+"/slow")
	if _, err := v.Ask(ctx, http.MethodGet, u, nil, ""); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("after the deadline: %v", err)
	}
}

// TestDiscoveryTrust checks that certificates are verified with the configured
// authorities.
func TestDiscoveryTrust(t *testing.T) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	defer s.Close()
	if _, err := fetch(t, s.URL, s.URL, DiscoveryOptions{}); reasonOf(err) != "unreachable" {
		t.Errorf("an unknown authority: %v", err)
	}
	dir := t.TempDir()
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	if err := os.WriteFile(filepath.Join(dir, "ca.pem"), ca, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := fetch(t, s.URL, s.URL, DiscoveryOptions{TLS: &TLS{CA: "ca.pem"}, Dir: dir}); err != nil {
		t.Errorf("a configured authority: %v", err)
	}
}
