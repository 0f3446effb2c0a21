package listen

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"
)

// A dead client is noticed within a minute: after thirty seconds of silence it
// is asked every ten, three times.
var keepalive = net.KeepAliveConfig{Enable: true, Idle: 30 * time.Second, Interval: 10 * time.Second, Count: 3}

// unixPrefix begins the address of a unix socket.
const unixPrefix = "unix:"

// Listen listens at an address: "host:port", or "unix:" and a path, which only
// the user can connect to.
func Listen(ctx context.Context, address string) (net.Listener, error) {
	path, isUnix := strings.CutPrefix(address, unixPrefix)
	if !isUnix {
		c := net.ListenConfig{KeepAliveConfig: keepalive}
		return c.Listen(ctx, "tcp", address)
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
	if err := os.Chmod(path, 0o600); err != nil {
		_ = l.Close()
		return nil, err
	}
	return l, nil
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
