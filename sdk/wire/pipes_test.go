//go:build linux || darwin

package wire

import (
	"bufio"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// socketPair returns both ends of a data socket.
func socketPair(t *testing.T) (plugin, host *net.UnixConn) {
	t.Helper()
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	var ends [2]*net.UnixConn
	for i, fd := range fds {
		f := os.NewFile(uintptr(fd), "socket")
		c, err := net.FileConn(f)
		_ = f.Close()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		ends[i] = c.(*net.UnixConn)
	}
	return ends[0], ends[1]
}

// descriptorsOpen counts the descriptors of this process.
func descriptorsOpen(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/dev/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

func pipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = r.Close(), w.Close() })
	return r, w
}

// TestPipesPass sends both ends of two pipes and exchanges data through them.
func TestPipesPass(t *testing.T) {
	plugin, host := socketPair(t)
	fromR, fromW := pipe(t)
	toR, toW := pipe(t)
	if err := sendPipes(plugin, fromR, toW); err != nil {
		t.Fatal(err)
	}
	if _, err := toW.Write([]byte("x")); !errors.Is(err, os.ErrClosed) {
		t.Errorf("the plugin can still write: %v", err)
	}
	from, to, err := receivePipes(host)
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	if err := from.SetReadDeadline(time.Now()); err != nil {
		t.Errorf("reading has no deadline: %v", err)
	}
	_ = from.SetReadDeadline(time.Time{})
	_, _ = fromW.Write([]byte("a"))
	_, _ = to.Write([]byte("b"))
	got := make([]byte, 2)
	if n, err := from.Read(got); string(got[:n]) != "a" || err != nil {
		t.Errorf("%q, %v", got[:n], err)
	}
	if n, err := toR.Read(got); string(got[:n]) != "b" || err != nil {
		t.Errorf("%q, %v", got[:n], err)
	}
	_ = to.Close()
	if n, err := toR.Read(got); n != 0 || err != io.EOF {
		t.Errorf("the server's input has not ended: %d, %v", n, err)
	}
}

// TestPipesRefused: the host refuses anything else than two pipes or sockets, and keeps no
// descriptor of it.
func TestPipesRefused(t *testing.T) {
	regular, err := os.Create(filepath.Join(t.TempDir(), "file"))
	if err != nil {
		t.Fatal(err)
	}
	defer regular.Close()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	dir, err := os.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	r, w := pipe(t)
	files := map[byte]*os.File{'r': r, 'w': w, 'f': regular, 'n': null, 'd': dir}
	for _, c := range []struct{ first, files string }{
		{"P", ""}, {"P", "r"}, {"P", "rwr"}, {"P", "rwrw"}, {"P", "rwrwrwrwrwrwrw"}, {"P", "rf"}, {"P", "fw"},
		{"P", "rn"}, {"P", "nn"}, {"P", "dw"}, {"Q", "rw"}, {"\x00", "rw"}, {"", ""},
	} {
		plugin, host := socketPair(t)
		before := descriptorsOpen(t)
		var fds []int
		for i := range len(c.files) {
			fds = append(fds, int(files[c.files[i]].Fd()))
		}
		var rights []byte
		if len(fds) > 0 {
			rights = syscall.UnixRights(fds...)
		}
		if c.first == "" {
			_ = plugin.Close()
			before--
		} else if _, _, err := plugin.WriteMsgUnix([]byte(c.first), rights, nil); err != nil {
			t.Fatal(err)
		}
		from, to, err := receivePipes(host)
		if err == nil || from != nil || to != nil {
			t.Errorf("%+v: %v, %v, %v", c, from, to, err)
		}
		if after := descriptorsOpen(t); after != before {
			t.Errorf("%+v: %d descriptors are open, before %d", c, after, before)
		}
	}
}

// TestOnlyPipesAndSocketsPass: the plugin keeps files that the host would refuse.
func TestOnlyPipesAndSocketsPass(t *testing.T) {
	regular, err := os.Create(filepath.Join(t.TempDir(), "file"))
	if err != nil {
		t.Fatal(err)
	}
	defer regular.Close()
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	r, w := pipe(t)
	for f, want := range map[*os.File]bool{regular: false, null: false, r: true, w: true} {
		if passable(f) != want {
			t.Errorf("%s: passable is %t", f.Name(), !want)
		}
	}
}

// TestPipesEndOnce: the event "closed" comes once, and then the end.
func TestPipesEndOnce(t *testing.T) {
	from, server := pipe(t)
	input, to := pipe(t)
	defer input.Close()
	if _, err := server.WriteString("{\"a\":1}\n"); err != nil {
		t.Fatal(err)
	}
	_ = server.Close()
	plugin, host := socketPair(t)
	defer plugin.Close()
	s := NewStream(host, 1000)
	s.pipes = newPipes(s, from, to, 1000)
	defer s.Leave()
	defer s.Close()
	if _, err := io.WriteString(plugin, frame(1, `{"ev":"closed","status":{"Code":"x"}}`)); err != nil {
		t.Fatal(err)
	}
	if msg, _, err := s.Read(); string(msg) != `{"a":1}` || err != nil {
		t.Fatalf("%q, %v", msg, err)
	}
	if _, ev, err := s.Read(); ev == nil || ev.Name != "closed" || err != nil {
		t.Fatalf("%+v, %v", ev, err)
	}
	for range 2 {
		if msg, ev, err := s.Read(); err != io.EOF {
			t.Fatalf("after the end: %q, %+v, %v", msg, ev, err)
		}
	}
}

// TestWriteNow fills the pipe of a server that does not read: a message is written whole
// or not at all, and nothing waits.
func TestWriteNow(t *testing.T) {
	from, server := pipe(t)
	input, to := pipe(t)
	if err := syscall.SetNonblock(int(to.Fd()), true); err != nil {
		t.Fatal(err)
	}
	plugin, host := socketPair(t)
	defer plugin.Close()
	s := NewStream(host, 1<<20)
	s.pipes = newPipes(s, from, to, 1<<20)
	defer s.Leave()
	defer s.Close()
	defer server.Close()
	if s.WriteNow(make([]byte, pipeBuf)) {
		t.Error("a message and its line feed that the system may split were written")
	}
	line := strings.Repeat("x", 300)
	written := 0
	for ; s.WriteNow([]byte(line[:100]), []byte(line[100:])); written++ {
		if written > 1<<16 {
			t.Fatal("the pipe is never full")
		}
	}
	if written == 0 {
		t.Fatal("nothing was written")
	}
	lines := bufio.NewReader(input)
	for range written {
		if got, err := lines.ReadString('\n'); got != line+"\n" || err != nil {
			t.Fatalf("%q, %v", got, err)
		}
	}
	if err := s.WriteMessage([]byte("waits for flush")); err != nil {
		t.Fatal(err)
	}
	if s.WriteNow([]byte("overtakes")) {
		t.Error("a message overtook a buffered one")
	}
	_ = input.Close()
	if err := s.Flush(); err != nil {
		t.Errorf("a server that has closed its input: %v", err)
	}
	if !s.WriteNow([]byte("nobody reads")) {
		t.Error("a server that has closed its input is for the reader to report")
	}
}

// TestWriteNowInFrames does the same with frames over a socket.
func TestWriteNowInFrames(t *testing.T) {
	a, b := socketPair(t)
	s, other := NewStream(newSocket(a, nil), 2000), NewStream(newSocket(b, nil), 2000)
	if runtime.GOOS != "linux" {
		t.Skip("sockets may split small writes")
	}
	if s.WriteNow(make([]byte, 2001)) {
		t.Error("a message above the limit was written")
	}
	text := strings.Repeat("x", 300)
	written := 0
	for ; s.WriteNow([]byte(text[:100]), []byte(text[100:])); written++ {
		if written > 1<<16 {
			t.Fatal("the socket is never full")
		}
	}
	if written == 0 {
		t.Fatal("nothing was written")
	}
	for range written {
		if msg, _, err := other.Read(); string(msg) != text || err != nil {
			t.Fatalf("%q, %v", msg, err)
		}
	}
	if err := s.WriteMessage([]byte("waits for flush")); err != nil {
		t.Fatal(err)
	}
	if s.WriteNow([]byte("overtakes")) {
		t.Error("a message overtook a buffered one")
	}
	s.Leave()
	if s.WriteNow([]byte("closed")) {
		t.Error("written to a closed stream")
	}
	other.Leave()
}

// TestLineWithoutEnd: such a line closes the connection, once.
func TestLineWithoutEnd(t *testing.T) {
	from, server := pipe(t)
	input, to := pipe(t)
	defer input.Close()
	plugin, host := socketPair(t)
	defer plugin.Close()
	var work sync.WaitGroup
	defer work.Wait()
	defer server.Close()
	work.Go(func() {
		for data := make([]byte, 1<<20); ; {
			if _, err := server.Write(data); err != nil {
				return
			}
		}
	})
	s := NewStream(host, 1000)
	s.pipes = newPipes(s, from, to, 1000)
	defer s.Leave()
	defer s.Close()
	if _, ev, err := s.Read(); ev == nil || ev.Name != "dropped" || err != nil {
		t.Fatalf("%+v, %v", ev, err)
	}
	if junk := s.Junk(); junk.Count != 0 {
		t.Errorf("a message that was dropped for its size counts as %+v", junk)
	}
	if _, ev, err := s.Read(); ev == nil || ev.Name != "closed" || ev.Status == nil ||
		ev.Status.Reason != "message_too_large" || err != nil {
		t.Fatalf("%+v, %v", ev, err)
	}
	if _, err := io.WriteString(plugin, frame(1, `{"ev":"closed"}`)); err != nil {
		t.Fatal(err)
	}
	if msg, ev, err := s.Read(); err != io.EOF {
		t.Fatalf("after the end: %q, %+v, %v", msg, ev, err)
	}
}
