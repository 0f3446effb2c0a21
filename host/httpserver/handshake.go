package httpserver

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
)

// A handshakes is a listener whose connections have TLS. It does what ServeTLS of
// net/http does, and returns a connection when its handshake is over: only then is
// it known whether the client speaks HTTP/1, whose requests are checked before
// net/http sees them.
type handshakes struct {
	net.Listener
	config *tls.Config
	within time.Duration // for a handshake
	log    hclog.Logger

	done  chan newcomer
	ctx   context.Context // ends with the listener
	close context.CancelFunc
	work  sync.WaitGroup
}

// A newcomer is a result of Accept.
type newcomer struct {
	conn net.Conn
	err  error
}

func newHandshakes(l net.Listener, config *tls.Config, within time.Duration, log hclog.Logger) *handshakes {
	h := &handshakes{Listener: l, config: config, within: within, log: log, done: make(chan newcomer)}
	h.ctx, h.close = context.WithCancel(context.Background())
	h.work.Go(h.accept)
	return h
}

// accept takes connections until the listener is closed.
func (h *handshakes) accept() {
	for {
		conn, err := h.Listener.Accept()
		if err != nil {
			h.deliver(newcomer{err: err})
			if errors.Is(err, net.ErrClosed) {
				return
			}
			continue
		}
		h.work.Go(func() { h.shake(conn) })
	}
}

// shake does one handshake.
func (h *handshakes) shake(conn net.Conn) {
	ctx, cancel := context.WithTimeout(h.ctx, h.within)
	defer cancel()
	t := tls.Server(conn, h.config)
	_ = conn.SetDeadline(time.Now().Add(h.within)) // also for the alert that says why not
	err := t.HandshakeContext(ctx)
	_ = conn.SetDeadline(time.Time{})
	if err == nil {
		h.deliver(newcomer{conn: t})
		return
	}
	h.log.Debug("TLS handshake error", "from", conn.RemoteAddr().String(), "error", err)
	if plain, ok := errors.AsType[tls.RecordHeaderError](err); ok && plain.Conn != nil && looksLikeHTTP(plain.RecordHeader) {
		_, _ = io.WriteString(plain.Conn, "HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n")
	}
	_ = conn.Close()
}

// looksLikeHTTP reports whether a TLS record begins like a request without TLS.
func looksLikeHTTP(header [5]byte) bool {
	switch string(header[:]) {
	case "GET /", "HEAD ", "POST ", "PUT /", "OPTIO", "DELET":
		return true
	}
	return false
}

// deliver hands a result to Accept, or drops it when nobody accepts any longer.
func (h *handshakes) deliver(a newcomer) {
	select {
	case h.done <- a:
	case <-h.ctx.Done():
		if a.conn != nil {
			_ = a.conn.Close()
		}
	}
}

func (h *handshakes) Accept() (net.Conn, error) {
	select {
	case a := <-h.done:
		return a.conn, a.err
	case <-h.ctx.Done():
		return nil, net.ErrClosed
	}
}

func (h *handshakes) Close() error {
	h.close()
	return h.Listener.Close()
}

// wait returns when no handshake goes on. The listener is closed.
func (h *handshakes) wait() { h.work.Wait() }
