package plugin

import (
	"errors"
	"net/rpc"

	"github.com/hashicorp/go-plugin"

	"github.com/junctor-mcp/junctor/sdk/wire"
)

// dispensed returns what go-plugin dispenses from a plugin, by protocol major: a [*wire.Client],
// whose services g grants.
func dispensed(g wire.Granter) map[int]plugin.PluginSet {
	sets := map[int]plugin.PluginSet{}
	for _, major := range wire.Majors() {
		sets[major] = plugin.PluginSet{wire.Object: dispenser{g}}
	}
	return sets
}

// A dispenser makes the host's side of a connection.
type dispenser struct{ granter wire.Granter }

// Server fails: package serve is the plugin's side.
func (dispenser) Server(*plugin.MuxBroker) (any, error) {
	return nil, errors.New("the host does not serve itself")
}

// Client returns the [*wire.Client] of a connection.
func (d dispenser) Client(b *plugin.MuxBroker, calls *rpc.Client) (any, error) {
	return wire.NewClient(b, calls, d.granter), nil
}
