// Package wire is both ends of the conversation between the host and a plugin.
// Authors never import it, and it may change without notice.
//
// The control plane is net/rpc over go-plugin: one dispensed object, "main",
// whose methods stand in [Control]. Only flat structs of plain values cross it.
// Every call carries a [Call] with a number, so that it can be cancelled, and
// the time it has; every reply carries a [Status], because an error returned
// through net/rpc would lose its class and the reply.
//
// The data plane is one stream for each open server, which carries frames; see
// [Stream]. A net/rpc call for every message would cost twice the time under
// load and let one large result hold up everything else. Where both sides have
// the feature "sockets" the stream is a unix socket in the directory that
// go-plugin made for them, elsewhere one of the broker's.
//
// The plugin accepts and the host dials, for every stream there is: data, the
// host's services, and the throw-away stream that proves the plugin's health.
// The plugin reserves the number after the author's code has returned, because
// a broker waits no longer than five seconds, and each number is dialled once,
// because a broker that sees one twice never accepts anything again.
//
// What changes with a protocol major (the key in [Sets]) and what does not:
// fields and methods may be added at any time, and a feature string says that
// the other side knows them. A field never changes its meaning.
package wire

import (
	"slices"

	"github.com/hashicorp/go-plugin"
)

// Major is the protocol that this package speaks.
const Major = 1

// Features are the abilities of this side beyond what the major implies.
var Features = []string{"frames", "cancel", "status", "auth", "failed", "related", "cache", "secret_stores", "per_request", featureSockets}

// Handshake is the cookie that tells a plugin that a host started it. It is
// not a secret.
var Handshake = plugin.HandshakeConfig{
	MagicCookieKey:   "JUNCTOR_PLUGIN",
	MagicCookieValue: "b27e2a3c-9d53-4a0f-8d2b-junctor",
}

// Object is the name of what a plugin dispenses.
const Object = "main"

// Sets pairs each protocol major that the host speaks with what go-plugin
// needs to dispense it.
func Sets(p plugin.Plugin) map[int]plugin.PluginSet {
	return map[int]plugin.PluginSet{Major: {Object: p}}
}

// Majors lists the keys of [Sets], newest first, as a manifest shows them.
func Majors() []int {
	var majors []int
	for m := range Sets(nil) {
		majors = append(majors, m)
	}
	slices.Sort(majors)
	slices.Reverse(majors)
	return majors
}
