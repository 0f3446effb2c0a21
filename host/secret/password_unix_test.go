//go:build unix

package secret

import (
	"os"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/host/fault"
)

// pipe returns the number of a descriptor that no os.File owns.
func pipe(t *testing.T, text string, end bool) int {
	t.Helper()
	var fds [2]int
	if err := syscall.Pipe(fds[:]); err != nil {
		t.Fatal(err)
	}
	if _, err := syscall.Write(fds[1], []byte(text)); err != nil {
		t.Fatal(err)
	}
	if end {
		_ = syscall.Close(fds[1])
	} else {
		t.Cleanup(func() { _ = syscall.Close(fds[1]) })
	}
	return fds[0]
}

func TestPasswordDescriptor(t *testing.T) {
	for name, c := range map[string]struct {
		text, want string
		end        bool
	}{
		"a line":       {"hunter2\n", "hunter2", false},
		"no line":      {"hunter2", "hunter2", true},
		"two lines":    {"hunter2\nmore\n", "hunter2", true},
		"nothing":      {"", "", true},
		"an empty one": {"\n", "", true},
	} {
		clear(descriptors.readers)
		fd := pipe(t, c.text, c.end)
		Passwords(PasswordOptions{FD: fd})
		if flags, _, _ := syscall.Syscall(syscall.SYS_FCNTL, uintptr(fd), syscall.F_GETFD,
			0); flags&syscall.FD_CLOEXEC == 0 {
			t.Errorf("%s: programs that are started get the descriptor", name)
		}
		for range 3 { // it can be read only once
			password := Passwords(PasswordOptions{FD: fd})
			got, err := password(t.Context(), false)
			if string(got) != c.want || (c.want == "") != fault.Is(err, fault.SecretLocked) {
				t.Errorf("%s: %q, %v", name, got, err)
			}
			clear(got)
		}
	}
	clear(descriptors.readers)
	fd := strconv.Itoa(pipe(t, "env\n", true))
	lookup := func(name string) (string, bool) { v, ok := map[string]string{fdVariable: fd}[name]; return v, ok }
	if got, err := Passwords(PasswordOptions{Lookup: lookup})(t.Context(), true); err != nil || string(got) != "env" {
		t.Error(string(got), err)
	}
}

// TestPasswordIgnoresOwnDescriptors: a number that the parent process did not pass may
// belong to a file that this process opened itself. It is not read as a password, and the
// file stays open.
func TestPasswordIgnoresOwnDescriptors(t *testing.T) {
	clear(descriptors.readers)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	if _, err := w.WriteString("max 100000\n"); err != nil {
		t.Fatal(err)
	}
	got, err := Passwords(PasswordOptions{FD: int(r.Fd())})(t.Context(), true)
	if wantCode(t, err, fault.SecretLocked); got != nil {
		t.Errorf("%q is the password", got)
	}
	if n, err := r.Read(make([]byte, 16)); n != 11 {
		t.Errorf("%d bytes are left: %v", n, err)
	}
}

// TestPasswordReadTimesOut: a read from a silent descriptor ends.
func TestPasswordReadTimesOut(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	_ = r.SetReadDeadline(time.Now().Add(10 * time.Millisecond))
	_, err = firstLine(r, "descriptor 9")
	wantCode(t, err, fault.SecretLocked)
	_ = r.Close()
}
