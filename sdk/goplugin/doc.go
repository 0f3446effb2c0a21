// Package goplugin speaks the net/rpc half of the protocol of hashicorp/go-plugin, for plugins and
// for the test kit. The host uses go-plugin itself. A plugin that linked it would also link gRPC,
// which is half of such a program.
//
// The plugin prints one line, the [Handshake], and listens at the address in it. The host dials it
// once. yamux divides the connection into streams, which the host opens in this order: the calls of
// net/rpc, standard output and standard error of the plugin. Each further stream begins with a
// number of four bytes, little-endian, that the other side repeats when it accepts the stream; see
// [Broker]. The calls are Control.Ping, Control.Quit and Dispenser.Dispense, which returns the
// number of the stream for the calls of an object.
//
// Files, from the top: serve.go, client.go, session.go, broker.go, listen.go, handshake.go.
package goplugin
