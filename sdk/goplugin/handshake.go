package goplugin

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

const (
	// Core is the version of go-plugin's own protocol.
	Core = 1
	// NetRPC is the name of this protocol in a handshake.
	NetRPC = "netrpc"
)

// The variables of the environment in which a host tells a plugin how to begin.
const (
	SocketDirVariable = "PLUGIN_UNIX_SOCKET_DIR"
	MajorsVariable    = "PLUGIN_PROTOCOL_VERSIONS"
	MinPortVariable   = "PLUGIN_MIN_PORT" // of the ports for systems without unix sockets
	MaxPortVariable   = "PLUGIN_MAX_PORT"
	CertVariable      = "PLUGIN_CLIENT_CERT" // PEM; with it the connection is encrypted
)

// A Handshake is the first line that a plugin prints.
type Handshake struct {
	Major       int    // of the protocol that host and plugin both speak
	Network     string // "unix" or "tcp"
	Address     string
	Certificate string // of the plugin, as base64 without padding of DER; empty: the connection is not encrypted
}

// String returns the line without its end.
func (h Handshake) String() string {
	return fmt.Sprintf("%d|%d|%s|%s|%s|%s", Core, h.Major, h.Network, h.Address, NetRPC, h.Certificate)
}

// ParseHandshake parses the first line of a plugin. Further fields are ignored, because newer
// versions of go-plugin add them.
func ParseHandshake(line string) (h Handshake, err error) {
	fields := strings.Split(strings.TrimRight(line, "\r\n"), "|")
	if len(fields) < 5 {
		return h, fmt.Errorf("%.200q is not a handshake: it has %d fields", line, len(fields))
	}
	if fields[0] != strconv.Itoa(Core) || fields[4] != NetRPC {
		return h, fmt.Errorf("the plugin speaks go-plugin %.20q over %.20q, not %d over %s",
			fields[0], fields[4], Core, NetRPC)
	}
	h.Network, h.Address = fields[2], fields[3]
	if h.Major, err = strconv.Atoi(fields[1]); err != nil {
		return h, fmt.Errorf("%.20q is not a protocol version", fields[1])
	}
	if len(fields) > 5 {
		h.Certificate = fields[5]
	}
	return h, nil
}

// negotiate returns the highest of our majors that the host names in the environment, or our
// lowest one if there is none: a host that names no version is an old one.
func negotiate(majors []int) int {
	known := map[int]bool{}
	for word := range strings.SplitSeq(os.Getenv(MajorsVariable), ",") {
		if n, err := strconv.Atoi(word); err == nil {
			known[n] = true
		}
	}
	best, lowest := 0, 0
	for i, m := range majors {
		if known[m] && m > best {
			best = m
		}
		if i == 0 || m < lowest {
			lowest = m
		}
	}
	if best == 0 {
		return lowest
	}
	return best
}
