package plugin

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/go-plugin"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/truncate"
	"github.com/junctor-mcp/junctor/sdk/wire"
)

const (
	handshakeLine = 4 << 10 // maximum size of the first line; with AutoMTLS it contains a certificate
	quotedSize    = 200     // maximum bytes of a quoted text
)

// checkHandshake validates a plugin's first line before go-plugin reads it. go-plugin
// would dial any address in it and, without TLS, crash on an unexpected certificate.
// dir is the required directory of the socket. checkHandshake returns the plugin's
// address. The functions of this file keep no state.
func checkHandshake(line, dir string, tls bool) (network, address string, err error) {
	parts := strings.Split(strings.TrimSpace(line), "|")
	if len(parts) < 5 {
		return "", "", fault.New(fault.PluginHandshake, "the plugin printed %s instead of a handshake", quoted(line)).
			WithHint("a plugin must not write to standard output before it serves; its log belongs on standard error")
	}
	core, version, network, address, protocol := parts[0], parts[1], parts[2], parts[3], parts[4]
	if core != strconv.Itoa(plugin.CoreProtocolVersion) || protocol != string(plugin.ProtocolNetRPC) {
		return "", "", fault.New(fault.PluginProtocol,
			"the plugin speaks go-plugin %s over %s, this host speaks %d over %s",
			quoted(core), quoted(protocol), plugin.CoreProtocolVersion, plugin.ProtocolNetRPC)
	}
	if !slices.Contains(wire.Majors(), atoi(version)) {
		return "", "", fault.New(fault.PluginProtocol, "the plugin speaks protocol %s, this host speaks %s",
			quoted(version), majors(wire.Majors())).
			WithHint("%s", protocolHint(atoi(version)))
	}
	if len(parts) > 5 && (parts[5] != "") != tls {
		return "", "", fault.New(fault.PluginHandshake,
			"the certificate field in the plugin's handshake is unexpected or missing")
	}
	switch {
	case tls && network == "tcp" && loopback(address):
		return network, address, nil
	case !tls && network == "unix" && within(address, dir):
		return network, address, nil
	}
	return "", "", foreignAddress(network, address)
}

// loopback accepts only numeric addresses, which need no lookup.
func loopback(address string) bool {
	port, ok := strings.CutPrefix(address, "127.0.0.1:")
	n, err := strconv.ParseUint(port, 10, 16)
	return ok && err == nil && n > 0
}

// within reports whether path is an entry of dir itself. The path then contains no
// link that the plugin made.
func within(path, dir string) bool {
	name := filepath.Base(path)
	return name != "." && name != ".." && path == dir+string(filepath.Separator)+name
}

// checkSocket rejects a symbolic link to a socket of another process.
func checkSocket(address string) error {
	if info, err := os.Lstat(address); err != nil || info.Mode().Type() != fs.ModeSocket {
		return foreignAddress("unix", address)
	}
	return nil
}

func foreignAddress(network, address string) error {
	return fault.New(fault.PluginHandshake, "the plugin's handshake names %s %s, which is not a socket of the plugin",
		quoted(network), quoted(address))
}

// quoted quotes and shortens a text that a plugin printed.
func quoted(s string) string {
	return strconv.Quote(strings.ToValidUTF8(truncate.Bytes(s, quotedSize), "\uFFFD"))
}

func atoi(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return -1
	}
	return n
}

func majors(list []int) string {
	var words []string
	for _, n := range list {
		words = append(words, fmt.Sprint(n))
	}
	return strings.Join(words, ", ")
}
