// Package host is the process as a value: it wires the rooms, and owns start
// and stop.
//
// Load reads the configuration, which asks plugins to describe themselves, and
// makes an [App]: the supervisor of plugin processes, an upstream for each
// server, the catalog of what they offer, and the gateway over all of it.
// Nothing is started by that. The first use of a server starts its plugin, and
// the plugin reaches the server.
package host
