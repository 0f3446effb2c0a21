package host

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/console"
	"github.com/junctor-mcp/junctor/host/httpserver/httpconn"
)

// The limits of the connections to the console.
const (
	consoleHeaderTime  = 10 * time.Second
	consoleBodyTime    = 10 * time.Second
	consoleIdleTime    = time.Minute
	consoleSendTime    = 10 * time.Second
	consoleStopTime    = 2 * time.Second // for the pages in progress
	consoleConnections = 32              // of one address of another machine
)

// A consoleListener serves the console at one address, with or without TLS. A consoleService
// owns it. serve is called once, and leave or close ends it; App.reloading excludes the two.
type consoleListener struct {
	*endpoint
	config *config.Console
	log    hclog.Logger

	http   *http.Server
	conns  *httpconn.Listener
	cancel context.CancelFunc
	work   sync.WaitGroup
}

// serve answers requests with a server.
func (l *consoleListener) serve(server *console.Server) {
	ctx, cancel := context.WithCancel(context.Background())
	l.cancel = cancel
	var secure *tls.Config
	if l.secure != nil {
		secure = l.secure.Config()
	}
	l.conns = httpconn.Listen(l.socket.Turn(), httpconn.Options{
		TLS: secure,
		Log: l.log,
		Limits: httpconn.Limits{
			Header:     consoleHeaderTime,
			Body:       consoleBodyTime,
			Idle:       consoleIdleTime,
			Send:       consoleSendTime,
			PerAddress: consoleConnections,
		},
		AddressKey: consoleAddress,
	})
	l.http = &http.Server{
		Handler: l.checked(server), TLSConfig: secure, MaxHeaderBytes: console.MaxHeader, IdleTimeout: consoleIdleTime,
		BaseContext: func(net.Listener) context.Context { return ctx },
		ErrorLog:    l.log.StandardLogger(&hclog.StandardLoggerOptions{ForceLevel: hclog.Debug}),
	}
	l.conns.Attach(l.http)
	l.work.Go(func() { l.conns.Run(ctx) })
	l.work.Go(func() {
		if err := l.http.Serve(l.conns); err != nil && ctx.Err() == nil {
			l.log.Debug("the console serves no further connections", "error", err)
		}
	})
}

// checked refuses requests with a certificate that is not accepted any longer, and bounds
// the time for a body.
func (l *consoleListener) checked(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		httpconn.SetTLS(r)
		if r.ContentLength != 0 {
			httpconn.LimitBody(w, r, time.Now().Add(consoleBodyTime))
			r.Body = &limitedBody{r.Body, func() { httpconn.UnlimitBody(w, r) }}
		}
		if l.secure != nil && !l.secure.Accepts(r.TLS) {
			http.Error(w, "The client certificate is not accepted.", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// A limitedBody ends the time limit of a body at its end: a tool call may take longer.
type limitedBody struct {
	io.ReadCloser
	ended func()
}

// Read reads from the body.
func (b *limitedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err == io.EOF {
		b.ended()
	}
	return n, err
}

// consoleAddress returns the network of a client. Those of this machine are not limited.
func consoleAddress(remote string) (key netip.Prefix, counted bool) {
	at, err := netip.ParseAddrPort(remote)
	if err != nil || at.Addr().Unmap().IsLoopback() {
		return netip.Prefix{}, false
	}
	addr := at.Addr().Unmap().WithZone("")
	bits := 32
	if addr.Is6() {
		bits = 64
	}
	p, err := addr.Prefix(bits)
	return p, err == nil
}

// leave ends the pages and leaves the socket open. It blocks until no page is in progress.
func (l *consoleListener) leave() {
	_ = l.conns.Close()
	limited, cancel := context.WithTimeout(context.Background(), consoleStopTime)
	defer cancel()
	l.cancel()
	if l.http.Shutdown(limited) != nil {
		_ = l.http.Close()
	}
	l.conns.Wait()
	l.work.Wait()
}

// close ends the pages and closes the socket. It does nothing for nil.
func (l *consoleListener) close() {
	if l == nil {
		return
	}
	l.leave()
	_ = l.socket.Close()
}

// url returns the address for a browser, without a path.
func (l *consoleListener) url() string {
	u := url.URL{Scheme: "http", Host: l.socket.Addr().String()}
	if l.secure != nil {
		u.Scheme = "https"
	}
	tcp, ok := l.socket.Addr().(*net.TCPAddr)
	if !ok {
		return u.String()
	}
	_, port, _ := net.SplitHostPort(tcp.String())
	switch {
	case len(l.config.Hosts) > 0 && !tcp.IP.IsLoopback():
		u.Host = l.config.Hosts[0]
		if _, _, err := net.SplitHostPort(u.Host); err != nil {
			u.Host = net.JoinHostPort(u.Host, port)
		}
	case tcp.IP.IsUnspecified():
		u.Host = net.JoinHostPort("localhost", port)
	}
	return u.String()
}
