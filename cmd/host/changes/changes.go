// Package changes compares a configuration with that of a running process, and prints what
// differs.
package changes

import (
	"context"

	"github.com/junctor-mcp/junctor/cmd/host/invocation"
	"github.com/junctor-mcp/junctor/cmd/host/items"
	"github.com/junctor-mcp/junctor/cmd/host/processes"
	"github.com/junctor-mcp/junctor/host"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/control"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/plan"
)

// ViewOfProcess returns the view of a running process.
func ViewOfProcess(ctx context.Context, inv *invocation.Invocation, a control.Answer) (*plan.View, error) {
	wait := inv.Spin("asking the running process")
	defer wait.Stop()
	return a.View(ctx)
}

// View returns the view of the configuration that was loaded. With connect it asks the
// servers whose lists are not known first, and prints why it cannot ask some; failed is the
// most important reason.
func View(ctx context.Context, inv *invocation.Invocation, app *host.App,
	connect bool) (v *plan.View, failed, err error) {
	var unknown []*config.Server
	lacking := items.ServersLacking(app, app.Config().Servers)
	for _, s := range app.Config().Servers {
		if _, known := app.Catalog.Known(s.Name); s.Enabled && !known && lacking[s.Name] == nil {
			unknown = append(unknown, s)
		}
	}
	if connect && len(unknown) > 0 {
		wait := inv.Spin("asking the servers")
		why := items.Ask(ctx, app.Catalog.EnsureLists, nil, items.NamesOf(unknown))
		left := items.FinishTools(ctx, inv, app, items.NamesOf(unknown), wait)
		wait.Stop()
		if ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		failed, _ = items.TellFailed(inv, app, unknown, why)
		if cut := items.TellUnfinished(inv, app, left); failed == nil {
			failed = cut
		}
	}
	if v = app.View(ctx); v == nil {
		return nil, nil, ctx.Err()
	}
	return v, failed, nil
}

// Plan is the JSON form of plan.
type Plan struct {
	Differs bool `json:"differs"`
	*plan.Changes
}

// ConfirmReload prints the plan of a reload of a process and asks whether to do it, if anything
// differs. With --json it returns the plan, which is printed with the result. A configuration
// that changes meanwhile is not the one of the plan, so it is an error.
func ConfirmReload(ctx context.Context, inv *invocation.Invocation, a control.Answer,
	connect, yes bool) (*Plan, error) {
	if matches, err := processes.Matches(inv); err != nil {
		return nil, err
	} else if !matches(a.Status) {
		return nil, fault.New(fault.Usage,
			"process %s serves another configuration, so its reload cannot be planned here", a.Name).
			WithHint("take --config %s", a.Status.Generation.Path)
	}
	at, _, _, err := inv.Locate(ctx, invocation.Needs{}, true)
	if err != nil {
		return nil, err
	}
	content := inv.ContentDigest(at) // before it is read
	app, err := inv.Load(ctx, invocation.Needs{Known: true})
	if err != nil {
		return nil, err
	}
	before, err := ViewOfProcess(ctx, inv, a)
	if err != nil {
		return nil, err
	}
	after, _, err := View(ctx, inv, app, connect) // servers that failed are printed, and a reload does not need them
	if err != nil {
		return nil, err
	}
	c := plan.Diff(before, after)
	planned := &Plan{Differs: !c.Empty(), Changes: c}
	if !inv.Machine() {
		Print(inv, c)
	}
	warnOfTests(inv, app)
	if !yes && !c.Empty() {
		if inv.Machine() || !inv.CanAsk() {
			return nil, fault.New(fault.Usage,
				"reload --plan asks before it reloads, and there is no terminal to ask at").
				WithHint("take --yes to reload without a question, or run `junctor plan` to see the changes only")
		}
		agreed, err := inv.AskYes(ctx, "Reload process "+a.Name+"?")
		if err != nil {
			return nil, err
		}
		if !agreed {
			return nil, fault.New(fault.Interrupted, "nothing was reloaded: the answer was not yes")
		}
	}
	if inv.ContentDigest(at) != content {
		return nil, fault.New(fault.ConfigInvalid,
			"the configuration has changed since the plan was made; nothing was reloaded").
			WithHint("run `junctor reload --plan` again")
	}
	return planned, nil
}
