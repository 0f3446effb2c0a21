package host

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"net/netip"
	"os"
	"strconv"
	"strings"
)

// maxSocketTable is the number of bytes that are read of a table of sockets.
const maxSocketTable = 16 << 20

// otherUser reports whether the peer of a TCP connection is a program of this machine that
// another user than root runs. remote and local are the addresses of the connection as
// this process sees them. The console asks before a one-time link counts. It reads the tables
// of the system, on the goroutine of the request. It keeps no state.
func otherUser(remote, local string) bool {
	peer, err := netip.ParseAddrPort(remote)
	if err != nil {
		return false
	}
	own, err := netip.ParseAddrPort(local)
	if err != nil {
		return false
	}
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		file, err := os.Open(table)
		if err != nil {
			continue
		}
		user, found := userOf(io.LimitReader(file, maxSocketTable), peer, own)
		_ = file.Close()
		if found {
			return user != 0 && user != os.Getuid()
		}
	}
	return false
}

// userOf finds the socket at one end of a connection in a table of sockets, and returns
// the user who opened it.
func userOf(table io.Reader, at, peer netip.AddrPort) (user int, found bool) {
	ends := map[string]bool{}
	for _, wide := range []bool{false, true} {
		ends[socketAddress(at, wide)+" "+socketAddress(peer, wide)] = true
	}
	for lines := bufio.NewScanner(table); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if len(fields) < 8 || !ends[fields[1]+" "+fields[2]] {
			continue
		}
		user, err := strconv.Atoi(fields[7])
		return user, err == nil
	}
	return 0, false
}

// socketAddress returns an address in the form of the tables: words in the order of the
// machine's bytes, in hex. With wide it is that of a socket for both versions of IP.
func socketAddress(a netip.AddrPort, wide bool) string {
	var bytes []byte
	if addr := a.Addr().Unmap(); addr.Is4() && !wide {
		four := addr.As4()
		bytes = four[:]
	} else {
		sixteen := addr.As16()
		bytes = sixteen[:]
	}
	var b strings.Builder
	for ; len(bytes) > 0; bytes = bytes[4:] {
		fmt.Fprintf(&b, "%08X", binary.NativeEndian.Uint32(bytes))
	}
	return fmt.Sprintf("%s:%04X", b.String(), a.Port())
}
