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

// A dead client is noticed within a minute: after thirty seconds of silence it
// is asked every ten, three times.
var keepalive = net.KeepAliveConfig{Enable: true, Idle: 30 * time.Second, Interval: 10 * time.Second, Count: 3}

// unixPrefix begins the address of a unix socket.
const unixPrefix = "unix:"

// Listen listens at an address: "host:port", or "unix:" and a path, where mode
// says who can connect.
func Listen(ctx context.Context, address string, mode fs.FileMode) (net.Listener, error) {
	path, isUnix := strings.CutPrefix(address, unixPrefix)
	if !isUnix {
		c := net.ListenConfig{KeepAliveConfig: keepalive}
		return c.Listen(ctx, networkOf(address), address)
	}
	if err := vacate(path); err != nil {
		return nil, err
	}
	var l net.Listener
	var err error
	privately(func() { // nobody else can connect before its mode is set
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
	return l, nil
}

// networkOf is where to listen for "host:port". Who writes 0.0.0.0 means every
// address of IP version 4, where package net would take those of version 6 too.
func networkOf(address string) string {
	host, _, err := net.SplitHostPort(address)
	if ip, bad := netip.ParseAddr(host); err == nil && bad == nil && ip.Is4() {
		return "tcp4"
	}
	return "tcp"
}

// vacate removes the socket of a process that is gone.
func vacate(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.Mode().Type() != os.ModeSocket {
		return fmt.Errorf("%s is there already and is no socket", path)
	}
	if c, err := net.DialTimeout("unix", path, time.Second); err == nil {
		_ = c.Close()
		return fmt.Errorf("another process listens at %s", path)
	}
	return os.Remove(path)
}
