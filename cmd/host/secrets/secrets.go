// Package secrets opens the secret store for verbs, and decides which servers get a new secret.
package secrets

import (
	"context"

	"github.com/junctor-mcp/junctor/cmd/host/invocation"
	"github.com/junctor-mcp/junctor/host"
	"github.com/junctor-mcp/junctor/host/secret"
	"github.com/junctor-mcp/junctor/sdk/process"
)

// Open opens the secret store of the configuration, or the default one without a
// configuration.
func Open(ctx context.Context, inv *invocation.Invocation) (*host.Secrets, error) {
	app, err := inv.LoadAny(ctx, invocation.Needs{})
	if err != nil {
		return nil, err
	}
	if app != nil {
		return app.Secrets(), nil
	}
	return openOwn(inv)
}

// openOwn opens the default secret store.
func openOwn(inv *invocation.Invocation) (*host.Secrets, error) {
	if err := process.Adopt(); err != nil {
		inv.Log.Warn("processes that plugins leave behind will not be ended", "error", err)
	}
	sup, err := inv.Supervisor()
	if err != nil {
		return nil, err
	}
	return host.NewSecrets(inv.Options(invocation.Needs{}), sup), nil
}

// FirstRecipients returns the recipients of a new secret: the servers of the configuration
// that use it, or a pending grant for the first ones that will.
func FirstRecipients(inv *invocation.Invocation, name string) []secret.Recipient {
	if inv.App == nil {
		return []secret.Recipient{secret.Pending("")}
	}
	if all := inv.App.Recipients(name); len(all) > 0 {
		return all
	}
	return []secret.Recipient{secret.Pending(inv.App.ConfigID())}
}
