package catalog

import (
	"runtime/debug"

	"github.com/junctor-mcp/junctor/host/fault"
)

// saved turns a mistake of ours over the lists of a server into an error, for a
// function that defers it: it costs this refresh, and the lists stay as they were.
func (c *Catalog) saved(server string, err *error) {
	if p := recover(); p != nil {
		c.log.Error("junctor made a mistake over the lists of a server", "server", server, "panic", p, "stack", string(debug.Stack()))
		*err = fault.In(server, fault.New(fault.Internal, "something went wrong in junctor over the lists; its log says what"))
	}
}
