package configure

import (
	"context"

	"github.com/junctor-mcp/junctor/cmd/host/invocation"
	"github.com/junctor-mcp/junctor/host"
	"github.com/junctor-mcp/junctor/host/fault"
)

// homeVariable names the directory of everything that Junctor keeps.
const homeVariable = "JUNCTOR_HOME"

// lockedHint says how the Junctor that a client starts gets the password.
const lockedHint = "run `junctor secret unlock`: it keeps the password in a file that only you can read; or write " +
	"such a file (chmod 600) and secret_store \"file\" { password_file = \"/PATH/OF/THE/FILE\" } " +
	"to the configuration, or give the client JUNCTOR_SECRETS_PASSWORD_FILE"

// warnLocked warns if the Junctor that a client starts could not open the secrets of its
// servers, because it runs without a terminal. A configuration that cannot be loaded without
// a question is not looked at.
func warnLocked(ctx context.Context, inv *invocation.Invocation) {
	app := inv.App
	if app == nil {
		at, content, diags, err := inv.Locate(ctx, invocation.Needs{}, false)
		if err != nil || diags.HasErrors() {
			return
		}
		if app, _, err = inv.LoadAt(ctx, at, content, invocation.Needs{}); err != nil || app == nil {
			return
		}
	}
	err := host.UnattendedSecrets(ctx, app)
	if fault.Is(err, fault.SecretLocked) {
		inv.Warn("the junctor that a client starts cannot ask for the password of the encrypted file of secrets, so servers "+
			"with secrets fail there", lockedHint)
	}
}

// noteHome says that the Junctor of a client needs the directory of this one.
func noteHome(inv *invocation.Invocation) {
	if home := inv.Get(homeVariable); home != "" {
		inv.Remark(
			"the client must have %s=%s too, which --env %s writes: without it the Junctor that it starts has other "+
				"secrets, logins and trusted configurations", homeVariable, home, homeVariable,
		)
	}
}
