package httpserver

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"strings"
	"time"
)

// keepalive detects a dead client within a minute: three probes at an interval
// of 10 seconds, after 30 seconds of silence.
var keepalive = net.KeepAliveConfig{Enable: true, Idle: 30 * time.Second, Interval: 10 * time.Second, Count: 3}

// unixPrefix is the prefix of the address of a unix socket.
const unixPrefix = "unix:"

// A Socket is a bound address. Turns accept its connections, one after another. Package host
// makes it and closes it; it outlives the listeners that serve it, so that a reload loses no
// connection.
type Socket struct {
	deadlineListener
	accepting chan struct{} // holds a token while no turn accepts
}

// A deadlineListener is a *net.TCPListener or a *net.UnixListener.
type deadlineListener interface {
	net.Listener
	SetDeadline(t time.Time) error
}

func newSocket(l deadlineListener) *Socket {
	s := &Socket{deadlineListener: l, accepting: make(chan struct{}, 1)}
	s.accepting <- struct{}{}
	return s
}

// SetMode sets the file mode of a unix socket. It does nothing for another socket.
func (s *Socket) SetMode(mode fs.FileMode) error {
	if s.Addr().Network() != "unix" {
		return nil
	}
	return os.Chmod(s.Addr().String(), mode)
}

// Turn returns a listener for the connections of the socket. Its Close leaves the
// socket open: connections wait for the next turn. Only one turn may be open.
func (s *Socket) Turn() net.Listener { return &turn{Socket: s, closed: make(chan struct{})} }

// Listen listens at an address: "host:port", or "unix:" and a path. mode is the
// file mode of a unix socket. It does not wait for connections. The caller closes the socket.
func Listen(ctx context.Context, address string, mode fs.FileMode) (*Socket, error) {
	path, isUnix := strings.CutPrefix(address, unixPrefix)
	if isUnix {
		return listenUnix(ctx, path, mode)
	}
	c := net.ListenConfig{KeepAliveConfig: keepalive}
	l, err := c.Listen(ctx, networkOf(address), address)
	if err != nil {
		return nil, err
	}
	return newSocket(l.(*net.TCPListener)), nil
}

// listenUnix listens on a unix socket. It replaces the socket of a process that has
// ended.
func listenUnix(ctx context.Context, path string, mode fs.FileMode) (*Socket, error) {
	if err := removeStaleSocket(path); err != nil {
		return nil, err
	}
	var l net.Listener
	var err error
	withPrivateUmask(func() { // no other user can connect before the mode is set
		var c net.ListenConfig
		l, err = c.Listen(ctx, "unix", path)
	})
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, mode); err != nil {
		_ = l.Close()
		return nil, err
	}
	return newSocket(l.(*net.UnixListener)), nil
}

// networkOf returns the network for "host:port". An IPv4 address means IPv4
// only, while package net would also listen on IPv6 for 0.0.0.0.
func networkOf(address string) string {
	host, _, err := net.SplitHostPort(address)
	if ip, bad := netip.ParseAddr(host); err == nil && bad == nil && ip.Is4() {
		return "tcp4"
	}
	return "tcp"
}

// removeStaleSocket removes the socket of a process that has ended. The error
// is for a path that is in use.
func removeStaleSocket(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.Mode().Type() != os.ModeSocket {
		return fmt.Errorf("%s exists and is not a socket", path)
	}
	if c, err := net.DialTimeout("unix", path, time.Second); err == nil {
		_ = c.Close()
		return fmt.Errorf("another process listens on %s", path)
	}
	return os.Remove(path)
}
