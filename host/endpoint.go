package host

import (
	"context"
	"io/fs"
	"slices"
	"strconv"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/config/source"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/httpserver"
)

// A listenBlock is what a block of the configuration says about a listener.
type listenBlock struct {
	address string
	mode    fs.FileMode // of a unix socket; 0: the default
	tls     *config.TLS // nil: no TLS
	at      source.Position
	failure string // the error of a listener that cannot be opened
	setting string // chooses another address
}

// listen opens the socket of the block.
func (b listenBlock) listen(ctx context.Context) (*httpserver.Socket, error) {
	socket, err := httpserver.Listen(ctx, b.address, b.mode)
	if err != nil {
		return nil, &fault.Error{
			Code:    fault.ListenAddress,
			At:      b.at.String(),
			Message: b.failure + ": " + err.Error(),
			Err:     err,
			Hint: "end the process that uses the address, if there is one, " +
				"or choose another address with " + b.setting,
		}
	}
	return socket, nil
}

// An endpoint is where a service accepts connections: a socket, and the certificates of TLS. A
// service owns it, and App.reloading guards it. The last endpoint with a socket closes that.
type endpoint struct {
	listenBlock
	socket *httpserver.Socket
	secure *httpserver.TLS // nil: no TLS
	shared bool            // the socket is that of the endpoint before
}

// successor returns the endpoint of a block that follows this one, which may be nil. It takes
// over the socket if the address is the same, and the certificates if their files are.
func (e *endpoint) successor(ctx context.Context, b listenBlock, log hclog.Logger) (_ *endpoint, err error) {
	next := &endpoint{listenBlock: b}
	switch {
	case b.tls == nil:
	case e != nil && e.secure != nil && slices.Equal(filesOf(b.tls), filesOf(e.tls)):
		next.secure = e.secure
	default:
		if next.secure, err = newTLS(b.tls, log); err != nil {
			return nil, err
		}
	}
	if e != nil && e.address == b.address {
		next.socket, next.shared = e.socket, true
		return next, nil
	}
	if next.socket, err = b.listen(ctx); err != nil {
		return nil, err
	}
	return next, nil
}

// discard closes what successor has opened.
func (e *endpoint) discard() {
	if !e.shared {
		_ = e.socket.Close()
	}
}

// newTLS reads the files of a listener with TLS.
func newTLS(t *config.TLS, log hclog.Logger) (*httpserver.TLS, error) {
	secure, err := httpserver.NewTLS(httpserver.Certificates{
		Cert:     t.Cert,
		Key:      t.Key,
		ClientCA: t.ClientCA,
		Optional: t.Optional,
	}, log)
	if err != nil {
		return nil, &fault.Error{
			Code:    fault.ListenTLS,
			At:      t.At.String(),
			Message: err.Error(),
			Err:     err,
			Hint: "cert and key have to be files in PEM that belong together, and that this user can read; " +
				"client_ca likewise, with certificates",
		}
	}
	return secure, nil
}

// filesOf identifies the files of a listener with TLS, and how it uses them.
func filesOf(t *config.TLS) []string {
	return []string{t.Cert, t.Key, t.ClientCA, strconv.FormatBool(t.Optional)}
}
