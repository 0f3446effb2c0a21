package configure

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"strings"

	"github.com/junctor-mcp/junctor/cmd/host/invocation"
	"github.com/junctor-mcp/junctor/cmd/host/terminal"
	"github.com/junctor-mcp/junctor/host"
	"github.com/junctor-mcp/junctor/host/cliconfig"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/mcp"
)

// tryTools runs each read-only tool once with harmless arguments and records the results in
// p. It returns the number of tools that did not work.
func tryTools(ctx context.Context, inv *invocation.Invocation, app *host.App, s *config.Server,
	p *cliconfig.Program) (failed int, err error) {
	settings := map[string]json.RawMessage{}
	if err := json.Unmarshal(s.Transport.Settings, &settings); err != nil {
		return 0, err
	}
	maps.DeleteFunc(settings, func(name string, _ json.RawMessage) bool { return aboutDiscovery[name] })
	here, err := os.Getwd()
	if err != nil {
		return 0, err
	}
	for i := range p.Tools {
		t := &p.Tools[i]
		if t.Tried = &(cliconfig.Trial{State: cliconfig.NotTried}); !t.Read() {
			continue
		}
		settings["tool"] = asJSON([]json.RawMessage{t.Block})
		for n, arguments := range t.Harmless(here) {
			trial, err := tryTool(ctx, inv, app, s, asJSON(settings), t, arguments)
			switch {
			case ctx.Err() != nil:
				return failed, ctx.Err()
			case err != nil:
				return failed, withoutPlace(err)
			}
			if n == 0 || trial.Clearer(t.Tried) {
				*t.Tried = trial
			}
			if !trial.Failed() {
				break
			}
		}
		if t.Tried.Failed() {
			failed++
			inv.Note(s.Name, "tool "+t.Name+" fails: "+t.Tried.Said)
		}
	}
	return failed, nil
}

// aboutDiscovery are settings that have no effect with tool blocks.
var aboutDiscovery = map[string]bool{
	"only": true, "except": true, "globals": true, "omit": true, "depth": true, "probe": true, "read": true,
	"write": true, "destructive": true, "idempotent": true, "args": true, "stdin": true,
	"options": true, "common": true, "describe": true,
}

// tryTool calls a tool. It fails if the tool could not be called.
func tryTool(ctx context.Context, inv *invocation.Invocation, app *host.App, s *config.Server, settings []byte,
	t *cliconfig.Tool, arguments json.RawMessage) (trial cliconfig.Trial, err error) {
	wait := inv.Spin("trying " + t.Name)
	defer wait.Stop()
	params := asJSON(map[string]any{"name": t.Name, "arguments": arguments})
	err = app.Ask(ctx, s, settings, mcp.MethodCallTool, params, func(result []byte) (bool, error) {
		trial = cliconfig.NewTrial(result)
		return true, nil
	})
	if f, ok := errors.AsType[*fault.Error](err); ok && f.Code == fault.UpstreamError {
		return cliconfig.Trial{State: cliconfig.TrialFailed, Said: f.Message}, nil
	}
	return trial, err
}

// triedError returns the error for tools that failed, or nil.
func triedError(program string, failed int) error {
	if failed == 0 {
		return nil
	}
	return fault.New(fault.WrapTried, "%s of %s did not work", terminal.Count(failed, "tool"), program).
		WithHint("see the comments behind \"tried\"; a tool that needs more than harmless arguments may still be right")
}

// callSettings returns the settings that are needed for inspection and for calls.
func (w *wrapOptions) callSettings() (map[string]json.RawMessage, error) {
	settings := map[string]json.RawMessage{}
	if len(w.env) > 0 {
		variables := map[string]string{}
		for _, v := range w.env {
			name, value, ok := strings.Cut(v, "=")
			if !ok || name == "" {
				return nil, fault.New(fault.Usage, "--env wants NAME=VALUE").
					WithHint("--pass-env NAME passes on a variable that is set")
			}
			variables[name] = value
		}
		settings["env"] = asJSON(variables)
	}
	if len(w.passEnv) > 0 {
		settings["pass_env"] = asJSON(w.passEnv)
	}
	if len(w.dangerous) > 0 {
		settings["dangerous"] = asJSON(w.dangerous)
	}
	return settings, nil
}
