package host

import (
	"encoding/json"

	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/launcher"
	"github.com/junctor-mcp/junctor/host/upstream"
)

// starting completes the options of an upstream with how its server is started.
func (a *App) starting(s *config.Server, o upstream.Options) upstream.Options {
	o.Start, o.Install = s.Timeouts.Start, s.Timeouts.Install
	command := commandOf(s.Transport.Settings)
	if len(command) == 0 {
		return o // it is not started by this machine
	}
	o.Starts = a.starts
	if name := launcher.Of(command); name != "" {
		o.Launcher = name
		o.Diagnose = func(stderr []string) (meaning, hint string) { return launcher.Diagnose(name, stderr) }
	}
	return o
}

// commandOf is the command line that a transport's settings hold, as those of the
// bundled transports that start programs do; nil: there is none.
func commandOf(settings []byte) []string {
	var s struct {
		Command []string `json:"command"`
		Args    []string `json:"args"`
	}
	if json.Unmarshal(settings, &s) != nil {
		return nil
	}
	return append(s.Command, s.Args...)
}
