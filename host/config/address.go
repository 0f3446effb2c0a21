package config

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"

	"github.com/junctor-mcp/junctor/host/lazyregexp"
	"github.com/junctor-mcp/junctor/host/loopback"
)

// The functions of this file parse the addresses at which gateway.http, console and telemetry.metrics
// listen. They open nothing and resolve no name.

// unixPrefix begins the address of a unix socket.
const unixPrefix = "unix:"

// maxSocket is the length of a socket's path, in bytes, that every system accepts.
const maxSocket = 100

var (
	nameRule   = lazyregexp.New(`^[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)*$`)
	digitsRule = lazyregexp.New(`(^|\.)[0-9]+$`)
	zoneRule   = lazyregexp.New(`^[0-9A-Za-z._@:-]*$`)
	portRule   = lazyregexp.New(`^[0-9]{1,5}$`)
)

// parseListen checks an address to listen at and returns it. It resolves the path of
// a unix socket relative to dir. Its error completes a sentence about the address. The readers of
// blocks with a listener call it.
func parseListen(text, dir string) (string, error) {
	if path, ok := strings.CutPrefix(text, unixPrefix); ok {
		return parseSocketPath(path, dir)
	}
	host, port, err := net.SplitHostPort(text)
	switch {
	case err != nil:
		return "", errors.New("is not an address and a port")
	case !portRule.MatchString(port) || !isPort(port):
		return "", errors.New("has no port from 0 to 65535")
	case host != "" && !isHost(host) || strings.HasPrefix(text, "[") && !strings.Contains(host, ":"):
		return "", errors.New("names no host")
	}
	return text, nil
}

func isPort(text string) bool {
	n, err := strconv.Atoi(text)
	return err == nil && n <= 65535
}

// isHost reports whether text is an IP address, or a host name that no program
// parses as an IP address.
func isHost(text string) bool {
	if a, err := netip.ParseAddr(text); err == nil {
		return zoneRule.MatchString(a.Zone()) // ParseAddr accepts any zone
	}
	return len(text) <= 253 && nameRule.MatchString(text) && !digitsRule.MatchString(text)
}

func parseSocketPath(path, dir string) (string, error) {
	if path == "" || strings.ContainsFunc(path, unicode.IsControl) {
		return "", errors.New("names no socket")
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	path = filepath.Clean(path)
	if len(path) > maxSocket {
		return "", fmt.Errorf("is a path of %d bytes; that of a socket has at most %d", len(path), maxSocket)
	}
	return unixPrefix + path, nil
}

// privateSocket is the mode of a socket that only the user can connect to.
const privateSocket fs.FileMode = 0o600

// socketClients returns the programs that can connect to a socket, for messages.
func socketClients(mode fs.FileMode) string {
	switch mode {
	case privateSocket:
		return "every program that can open it"
	case 0o660:
		return "every program of its group"
	}
	return "every program on this machine"
}

// isSocket reports whether an address is a unix socket.
func isSocket(listen string) bool { return strings.HasPrefix(listen, unixPrefix) }

// isLocal reports whether only this machine can reach an address. Names other than
// localhost count as public, because they may resolve to any address.
func isLocal(listen string) bool {
	if isSocket(listen) {
		return true
	}
	host, _, err := net.SplitHostPort(listen)
	if err != nil {
		return false
	}
	return loopback.Is(host)
}

// This file recognizes durations, sizes and addresses as other programs write them.

// urlAddress matches the scheme of a URL.
var urlAddress = lazyregexp.New(`^https?://([^/]+)/?.*$`)

// listenHintFor returns what to write for an address that is wrong. format is how an
// address is set, such as listen = %q.
func listenHintFor(text, format string) string {
	if len(text) > maxShownAddress {
		return listenHint
	}
	if digits := strings.TrimPrefix(text, ":"); portRule.MatchString(digits) && isPort(digits) {
		return fmt.Sprintf("write "+format+" for clients on this machine", "127.0.0.1:"+digits)
	}
	if m := urlAddress.FindStringSubmatch(text); m != nil {
		if _, err := parseListen(m[1], ""); err == nil {
			return fmt.Sprintf("write "+format+", without a scheme and a path", m[1])
		}
	}
	if isHost(text) {
		return fmt.Sprintf("write "+format+", with a port", text+":7575")
	}
	return listenHint
}
