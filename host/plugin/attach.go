package plugin

import (
	"context"
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

// attachSocket returns the socket of a plugin that the user has started by
// hand, if the environment of this host names one.
func (s *Supervisor) attachSocket(spec Spec) (path string, ok bool) {
	path, ok = s.opts.Lookup(wire.AttachVariable(spec.Name))
	return path, ok && path != ""
}

// attach joins this host to a plugin that the user has started by hand, as in a
// debugger. Nothing but the user ends that process: the host does not kill it
// and does not ask how it is, because it may stand at a breakpoint.
func (s *Supervisor) attach(ctx context.Context, spec Spec, path string, described sdk.Manifest, at *stage) (*link, error) {
	at.enter("answer the first call")
	if spec.SHA256 != "" {
		return nil, fault.New(fault.PluginChecksum, "the configuration pins the program of plugin %q with sha256, and another process would be used", spec.Name).
			WithHint("unset %s, or remove sha256 while you debug the plugin", wire.AttachVariable(spec.Name))
	}
	if err := checkAttachSocket(path); err != nil {
		return nil, err.WithHint("run the plugin with the argument attach, as you, and set %s to what it prints", wire.AttachVariable(spec.Name))
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
		proc: &attached{pid: pid, conn: conn, done: make(chan struct{})}, dir: filepath.Dir(path), limits: l.limits, journal: l.journal,
	}
	l.sets, l.version = wire.Sets(wire.HostSide(l)), wire.Major
	if err := l.converse(ctx, func(context.Context) (net.Conn, error) { return conn, nil }); err != nil {
		return nil, l.failed(err)
	}
	manifest, err := l.wire.Attach(ctx, s.opts.Version, "debug")
	if err != nil {
		err = l.explain(err)
		l.kill()
		return nil, l.failed(err)
	}
	s.warn(fmt.Sprintf("attached to plugin %q, process %d, which you started yourself", spec.Name, pid),
		"it is neither checked nor ended by junctor; unset "+wire.AttachVariable(spec.Name)+" to use the program of the configuration")
	if !describes(manifest, described) {
		s.warn(fmt.Sprintf("the process describes plugin %q in another way than its program does", spec.Name),
			"the configuration is checked with what the program says: build it again")
	}
	return l, nil
}

// warn tells the user, or the log where there is no user.
func (s *Supervisor) warn(message, hint string) {
	if s.opts.Warn != nil {
		s.opts.Warn(message, hint)
		return
	}
	s.opts.Log.Warn(message, "hint", hint)
}

// checkAttachSocket refuses a socket that another user could have made or could
// replace: whoever answers there gets the secrets of the servers.
func checkAttachSocket(path string) *fault.Error {
	refused := func(format string, args ...any) *fault.Error {
		return fault.New(fault.PluginNotAllowed, "the plugin's socket %s is not used: %s", path, fmt.Sprintf(format, args...))
	}
	switch {
	case runtime.GOOS == "windows":
		return refused("attaching is not supported on Windows")
	case !filepath.IsAbs(path) || path != filepath.Clean(path):
		return refused("it is not an absolute path")
	}
	dir, err := os.Lstat(filepath.Dir(path))
	switch {
	case err != nil:
		return refused("%v", err)
	case !dir.IsDir() || dir.Mode().Perm()&0o077 != 0 || !mine(dir):
		return refused("its directory must be yours, with mode 0700")
	}
	socket, err := os.Lstat(path)
	switch {
	case err != nil:
		return refused("%v", err)
	case socket.Mode().Type() != os.ModeSocket || !mine(socket):
		return refused("it must be a socket of yours")
	}
	return nil
}

// An attached is a process that the user has started. To kill it is to hang up.
type attached struct {
	pid  int
	conn net.Conn
	once sync.Once
	done chan struct{}
}

var _ child = (*attached)(nil)

// PID is 0 where the system does not tell.
func (a *attached) PID() int { return a.pid }

// Done is closed when the conversation is over.
func (a *attached) Done() <-chan struct{} { return a.done }

// Ended says how it ended.
func (a *attached) Ended() string { return "hung up" }

// Wait waits for the end of the conversation.
func (a *attached) Wait(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-a.done:
		return true
	case <-t.C:
		return false
	}
}

// Kill ends the conversation, and not the process.
func (a *attached) Kill() {
	a.once.Do(func() {
		_ = a.conn.Close()
		close(a.done)
	})
}
