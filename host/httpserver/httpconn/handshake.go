package httpconn

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

// A handshaker is a listener that returns TLS connections after their handshakes. A Listener
// has one. One goroutine accepts, and each handshake has its own; Close ends them, and work
// waits for them.
type handshaker struct {
	net.Listener
	config  *tls.Config
	timeout func() time.Duration // per handshake
	log     hclog.Logger

	accepted chan acceptResult
	ctx      context.Context // ends with Close
	cancel   context.CancelFunc
	work     sync.WaitGroup
}

// An acceptResult is a result of Accept.
type acceptResult struct {
	conn net.Conn
	err  error
}

func newHandshaker(l net.Listener, config *tls.Config, timeout func() time.Duration, log hclog.Logger) *handshaker {
	h := &handshaker{Listener: l, config: config, timeout: timeout, log: log, accepted: make(chan acceptResult)}
	h.ctx, h.cancel = context.WithCancel(context.Background())
	h.work.Go(h.acceptAll)
	return h
}

// acceptAll accepts connections until the listener is closed. It runs on a goroutine of its
// own.
func (h *handshaker) acceptAll() {
	for {
		conn, err := h.Listener.Accept()
		if err != nil {
			h.deliver(acceptResult{err: err})
			if errors.Is(err, net.ErrClosed) {
				return
			}
			continue
		}
		h.work.Go(func() { h.handshake(conn) })
	}
}

// handshake performs one handshake and delivers or closes the connection. It runs on a
// goroutine of its own and closes conn if it fails.
func (h *handshaker) handshake(conn net.Conn) {
	timeout := h.timeout()
	ctx, cancel := context.WithTimeout(h.ctx, timeout)
	defer cancel()
	t := tls.Server(conn, h.config)
	_ = conn.SetDeadline(time.Now().Add(timeout)) // also limits the alert after a failure
	err := t.HandshakeContext(ctx)
	_ = conn.SetDeadline(time.Time{})
	if err == nil {
		h.deliver(acceptResult{conn: t})
		return
	}
	h.log.Debug("TLS handshake error", "from", conn.RemoteAddr().String(), "error", err)
	if plain, ok := errors.AsType[tls.RecordHeaderError](err); ok && plain.Conn != nil &&
		looksLikeHTTP(plain.RecordHeader) {
		_, _ = io.WriteString(plain.Conn,
			"HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n")
	}
	_ = conn.Close()
}

// looksLikeHTTP reports whether the header of a TLS record is the beginning of a
// request without TLS.
func looksLikeHTTP(header [5]byte) bool {
	switch string(header[:]) {
	case "GET /", "HEAD ", "POST ", "PUT /", "OPTIO", "DELET":
		return true
	}
	return false
}

// deliver passes a result to Accept, or closes the connection if the listener is
// closed.
func (h *handshaker) deliver(a acceptResult) {
	select {
	case h.accepted <- a:
	case <-h.ctx.Done():
		if a.conn != nil {
			_ = a.conn.Close()
		}
	}
}

func (h *handshaker) Accept() (net.Conn, error) {
	select {
	case a := <-h.accepted:
		return a.conn, a.err
	case <-h.ctx.Done():
		return nil, net.ErrClosed
	}
}

func (h *handshaker) Close() error {
	h.cancel()
	return h.Listener.Close()
}
