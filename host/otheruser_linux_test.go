package host

import (
	"net"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

const socketTable = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1D98 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 1 1 0 100 0 0 10 0
   1: 0100007F:D431 0100007F:1D98 01 00000000:00000000 00:00000000 00000000  1001        0 2 1 0 20 4 30 10 -1
   2: broken
   3: 0100007F:D432 0100007F:1D98 01 00000000:00000000 00:00000000 00000000  x        0 2 1 0 20 4 30 10 -1
   4: 0000000000000000FFFF00000100007F:D433 0000000000000000FFFF00000100007F:1D98 01 00000000:00000000 00:00000000 00000000  1002        0 2 1 0 20 4 30 10 -1
`

func TestUserOfSocket(t *testing.T) {
	own := netip.MustParseAddrPort("127.0.0.1:7576")
	for peer, want := range map[string]int{"127.0.0.1:54321": 1001, "127.0.0.1:54323": 1002,
		"127.0.0.1:54322": -1, "127.0.0.1:54324": -1, "127.0.0.2:54321": -1, "[::1]:54321": -1} {
		user, found := userOf(strings.NewReader(socketTable), netip.MustParseAddrPort(peer), own)
		if !found {
			user = -1
		}
		if user != want {
			t.Errorf("%s: %d, want %d", peer, user, want)
		}
	}
}

// TestOtherUser connects as this user and as another one.
func TestOtherUser(t *testing.T) {
	for _, address := range []string{"127.0.0.1:0", "[::1]:0"} {
		l, err := net.Listen("tcp", address)
		if err != nil {
			t.Logf("%s: %v", address, err)
			continue
		}
		defer l.Close()
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		accepted, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		defer accepted.Close()
		if otherUser(accepted.RemoteAddr().String(), accepted.LocalAddr().String()) {
			t.Errorf("%s: this user counts as another one", address)
		}
		if os.Getuid() != 0 {
			continue // only root can run a program as another user
		}
		cmd := exec.Command("python3", "-c",
			"import socket,sys; s=socket.create_connection((sys.argv[1], int(sys.argv[2]))); s.recv(1)",
			l.Addr().(*net.TCPAddr).IP.String(), l.Addr().String()[strings.LastIndex(l.Addr().String(), ":")+1:])
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 4242, Gid: 4242}}
		if err := cmd.Start(); err != nil {
			t.Skip(err)
		}
		_ = l.(*net.TCPListener).SetDeadline(time.Now().Add(20 * time.Second))
		other, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		if !otherUser(other.RemoteAddr().String(), other.LocalAddr().String()) {
			t.Errorf("%s: another user is not noticed", address)
		}
		_ = other.Close()
		_ = cmd.Wait()
	}
	if otherUser("x", "y") || otherUser("127.0.0.1:1", "x") || otherUser("192.0.2.1:1", "192.0.2.2:2") {
		t.Error("an unknown peer counts as another user")
	}
}
