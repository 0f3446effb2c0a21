package plugin

import (
	"fmt"
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
// certificate that nobody asked for. dir is where the socket must be.
func checkHandshake(line, dir string, tls bool) error {
	parts := strings.Split(strings.TrimSpace(line), "|")
	if len(parts) < 5 {
		return fault.New(fault.PluginHandshake, "the plugin printed %s instead of a handshake", quoted(line)).
			WithHint("a plugin may write nothing to standard output before it serves; its log goes to standard error")
	}
	core, version, network, address, protocol := parts[0], parts[1], parts[2], parts[3], parts[4]
	if core != strconv.Itoa(plugin.CoreProtocolVersion) || protocol != string(plugin.ProtocolNetRPC) {
		return fault.New(fault.PluginProtocol, "the plugin speaks go-plugin %s over %s, this host speaks %d over %s",
			quoted(core), quoted(protocol), plugin.CoreProtocolVersion, plugin.ProtocolNetRPC)
	}
	if _, ok := wire.Sets(nil)[atoi(version)]; !ok {
		return fault.New(fault.PluginProtocol, "the plugin speaks protocol %s, this host speaks %s", quoted(version), majors(wire.Majors()))
	}
	if len(parts) > 5 && (parts[5] != "") != tls {
		return fault.New(fault.PluginHandshake, "the plugin's handshake has a certificate field that does not fit")
	}
	switch {
	case tls && network == "tcp" && strings.HasPrefix(address, "127.0.0.1:"):
		return nil
	case !tls && network == "unix" && filepath.Dir(filepath.Clean(address)) == filepath.Clean(dir):
		return nil
	}
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
