package plugin

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/sdk/wire"
)

// attachSocket returns the socket of a plugin that the user started manually. ok is
// false if the host's environment names none.
func (s *Supervisor) attachSocket(spec Spec) (path string, ok bool) {
	path, ok = s.opts.Lookup(wire.AttachVariable(spec.Name))
	return path, ok && path != ""
}

// attach connects to a plugin that the user started manually, as in a debugger. The
// host neither kills that process nor checks its health, because it may be stopped at
// a breakpoint. The link that it returns has an attachedProcess in place of a processRunner's
// child.
func (s *Supervisor) attach(ctx context.Context, spec Spec, path string, described sdk.Manifest,
	at *startStep) (*link, error) {
	at.enter("answer the first call")
	if spec.SHA256 != "" {
		return nil, fault.New(fault.PluginChecksum,
			"the configuration pins the program of plugin %q with sha256, so it cannot attach to another process",
			spec.Name).
			WithHint("unset %s, or remove sha256 while debugging the plugin", wire.AttachVariable(spec.Name))
	}
	if err := checkAttachSocket(path); err != nil {
		return nil,
			err.WithHint("run the plugin with the argument attach as the same user, and set %s to the path it prints",
				wire.AttachVariable(spec.Name))
	}
	ctx, cancel := context.WithTimeout(ctx, s.limits.start)
	defer cancel()
	l := s.newLink(spec)
	l.attached = true
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", path)
	if err != nil {
		return nil, fault.Because(fault.PluginExited, err, "attaching to plugin %q", spec.Name).
			WithHint("start the plugin again with the argument attach, or unset %s", wire.AttachVariable(spec.Name))
	}
	pid, err := samePeer(conn)
	if err != nil {
		_ = conn.Close()
		return nil, fault.Because(fault.PluginNotAllowed, err, "attaching to plugin %q at %s", spec.Name, path)
	}
	l.runner = &processRunner{
		proc: &attachedProcess{pid: pid, conn: conn, done: make(chan struct{})}, dir: filepath.Dir(path),
		limits: l.limits, journal: l.journal,
	}
	l.sets, l.version = dispensed(l), wire.Major
	if err := l.establish(ctx, func(context.Context) (net.Conn, error) { return conn, nil }); err != nil {
		return nil, l.failed(err)
	}
	manifest, err := l.wire.Attach(ctx, s.opts.Version, "debug")
	if err != nil {
		err = l.explain(err)
		l.kill()
		return nil, l.failed(err)
	}
	s.warn(fmt.Sprintf("attached to plugin %q, process %d, which was started manually", spec.Name, pid),
		"junctor neither checks nor stops it; unset "+wire.AttachVariable(spec.Name)+
			" to use the program of the configuration")
	if !describes(manifest, described) {
		s.warn(fmt.Sprintf("the process and the program describe plugin %q differently", spec.Name),
			"junctor validates the configuration with the program's description; rebuild the program")
	}
	return l, nil
}

// warn reports a warning to the user, or to the log if there is no user.
func (s *Supervisor) warn(message, hint string) {
	if s.opts.Warn != nil {
		s.opts.Warn(message, hint)
		return
	}
	s.opts.Log.Warn(message, "hint", hint)
}

// checkAttachSocket rejects a socket that another user could have created or could
// replace. The process behind the socket receives the servers' secrets.
func checkAttachSocket(path string) *fault.Error {
	refused := func(format string, args ...any) *fault.Error {
		return fault.New(fault.PluginNotAllowed, "the plugin's socket %s is rejected: %s",
			path, fmt.Sprintf(format, args...))
	}
	switch {
	case runtime.GOOS == "windows":
		return refused("attaching is not supported on Windows")
	case !filepath.IsAbs(path) || path != filepath.Clean(path):
		return refused("the path is not absolute")
	}
	dir, err := os.Lstat(filepath.Dir(path))
	switch {
	case err != nil:
		return refused("%v", err)
	case !dir.IsDir() || dir.Mode().Perm()&0o077 != 0 || !ownedByUser(dir):
		return refused("its directory must belong to you and have mode 0700")
	}
	socket, err := os.Lstat(path)
	switch {
	case err != nil:
		return refused("%v", err)
	case socket.Mode().Type() != os.ModeSocket || !ownedByUser(socket):
		return refused("it must be a socket that belongs to you")
	}
	return nil
}

// An attachedProcess is a process that the user started. Killing it only closes the
// connection. Its link owns it. Its methods may be called concurrently.
type attachedProcess struct {
	pid  int
	conn net.Conn
	once sync.Once
	done chan struct{}
}

var _ child = (*attachedProcess)(nil)

// PID returns the process id, or 0 if the system does not report it.
func (a *attachedProcess) PID() int { return a.pid }

// Done returns a channel that is closed when the connection is closed.
func (a *attachedProcess) Done() <-chan struct{} { return a.done }

// Ended describes the end of the connection.
func (a *attachedProcess) Ended() string { return "hung up" }

// Wait waits up to d for the end of the connection.
func (a *attachedProcess) Wait(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-a.done:
		return true
	case <-t.C:
		return false
	}
}

// Kill closes the connection and leaves the process running.
func (a *attachedProcess) Kill() {
	a.once.Do(func() {
		_ = a.conn.Close()
		close(a.done)
	})
}

// pings answers yamux pings for an attached plugin. yamux closes a connection whose
// peer does not answer within ten seconds, as happens at a breakpoint. A connFilter has one.
// Its methods may be called concurrently.
type pings struct {
	mu      sync.Mutex
	answers []byte // guarded by mu; frames that read returns first
}

const flagACK = 2

// take intercepts a ping for the plugin and interrupts read, which returns the answer.
func (k *pings) take(c net.Conn, frame []byte) bool {
	if k == nil || len(frame) != frameSize || frame[1] != framePing || binary.BigEndian.Uint16(frame[2:])&flagSYN == 0 {
		return false
	}
	k.mu.Lock()
	answer := append([]byte(nil), frame...)
	binary.BigEndian.PutUint16(answer[2:], flagACK)
	k.answers = append(k.answers, answer...)
	k.mu.Unlock()
	_ = c.SetReadDeadline(time.Unix(1, 0))
	return true
}

// read returns answers between frames, and otherwise reads from the plugin.
func (k *pings) read(c net.Conn, p []byte, between bool) (int, error) {
	for {
		_ = c.SetReadDeadline(time.Time{})
		if between {
			k.mu.Lock()
			n := copy(p, k.answers)
			k.answers = k.answers[n:]
			k.mu.Unlock()
			if n > 0 {
				return n, nil
			}
		}
		n, err := c.Read(p)
		if n > 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
			return n, err
		}
	}
}
