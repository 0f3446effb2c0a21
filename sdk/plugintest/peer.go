package plugintest

import (
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"testing"
)

// EchoCommand returns a command that sends every line back, for transports that
// start programs, and a function that kills all started instances. It skips the
// test on Windows, where there is no shell.
func EchoCommand(t testing.TB) (command []string, die func()) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("there is no shell")
	}
	dir := t.TempDir() // each instance creates a file named by its process id
	die = func() {
		files, _ := filepath.Glob(filepath.Join(dir, "[0-9]*"))
		for _, f := range files {
			if pid, err := strconv.Atoi(filepath.Base(f)); err == nil {
				if p, err := os.FindProcess(pid); err == nil {
					_ = p.Kill()
				}
			}
			_ = os.Remove(f)
		}
	}
	return []string{"/bin/sh", "-c", `: >"$0/$$"; exec cat`, dir}, die
}

// EchoServer listens on "tcp" or "unix" and sends back all data that it
// receives. It returns its address and a function that ends the server and
// every connection.
func EchoServer(t testing.TB, network string) (address string, die func()) {
	t.Helper()
	return listen(t, network, func(c net.Conn) { _, _ = io.Copy(c, c) })
}

// SilentServer listens like [EchoServer] and never sends data, for
// Transport.Hang.
func SilentServer(t testing.TB, network string) (address string) {
	t.Helper()
	address, _ = listen(t, network, func(c net.Conn) { _, _ = io.Copy(io.Discard, c) })
	return address
}

func listen(t testing.TB, network string, serve func(net.Conn)) (string, func()) {
	t.Helper()
	address := "127.0.0.1:0"
	if network == "unix" {
		dir, err := os.MkdirTemp("", "echo") // shorter than t.TempDir: names of sockets have a maximum length
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.RemoveAll(dir) })
		address = filepath.Join(dir, "socket")
	}
	l, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	conns := map[net.Conn]bool{}
	die := func() {
		_ = l.Close()
		mu.Lock()
		defer mu.Unlock()
		for c := range conns {
			_ = c.Close()
		}
	}
	t.Cleanup(die)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			conns[c] = true
			mu.Unlock()
			go func() {
				serve(c)
				_ = c.Close()
				mu.Lock()
				delete(conns, c)
				mu.Unlock()
			}()
		}
	}()
	return l.Addr().String(), die
}
