package doctor

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"
)

// A Listener is an address at which the configuration lets Junctor listen.
type Listener struct {
	Setting string // such as "gateway.http"
	Address string // host:port, or "unix:" and a path
	At      string
}

// Ports returns a check that each address is free. own are the process ids of the running
// processes of this configuration, which may have them.
func Ports(all []Listener, own []int) Check {
	return Check{"ports", func(ctx context.Context) (found []Finding) {
		for _, l := range all {
			found = append(found, listener(ctx, l, own)...)
		}
		return found
	}}
}

func listener(ctx context.Context, l Listener, own []int) []Finding {
	if path, ok := strings.CutPrefix(l.Address, "unix:"); ok {
		return socket(ctx, l, path)
	}
	_, port, err := net.SplitHostPort(l.Address)
	if err != nil || port == "0" {
		return nil // the configuration reports the first
	}
	var c net.ListenConfig
	free, err := c.Listen(ctx, "tcp", l.Address)
	if err == nil {
		_ = free.Close()
		return nil
	}
	f := Finding{Severity: Error,
		Message: fmt.Sprintf("%s cannot listen at %s: %s", l.Setting, l.Address, plainError(err)), At: l.At,
		Remedy: "correct listen at " + l.At}
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		pid, name := holder(port)
		for _, mine := range own {
			if pid == mine || pid == 0 {
				return nil
			}
		}
		f.Message = fmt.Sprintf("%s cannot listen at %s: another program has the port", l.Setting, l.Address)
		f.Remedy = fmt.Sprintf(
			"run `lsof -iTCP:%s -sTCP:LISTEN` to see which, and end it or write another port into listen", port,
		)
		if pid > 0 {
			f.Message = fmt.Sprintf("%s cannot listen at %s: process %d (%s) has the port",
				l.Setting, l.Address, pid, name)
			f.Remedy = fmt.Sprintf("run `kill %d` if it is not needed, or write another port into listen at %s",
				pid, l.At)
		}
	case errors.Is(err, syscall.EACCES):
		f.Remedy = fmt.Sprintf("write a port above 1023 into listen at %s, or run `sudo setcap cap_net_bind_service=+ep \"$(command -v junctor)\"`",
			l.At)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		f.Remedy = fmt.Sprintf("write an address of this machine into listen at %s; `ip address` shows them", l.At)
	}
	return []Finding{f}
}

func plainError(err error) string {
	if e, ok := errors.AsType[*os.SyscallError](err); ok {
		return e.Err.Error()
	}
	if e, ok := errors.AsType[*net.OpError](err); ok {
		return e.Err.Error()
	}
	return err.Error()
}

// socket reports a unix socket that a process left behind.
func socket(ctx context.Context, l Listener, path string) []Finding {
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return nil
	case info.Mode()&os.ModeSocket == 0:
		return []Finding{{Severity: Error,
			Message: fmt.Sprintf("%s cannot listen at %s: it is not a socket", l.Setting, path), At: l.At,
			Remedy: "run `mv " + quote(path) + " " + quote(path+".old") + "`, or write another path into listen"}}
	}
	var d net.Dialer
	c, err := d.DialContext(ctx, "unix", path)
	if err == nil {
		_ = c.Close()
		return nil // a process serves there
	}
	if !errors.Is(err, syscall.ECONNREFUSED) {
		return nil
	}
	return []Finding{{
		Severity: Warning,
		Message:  fmt.Sprintf("the socket %s of %s is left of a process that has ended", path, l.Setting), At: l.At,
		Remedy: "run `rm " + quote(path) + "`",
		Mend:   func(context.Context) (string, error) { return "removed " + path, os.Remove(path) },
	}}
}
