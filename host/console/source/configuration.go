package source

import (
	"context"
	"maps"
	"path/filepath"
	"slices"

	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/config/source"
	"github.com/junctor-mcp/junctor/host/console"
	"github.com/junctor-mcp/junctor/host/control"
	"github.com/junctor-mcp/junctor/host/fault"
)

// A configuration shows the configuration in effect.
type configuration struct{ *Process }

// Configured implements [console.Configuration].
func (s configuration) Configured() (all console.Configured) {
	c := s.Config()
	for _, path := range slices.Concat(c.Files, c.Under) {
		if abs, err := filepath.Abs(path); err == nil {
			path = abs
		}
		if !slices.Contains(all.Files, path) {
			all.Files = append(all.Files, path)
		}
	}
	for _, server := range c.Servers {
		one := console.ConfiguredServer{
			Name:  server.Name,
			State: "enabled",
			Why:   server.Blocked,
			At:    server.At.String(),
		}
		switch {
		case server.Blocked != "":
			one.State = "blocked"
		case !server.Enabled:
			one.State = "disabled"
		}
		for _, o := range c.Shadowed {
			if o.Server == server.Name {
				one.Replaces = append(one.Replaces, o.At.String())
			}
		}
		all.Servers = append(all.Servers, one)
	}
	blocks := c.PublicBlocks()
	for _, block := range slices.Sorted(maps.Keys(blocks)) {
		for _, name := range slices.Sorted(maps.Keys(blocks[block])) {
			if value := string(blocks[block][name]); value != "null" {
				all.Blocks = append(all.Blocks, console.Detail{Name: block + "." + name, Value: value})
			}
		}
	}
	return all
}

// Settings implements [console.Configuration].
func (s configuration) Settings(server string) (all []console.Setting) {
	servers := s.Config().Servers
	i := slices.IndexFunc(servers, func(c *config.Server) bool { return c.Name == server })
	if i < 0 {
		return nil
	}
	for _, one := range servers[i].Settings() {
		set := console.Setting{Name: one.Name, Value: one.Value}
		if set.Given = one.At != (source.Position{}); set.Given {
			set.From = one.At.String()
		}
		if one.Inherited {
			set.From += " (defaults)"
		}
		all = append(all, set)
	}
	return all
}

// Reload implements [console.Configuration]. A reload that moves the console ends the request
// that asked for it, so it goes on without the request. It waits until ctx ends at most; the
// reload itself has a goroutine.
func (s configuration) Reload(ctx context.Context, by string) (*control.Reloaded, *control.Failure) {
	if s.Process.Reload == nil {
		return nil, &control.Failure{
			Error: fault.New(fault.Usage, "this process cannot reload its configuration").Document(),
		}
	}
	var changed *control.Reloaded
	var failed *control.Failure
	done := make(chan struct{})
	s.Go(func(ctx context.Context) {
		defer close(done)
		changed, failed = s.Process.Reload(ctx, by)
	})
	ctx, cancel := context.WithTimeout(ctx, console.ReloadTime)
	defer cancel()
	select {
	case <-done:
		return changed, failed
	case <-ctx.Done():
		return nil, nil
	}
}
