// Package neterror says in words why a request over HTTP got no answer.
package neterror

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"syscall"
)

// An explained error has a text for people, and wraps the error of net/http.
type explained struct {
	text string
	err  error
}

func (e explained) Error() string { return e.text }
func (e explained) Unwrap() error { return e.err }

// Explain returns the error of an http.Client with a text for people. The text names the host
// and no other part of the URL.
func Explain(err error) error {
	if err == nil {
		return nil
	}
	host := "the host"
	inner := err
	if u, ok := errors.AsType[*url.Error](err); ok {
		inner = u.Err
		if at, bad := url.Parse(u.URL); bad == nil && at.Host != "" {
			host = at.Host
		}
	}
	if errors.Is(err, context.Canceled) {
		return explained{context.Canceled.Error(), err}
	}
	if op, ok := errors.AsType[*net.OpError](inner); ok && op.Op == "proxyconnect" {
		return explained{"the proxy cannot be used: " + reason(op.Err, "its host"), err}
	}
	return explained{reason(inner, host), err}
}

// reason returns the text for an error in the exchange with a host.
func reason(err error, host string) string {
	dns, isDNS := errors.AsType[*net.DNSError](err)
	op, isOp := errors.AsType[*net.OpError](err)
	_, unknown := errors.AsType[x509.UnknownAuthorityError](err)
	certificate, isCertificate := errors.AsType[*tls.CertificateVerificationError](err)
	_, notTLS := errors.AsType[tls.RecordHeaderError](err)
	var timeout net.Error
	switch {
	case isDNS && dns.IsNotFound:
		return fmt.Sprintf("the name %s is not known", dns.Name)
	case isDNS:
		return fmt.Sprintf("the name %s cannot be looked up", dns.Name)
	case errors.Is(err, syscall.ECONNREFUSED) && isOp && op.Addr != nil:
		return fmt.Sprintf("nothing listens at %s", op.Addr)
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Sprintf("nothing listens at %s", host)
	case errors.Is(err, syscall.ENETUNREACH), errors.Is(err, syscall.EHOSTUNREACH):
		return fmt.Sprintf("there is no network route to %s", host)
	case unknown:
		return fmt.Sprintf("the certificate of %s is signed by an authority that is not trusted", host)
	case isCertificate:
		return fmt.Sprintf("the certificate of %s cannot be used: %v", host, certificate.Err)
	case notTLS, errors.Is(err, http.ErrSchemeMismatch):
		return fmt.Sprintf("%s does not speak TLS", host)
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, context.DeadlineExceeded),
		errors.As(err, &timeout) && timeout.Timeout():
		return fmt.Sprintf("%s did not answer in time", host)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET):
		return fmt.Sprintf("%s ended the connection before it answered", host)
	}
	return fmt.Sprintf("%s: %v", host, err)
}
