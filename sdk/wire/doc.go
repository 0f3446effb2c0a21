// Package wire implements both sides of the connection between the host and a
// plugin. Authors never import it. It may change without notice.
//
// The control plane is net/rpc in the protocol of go-plugin. It has one dispensed object,
// "main", with the methods of [Control]. Arguments and replies are flat structs
// of plain values. Every call carries a [Call] with an id, so that it can be
// cancelled, and with its timeout. Every reply carries a [Status], because an
// error returned through net/rpc would lose its code and the reply.
//
// The data plane is one stream of frames for each connection to a server; see
// [Stream]. A net/rpc call for each message would take twice the time under
// load, and one large result would delay everything else. If both sides have
// the feature "sockets", the stream is a unix socket in the directory that
// the host made for them. Otherwise it is a stream of the broker.
//
// If both sides also have the feature "descriptors", and the server is connected
// through pipes or sockets of the system, the plugin passes these to the host over
// the socket, as its first byte. The host then exchanges messages with the server
// itself, one per line. The stream carries events only; see [Event].
//
// The plugin accepts and the host dials all streams: the data streams, the
// stream of the host's services and the stream of [Control.Health]. The plugin
// reserves the stream's id after the author's code has returned, because a
// broker waits for at most five seconds. The host dials each id once, because a
// broker that receives an id twice never accepts again.
//
// A protocol major (see [Majors]) changes only for incompatible changes.
// Fields and methods may be added at any time, and a feature string announces
// them. A field never changes its meaning.
//
// doc.go, types.go and status.go are the protocol: what crosses the connection. The host uses
// client.go, the files whose names begin with client_, and for its services those whose names begin
// with services_, but services_client.go, which is the plugin's side. The plugin uses server.go,
// control.go, the files whose names begin with server_, and for one connection instance.go, send.go
// and hostwriter.go. Both use call.go, which runs calls, stream.go and socket.go. pipestream.go and
// the files whose names begin with pipes pass a server's streams to the host.
//
// Package host/plugin uses [Client] and [Stream]; package serve uses [Server]; plugintest plays
// both. Methods of [Control] and [HostControl] run on a goroutine of net/rpc for each call, so they
// are concurrent. A [Stream] has one reader and one writer.
package wire

import "strings"

// Major is the protocol major of this package.
const Major = 1

// Features lists the abilities of this side beyond those that the major
// implies.
var Features = []string{"frames", "cancel", "status", "auth", "failed", "related", "cache", "secret_stores",
	"per_request", "private", "login_end", featureSockets, featurePipes}

// CookieKey and CookieValue are the variable of the environment that tells a plugin that a host
// started it. It is not secret.
const (
	CookieKey   = "JUNCTOR_PLUGIN"
	CookieValue = "b27e2a3c-9d53-4a0f-8d2b-junctor"
)

// Object is the name of the object that a plugin dispenses.
const Object = "main"

// Majors returns the protocol majors that this package speaks, newest first, as in a manifest.
func Majors() []int { return []int{Major} }

// AttachVariable returns the name of the host's environment variable for the
// socket of a plugin. The user sets it for a plugin that runs with the argument
// "attach".
func AttachVariable(name string) string {
	return "JUNCTOR_ATTACH_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
}
