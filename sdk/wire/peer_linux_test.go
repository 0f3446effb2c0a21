package wire

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// dialVariable makes a process of this test dial a socket and end.
const dialVariable = "JUNCTOR_TEST_DIAL"

// TestSocketsServeTheHost: a program that dials a data stream before the host does gets
// nothing, and the host still connects.
func TestSocketsServeTheHost(t *testing.T) {
	if address := os.Getenv(dialVariable); address != "" {
		conn, err := net.Dial("unix", address)
		if err != nil {
			t.Fatal(err)
		}
		if n, err := conn.Read(make([]byte, 1)); err == nil {
			t.Errorf("another process read %d bytes", n)
		}
		return
	}
	s := sockets{dir: t.TempDir(), host: os.Getpid()}
	s.dials.Store(true)
	name, accept := s.offer()
	address := filepath.Join(s.dir, name)
	accepted := make(chan error, 1)
	go func() {
		conn, err := accept()
		if err == nil {
			_, err = conn.Write([]byte("data"))
		}
		accepted <- err
	}()
	other := exec.Command(os.Args[0], "-test.run=^TestSocketsServeTheHost$")
	other.Env = append(os.Environ(), dialVariable+"="+address)
	if out, err := other.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	conn, err := net.Dial("unix", address)
	if err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 4)
	if n, err := conn.Read(got); err != nil || string(got[:n]) != "data" {
		t.Errorf("the host read %q, %v", got[:n], err)
	}
	if err := <-accepted; err != nil {
		t.Error(err)
	}
}
