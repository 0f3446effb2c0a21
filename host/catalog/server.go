package catalog

import "github.com/junctor-mcp/junctor/host/upstream"

// A Server configures one upstream in the catalog. Package host makes it for SetServers and
// does not change it later. Pins and Upstream have locks of their own.
type Server struct {
	Name     string
	Prefix   string
	Views    map[string]*View // by the server's name of the tool
	Patterns []Pattern
	// Access is the place of the configuration that the transport takes the access of its
	// tools from, under accessMeta in their _meta; empty: the transport is not trusted with it.
	Access string
	// Remote is set if the server runs elsewhere: to list its items starts nothing.
	Remote bool
	// Managed is set if the configuration of the server is the administrator's.
	Managed  bool
	Upstream *upstream.Upstream
	Pins     Pins // nil: definitions of tools may change
	// Describe selects how much of the server's texts clients see; "" means Full.
	Describe Describe
	// HideBadSchema omits tools with rejected schemas. Otherwise the schemas are
	// replaced.
	HideBadSchema bool
	// Key identifies the server's lists on disk. It changes with everything that may
	// change the lists: settings, plugin, and the plugin's program.
	Key string
	// Public identifies the server by what may be known of it without its secrets. A process
	// that has not its inputs finds the Key of its last lists by it; see LastKey.
	Public string
	// Offer is the fixed client capabilities for this server; nil means those of
	// Catalog.Offer.
	Offer []byte

	broken *brokenOutputs // set when the catalog takes the server
}
