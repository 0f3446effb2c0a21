package config

import (
	"fmt"
	"strings"

	"github.com/junctor-mcp/junctor/host/lazyregexp"
)

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
