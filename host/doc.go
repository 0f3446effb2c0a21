// Package host is the application as a value: an [App] builds the other packages
// from a configuration, connects them, and stops them.
//
// [Load] reads the configuration, which asks plugins to describe themselves. It
// makes the supervisor of plugin processes, an upstream for each server, the
// catalog of their items, and the gateway in front of them. It starts none of
// these: the first use of a server starts its plugin, and the plugin connects to
// the server.
package host
