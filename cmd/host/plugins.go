package main

import (
	"github.com/junctor-mcp/junctor/host"
	"github.com/junctor-mcp/junctor/host/plugin"
)

// supervisor returns the app's supervisor, or one without a configuration.
func (inv *env) supervisor() (*plugin.Supervisor, error) {
	if inv.app != nil {
		return inv.app.Supervisor, nil
	}
	if err := inv.findDirs(); err != nil {
		return nil, err
	}
	sup := host.NewSupervisor(inv.options(loadOptions{}))
	inv.sup = sup
	return sup, nil
}
