package host

import (
	"slices"
	"strings"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/suggest"
)

// HostLevels are the levels of the log of the process. They are words of the command line: they
// must stay.
var HostLevels = []string{"off", "error", "warn", "info", "debug", "trace"}

// logLevel returns the level that a server is asked for. A command without a log asks for
// none, because its call would wait for the answer.
func (g *generation) logLevel(s *config.Server) string {
	if g.opts.OneShot && g.opts.Log.GetLevel() >= hclog.Off {
		return ""
	}
	return s.LogLevel
}

// SetLogLevel sets the level of the log until the process ends: that of the process, or of
// the messages of one server if server is not empty. The control socket calls it. It may be
// called concurrently and does not wait.
func (a *App) SetLogLevel(server, level string) error {
	if server == "" {
		if !slices.Contains(HostLevels, level) {
			return unknownLevel(level, HostLevels)
		}
		a.process.opts.Log.SetLevel(hclog.LevelFromString(level))
		return nil
	}
	if _, err := a.current.Load().enabledServer(server); err != nil {
		return err
	}
	if !slices.Contains(mcp.Levels, level) {
		return unknownLevel(level, mcp.Levels)
	}
	a.Gateway.SetServerLevel(server, level)
	return nil
}

func unknownLevel(level string, known []string) error {
	f := fault.New(fault.Usage, "%q is not a log level", level)
	hint := "the levels are " + strings.Join(known, ", ")
	best := suggest.Nearest(level, known)
	if i := slices.IndexFunc(known, func(k string) bool { return level != "" && strings.HasPrefix(k, level) }); i >= 0 {
		best = known[i] // "warn" is a level of the log, and short for one of MCP
	}
	if best != "" {
		hint = "did you mean " + best + "? " + hint
	}
	return f.WithHint("%s", hint)
}

// enabledServer returns a server of the configuration that can be used.
func (g *generation) enabledServer(name string) (*config.Server, error) {
	var names []string
	for _, s := range g.Config.Servers {
		switch {
		case s.Name == name && !s.Enabled:
			return nil, &fault.Error{
				Code:    fault.UpstreamDisabled,
				Message: "the server is disabled",
				Server:  name,
				At:      s.At.String(),
			}
		case s.Name == name && g.disconnected[name] != nil:
			return nil, errDisconnected(s)
		case s.Name == name:
			return s, nil
		}
		names = append(names, s.Name)
	}
	f := fault.New(fault.UpstreamUnknown, "there is no server %q", name)
	hint := "run `junctor status` to list the servers"
	if best := suggest.Nearest(name, names); best != "" {
		hint = "did you mean " + best + "? " + hint
	}
	return nil, f.WithHint("%s", hint)
}
