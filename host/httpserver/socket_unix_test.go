//go:build unix

package httpserver

import (
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSocketModeIgnoresUmask checks the mode of a socket, and that a stale
// socket is replaced.
func TestSocketModeIgnoresUmask(t *testing.T) { // not parallel: it changes the umask of the process
	path := filepath.Join(t.TempDir(), "x.sock")
	for _, mode := range []fs.FileMode{0o600, 0o660, 0o666} {
		l, err := Listen(t.Context(), "unix:"+path, mode)
		if err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%v, %v, want %v", info, err, mode)
		}
		if err := l.SetMode(0o640); err != nil {
			t.Error(err)
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o640 {
			t.Errorf("after SetMode: %v, %v", info, err)
		}
		if again, err := Listen(t.Context(), "unix:"+path, mode); err == nil ||
			!strings.Contains(err.Error(), "another process listens") {
			t.Errorf("%v, %v", again, err)
		}
		l.deadlineListener.(*net.UnixListener).SetUnlinkOnClose(false) // as after a kill
		_ = l.Close()
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if l, err := Listen(t.Context(), "unix:"+path, 0o666); err == nil ||
		!strings.Contains(err.Error(), "is not a socket") {
		t.Errorf("%v, %v", l, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
}

// TestListenOnIPv4Only checks that 0.0.0.0 does not listen on IPv6.
func TestListenOnIPv4Only(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{"0.0.0.0:0": "0.0.0.0",
		"127.0.0.1:0": "127.0.0.1", "localhost:0": ""} {
		l, err := Listen(t.Context(), address, 0)
		if err != nil {
			t.Fatal(err)
		}
		if at := l.Addr().(*net.TCPAddr); want != "" && at.IP.String() != want {
			t.Errorf("%s: %s", address, at)
		}
		_ = l.Close()
	}
}
