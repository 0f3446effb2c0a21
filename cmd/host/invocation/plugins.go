package invocation

import (
	"github.com/junctor-mcp/junctor/host"
	"github.com/junctor-mcp/junctor/host/plugin"
)

// Supervisor returns the app's supervisor, or one without a configuration.
func (inv *Invocation) Supervisor() (*plugin.Supervisor, error) {
	if inv.App != nil {
		return inv.App.Supervisor, nil
	}
	if err := inv.FindDirs(); err != nil {
		return nil, err
	}
	sup := host.NewSupervisor(inv.Options(Needs{}))
	inv.sup = sup
	return sup, nil
}
