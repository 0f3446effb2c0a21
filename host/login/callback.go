package login

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/junctor-mcp/junctor/sdk"
)

const (
	clientTime   = 5 * time.Second // for a client to send its request
	maxRequest   = 60 << 10        // of request line and headers; net/http adds 4 KiB
	maxConns     = 128             // at the same time; more are closed at once
	maxRedirects = 8               // that nobody has waited for yet
)

// A callback listens for the redirect at the end of a login. What is not that
// gets a 404, and waiting goes on.
type callback struct {
	term    *Terminal
	path    string
	hosts   [2]string // what the redirect may have in its Host header
	server  *http.Server
	room    chan struct{} // holds one for each redirect that nobody has waited for yet
	queries chan string
	done    chan struct{} // closed when the server has ended
	once    sync.Once
	asked   atomic.Bool // the person was told what to paste
	given   atomic.Bool // somebody got an answer
}

// Callback listens on the loopback, from now on.
func (t *Terminal) Callback(ctx context.Context, path string) (sdk.Callback, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	path = "/" + strings.TrimPrefix(path, "/")
	if u, err := url.Parse(path); err != nil || u.Path != path || u.Host != "" || strings.ContainsAny(path, " ?#%") || len(path) > 200 {
		return nil, sdk.Errorf(sdk.Invalid, "%q cannot be the path of a callback", path)
	}
	l, err := t.ports.listen()
	if err != nil {
		return nil, err
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	c := &callback{
		term: t, path: path, hosts: [2]string{"127.0.0.1:" + port, "localhost:" + port},
		room: make(chan struct{}, maxRedirects), queries: make(chan string, maxRedirects), done: make(chan struct{}),
	}
	c.server = &http.Server{
		Handler: c, ReadTimeout: clientTime, WriteTimeout: clientTime, MaxHeaderBytes: maxRequest,
		ErrorLog: log.New(io.Discard, "", 0),
	}
	c.server.SetKeepAlivesEnabled(false)
	go func() {
		defer close(c.done)
		_ = c.server.Serve(&bounded{Listener: l, room: make(chan struct{}, maxConns)})
	}()
	return c, nil
}

// URL is the address to redirect to. It holds the number of the loopback
// because a name may lead elsewhere.
func (c *callback) URL() string { return "http://" + c.hosts[0] + c.path }

// named reports whether a host is this listener's. Browsers leave out port 80.
func (c *callback) named(host string) bool {
	if strings.HasSuffix(c.hosts[0], ":80") && !strings.Contains(host, ":") {
		host += ":80"
	}
	return host == c.hosts[0] || host == c.hosts[1]
}

// ServeHTTP takes redirects. A page of somebody else that makes a browser come
// here shows itself by what the browser says of it, or by the name it used.
func (c *callback) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	dest := r.Header.Get("Sec-Fetch-Dest")
	if r.Method != http.MethodGet || r.URL.Path != c.path || r.URL.IsAbs() || r.URL.RawQuery == "" ||
		!c.named(r.Host) || dest != "" && dest != "document" {
		http.NotFound(w, r)
		return
	}
	select {
	case c.room <- struct{}{}:
	default:
		page(w, http.StatusServiceUnavailable, pageBusy)
		return
	}
	// The page goes out first: whoever waits closes the listener.
	if r.URL.Query().Get("error") != "" {
		page(w, http.StatusOK, pageDeclined)
	} else {
		page(w, http.StatusOK, pageDone)
	}
	c.queries <- r.URL.RawQuery
}

// Wait returns the query of the next redirect. Without a browser it may also
// be pasted. Who waits again did not take the one before.
func (c *callback) Wait(ctx context.Context) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	if c.given.Swap(false) {
		c.term.printf("That was an answer to another login than this one. Still waiting.\n")
	}
	var pasted chan pasting
	if c.term.pastes() {
		ctx, cancel := context.WithCancel(ctx)
		pasted = make(chan pasting, 1)
		var reading sync.WaitGroup
		reading.Go(func() { c.term.paste(ctx, c, pasted) })
		defer reading.Wait()
		defer cancel()
	}
	for {
		select {
		case q := <-c.queries:
			<-c.room
			c.given.Store(true)
			return q, nil
		case p := <-pasted:
			if p.ended && c.term.deserted() && len(c.queries) == 0 {
				return "", deserted()
			}
			if p.ended {
				pasted = nil // the listener may still hear something
				c.term.printf("Nothing can be pasted here: the input has ended. Waiting for a browser on this machine.\n")
				continue
			}
			c.given.Store(p.err == nil)
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

// A bounded listener has a bounded number of connections, so that clients that
// only connect do not use up what others need.
type bounded struct {
	net.Listener
	room chan struct{}
}

func (b *bounded) Accept() (net.Conn, error) {
	for {
		conn, err := b.Listener.Accept()
		if err != nil {
			return nil, err
		}
		select {
		case b.room <- struct{}{}:
			return &counted{Conn: conn, leave: func() { <-b.room }}, nil
		default:
			_ = conn.Close()
		}
	}
}

type counted struct {
	net.Conn
	once  sync.Once
	leave func()
}

func (c *counted) Close() error {
	defer c.once.Do(c.leave)
	return c.Conn.Close()
}
