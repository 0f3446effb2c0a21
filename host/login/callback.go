package login

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/junctor-mcp/junctor/sdk"
)

const (
	clientTimeout = 5 * time.Second // for a client to send its request
	maxRequest    = 60 << 10        // of request line and headers; net/http adds 4 KiB
	maxConns      = 128             // at the same time; more are closed at once
	maxRedirects  = 8               // accepted before a call of Wait
)

// A callback listens for the redirect at the end of a login. Other requests get 404.
type callback struct {
	term     *Terminal
	path     string
	hosts    [2]string // accepted Host headers
	server   *http.Server
	slots    chan struct{} // holds one token for each redirect in queries
	queries  chan string
	done     chan struct{} // closed when the server has ended
	once     sync.Once
	hinted   atomic.Bool // the user was told what to paste
	answered atomic.Bool // Wait returned an answer
}

// Callback starts to listen on the loopback interface.
func (t *Terminal) Callback(ctx context.Context, path string) (sdk.Callback, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	path = "/" + strings.TrimPrefix(path, "/")
	if u, err := url.Parse(path); err != nil || u.Path != path || u.Host != "" || strings.ContainsAny(path, " ?#%") ||
		len(path) > 200 {
		return nil, sdk.Errorf(sdk.Invalid, "%q cannot be the path of a callback", path)
	}
	l, err := t.ports.listen()
	if err != nil {
		return nil, err
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	c := &callback{
		term: t, path: path, hosts: [2]string{"127.0.0.1:" + port, "localhost:" + port},
		slots: make(chan struct{}, maxRedirects), queries: make(chan string, maxRedirects), done: make(chan struct{}),
	}
	c.server = &http.Server{
		Handler: c, ReadTimeout: clientTimeout, WriteTimeout: clientTimeout, MaxHeaderBytes: maxRequest,
		ErrorLog: log.New(io.Discard, "", 0),
	}
	c.server.SetKeepAlivesEnabled(false)
	go func() {
		defer close(c.done)
		_ = c.server.Serve(&boundedListener{Listener: l, slots: make(chan struct{}, maxConns)})
	}()
	return c, nil
}

// URL returns the address to redirect to. It has the loopback's IP address, since a name
// may resolve to something else.
func (c *callback) URL() string { return "http://" + c.hosts[0] + c.path }

// named reports whether a Host header names this listener. Browsers leave out port 80.
func (c *callback) named(host string) bool {
	if strings.HasSuffix(c.hosts[0], ":80") && !strings.Contains(host, ":") {
		host += ":80"
	}
	return host == c.hosts[0] || host == c.hosts[1]
}

// ServeHTTP accepts redirects. It rejects requests that other web sites cause, by their
// Sec-Fetch-Dest and Host headers.
func (c *callback) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	dest := r.Header.Get("Sec-Fetch-Dest")
	if r.Method != http.MethodGet || r.URL.Path != c.path || r.URL.IsAbs() || r.URL.RawQuery == "" ||
		!c.named(r.Host) || dest != "" && dest != "document" {
		http.NotFound(w, r)
		return
	}
	select {
	case c.slots <- struct{}{}:
	default:
		page(w, http.StatusServiceUnavailable, pageBusy)
		return
	}
	// Write the page first: the caller of Wait closes the listener.
	if state := c.term.state.Load(); state != nil && r.URL.Query().Get("state") != *state {
		page(w, http.StatusBadRequest, pageForeign)
	} else if r.URL.Query().Get("error") != "" {
		page(w, http.StatusOK, pageDeclined)
	} else {
		page(w, http.StatusOK, pageDone)
	}
	c.queries <- r.URL.RawQuery
}

// Wait returns the query of the next redirect. Without a browser the user may also paste
// it. A second call means that the caller rejected the first answer.
func (c *callback) Wait(ctx context.Context) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	if c.answered.Swap(false) {
		c.term.printf("That answer belongs to another login. Still waiting.\n")
	}
	var pasted chan pasteResult
	if c.term.pastes() {
		ctx, cancel := context.WithCancel(ctx)
		pasted = make(chan pasteResult, 1)
		var reading sync.WaitGroup
		reading.Go(func() { c.term.paste(ctx, c, pasted) })
		defer reading.Wait()
		defer cancel()
	}
	for {
		select {
		case q := <-c.queries:
			<-c.slots
			c.answered.Store(true)
			return q, nil
		case p := <-pasted:
			if p.ended && c.term.unattended() && len(c.queries) == 0 {
				return "", unattended()
			}
			if p.ended {
				pasted = nil // a redirect may still arrive
				c.term.printf("The input has ended, so nothing can be pasted. Waiting for a browser on this machine.\n")
				continue
			}
			c.answered.Store(p.err == nil)
			return p.query, p.err
		case <-c.done:
			return "", sdk.Errorf(sdk.Canceled, "the listener is closed")
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
}

// Close ends the listener and its connections.
func (c *callback) Close() error {
	c.once.Do(func() { _ = c.server.Close() })
	<-c.done
	return nil
}

// A boundedListener limits the number of connections.
type boundedListener struct {
	net.Listener
	slots chan struct{}
}

func (b *boundedListener) Accept() (net.Conn, error) {
	for {
		conn, err := b.Listener.Accept()
		if err != nil {
			return nil, err
		}
		select {
		case b.slots <- struct{}{}:
			return &countedConn{Conn: conn, release: func() { <-b.slots }}, nil
		default:
			_ = conn.Close()
		}
	}
}

type countedConn struct {
	net.Conn
	once    sync.Once
	release func()
}

func (c *countedConn) Close() error {
	defer c.once.Do(c.release)
	return c.Conn.Close()
}

// The pages contain no scripts, nothing from the request and nothing from other sites.
const (
	pageHead = `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">` +
		`<title>Junctor</title><style>body{font:1.1em/1.5 system-ui,sans-serif;max-width:34em;margin:15vh auto;padding:0 1em;` +
		`color-scheme:light dark}h1{font-size:1.4em}</style></head><body>`
	pageDone = pageHead +
		`<h1>Back to the terminal</h1><p>Junctor has received the answer and finishes the login there. ` +
		`You can close this page.</p></body></html>`
	pageForeign  = pageHead + `<h1>Another login</h1><p>This answer belongs to another login, so Junctor goes on waiting. Use the page that was opened last.</p></body></html>`
	pageDeclined = pageHead +
		`<h1>The login was not completed</h1><p>The service answered with an error, or the request was declined. ` +
		`The terminal says more. You can close this page.</p></body></html>`
	pageBusy = pageHead + `<h1>Too many answers</h1><p>See the terminal.</p></body></html>`
)

func page(w http.ResponseWriter, status int, text string) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'")
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Length", strconv.Itoa(len(text))) // so that the page is complete when it is flushed
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text))
	_ = http.NewResponseController(w).Flush()
}
