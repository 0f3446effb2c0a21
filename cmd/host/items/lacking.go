package items

import (
	"github.com/junctor-mcp/junctor/host"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/fault"
)

// ServersLacking returns the servers that need an input of the configuration that is not there,
// and what they lack. They cannot be asked.
func ServersLacking(app *host.App, servers []*config.Server) map[string]error {
	all := map[string]error{}
	for _, s := range servers {
		if err := app.Config().AbsentInput(&s.Transport, s.Auth); s.Enabled && err != nil {
			f := *fault.As(err)
			f.Server, f.At = s.Name, s.Transport.At.String()
			all[s.Name] = &f
		}
	}
	return all
}

// addLacking adds the errors of servers without lists. The configuration was warned of for the
// others.
func addLacking(app *host.App, failed, lacking map[string]error) {
	for name, err := range lacking {
		if _, known := app.Catalog.Known(name); !known {
			failed[name] = err
		}
	}
}
