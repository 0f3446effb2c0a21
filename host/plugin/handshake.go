package plugin

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/hashicorp/go-plugin"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/sdk/wire"
)

const (
	handshakeLine = 4 << 10 // bytes the first line may have; with AutoMTLS it holds a certificate
	garbageShown  = 200
)

// checkHandshake decides whether a plugin's first line may reach go-plugin,
// which would dial whatever address it names and, without TLS, crash over a
// certificate that nobody asked for. dir is where the socket must be. It
// returns where the plugin is reached.
func checkHandshake(line, dir string, tls bool) (network, address string, err error) {
	parts := strings.Split(strings.TrimSpace(line), "|")
	if len(parts) < 5 {
		return "", "", fault.New(fault.PluginHandshake, "the plugin printed %s instead of a handshake", quoted(line)).
			WithHint("a plugin may write nothing to standard output before it serves; its log goes to standard error")
	}
	core, version, network, address, protocol := parts[0], parts[1], parts[2], parts[3], parts[4]
	if core != strconv.Itoa(plugin.CoreProtocolVersion) || protocol != string(plugin.ProtocolNetRPC) {
		return "", "", fault.New(fault.PluginProtocol, "the plugin speaks go-plugin %s over %s, this host speaks %d over %s",
			quoted(core), quoted(protocol), plugin.CoreProtocolVersion, plugin.ProtocolNetRPC)
	}
	if _, ok := wire.Sets(nil)[atoi(version)]; !ok {
		return "", "", fault.New(fault.PluginProtocol, "the plugin speaks protocol %s, this host speaks %s", quoted(version), majors(wire.Majors())).
			WithHint("%s", agree(atoi(version)))
	}
	if len(parts) > 5 && (parts[5] != "") != tls {
		return "", "", fault.New(fault.PluginHandshake, "the plugin's handshake has a certificate field that does not fit")
	}
	switch {
	case tls && network == "tcp" && loopback(address):
		return network, address, nil
	case !tls && network == "unix" && within(address, dir):
		return network, address, nil
	}
	return "", "", notItsOwn(network, address)
}

// loopback accepts nothing that would have to be looked up.
func loopback(address string) bool {
	port, ok := strings.CutPrefix(address, "127.0.0.1:")
	n, err := strconv.ParseUint(port, 10, 16)
	return ok && err == nil && n > 0
}

// within reports whether path names something in dir itself. Nothing on the way
// there can be a link of the plugin's.
func within(path, dir string) bool {
	name := filepath.Base(path)
	return name != "." && name != ".." && path == dir+string(filepath.Separator)+name
}

// checkSocket refuses a link to somebody else's socket.
func checkSocket(address string) error {
	if info, err := os.Lstat(address); err != nil || info.Mode().Type() != fs.ModeSocket {
		return notItsOwn("unix", address)
	}
	return nil
}

func notItsOwn(network, address string) error {
	return fault.New(fault.PluginHandshake, "the plugin wants to be reached at %s %s, which is not a socket of its own", quoted(network), quoted(address))
}

// quoted shows what a plugin printed, shortened.
func quoted(s string) string {
	if len(s) > garbageShown {
		s = s[:garbageShown] + "…"
	}
	return strconv.Quote(strings.ToValidUTF8(s, "\uFFFD"))
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
