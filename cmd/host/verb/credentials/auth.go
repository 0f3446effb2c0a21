package credentials

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/junctor-mcp/junctor/cmd/host/invocation"
	"github.com/junctor-mcp/junctor/cmd/host/terminal"
	"github.com/junctor-mcp/junctor/cmd/host/verb"
	"github.com/junctor-mcp/junctor/host"
	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/fault"
)

// Auth returns the verb auth.
func Auth(inv *invocation.Invocation) *cobra.Command {
	verb := &cobra.Command{Use: "auth", Short: "Show the credentials of servers", Args: verb.TakesVerb,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	o := &authStatusOptions{inv: inv}
	status := &cobra.Command{
		Use:   "status [SERVER…]",
		Short: "Show who is logged in, for what and for how long, without reaching any server",
		Long: `Show, of each server with an auth block (none named: of all that are enabled), whether there are credentials,
whose they are, which scopes they have, when they expire and where they are kept. No server is reached.`,
		ValidArgsFunction: inv.Completes(completeLogin),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.servers = args
			return o.run(cmd.Context())
		},
	}
	tenantFlag(status, &o.tenant)
	verb.AddCommand(status)
	return verb
}

// authJSON is the JSON form of a server's credentials.
type authJSON struct {
	Server   string          `json:"server"`
	Provider string          `json:"provider"`
	Tenant   string          `json:"tenant,omitempty"`
	State    string          `json:"state"`
	Account  string          `json:"account,omitempty"`
	Scopes   []string        `json:"scopes,omitempty"`
	Expires  *time.Time      `json:"expires,omitempty"`
	Stored   string          `json:"stored,omitempty"`
	Store    string          `json:"store,omitempty"`
	At       string          `json:"at"`
	Error    *fault.Document `json:"error,omitempty"`

	err error
}

// authStatusOptions are the arguments and the flag of auth status.
type authStatusOptions struct {
	inv     *invocation.Invocation
	servers []string
	tenant  string
}

func (o *authStatusOptions) run(ctx context.Context) error {
	inv := o.inv
	app, servers, err := authServers(ctx, inv, o.servers, o.tenant)
	if err != nil {
		return err
	}
	list := make([]*authJSON, len(servers))
	var all sync.WaitGroup
	for i, s := range servers {
		all.Go(func() { list[i] = authOf(ctx, app, s, o.tenant) })
	}
	all.Wait()
	if err := ctx.Err(); err != nil {
		return err
	}
	var first error
	for _, one := range list {
		first = cmp.Or(first, one.err)
	}
	if inv.Machine() {
		if err := inv.PrintJSON(list); err != nil {
			return err
		}
		return terminal.Reported(first)
	}
	if len(list) == 0 {
		inv.Printf("no server has an auth block\n")
		return nil
	}
	authTable(inv, list)
	if store, why := app.Secrets().Found(); why != "" {
		inv.Printf("\nsecrets are stored in %s: %s\n", store, why)
	} else if store != "" {
		inv.Printf("\nsecrets are stored in %s\n", store)
	}
	for _, a := range list {
		if a.err != nil {
			inv.PrintFault("error", a.err)
		}
	}
	return terminal.Reported(first)
}

// authTable prints a table, with a column of tenants if there are any.
func authTable(inv *invocation.Invocation, list []*authJSON) {
	head := []string{"SERVER", "PROVIDER", "STATE", "ACCOUNT", "SCOPES", "EXPIRES", "STORED IN"}
	shared := !slices.ContainsFunc(list, func(a *authJSON) bool { return a.Tenant != "" })
	if !shared {
		head = slices.Insert(head, 1, "TENANT")
	}
	var rows [][]string
	for _, a := range list {
		scopes := strings.Join(a.Scopes, " ")
		row := []string{a.Server, a.Provider, a.State, dash(a.Account), dash(scopes), expiry(a.Expires), dash(a.Stored)}
		if !shared {
			row = slices.Insert(row, 1, dash(a.Tenant))
		}
		rows = append(rows, row)
	}
	inv.Table(head, rows)
}

// authServers returns the named servers, or all that have credentials.
func authServers(ctx context.Context, inv *invocation.Invocation, names []string, tenant string) (
	*host.App, []*config.Server, error,
) {
	app, err := inv.Load(ctx, invocation.Needs{})
	if err != nil {
		return nil, nil, err
	}
	var servers []*config.Server
	for _, name := range names {
		s, _, err := authServerOf(app, name, tenant)
		if err != nil {
			return nil, nil, err
		}
		servers = append(servers, s)
	}
	if len(names) > 0 {
		return app, servers, nil
	}
	for _, s := range app.Config().Servers {
		if s.Enabled && s.Auth != nil &&
			(tenant == "" || s.Share == "tenant" || s.Share == "session" && ofPerson(tenant)) {
			servers = append(servers, s)
		}
	}
	return app, servers, nil
}

func authOf(ctx context.Context, app *host.App, s *config.Server, tenant string) *authJSON {
	if tenant == "" {
		tenant = host.Tenant(s, authn.Local())
	}
	one := &authJSON{Server: s.Name, Provider: s.Auth.Kind, Tenant: tenant, State: "unknown", At: s.Auth.At.String()}
	state, err := app.AuthState(ctx, s, tenant)
	if err != nil {
		one.State, one.err, one.Error = "failed", err, terminal.ErrorOf(err).Masked(app.Hide)
		if fault.Is(err, fault.PluginUnresponsive) {
			one.State = "no answer"
		}
		return one
	}
	one.State, one.Account, one.Scopes, one.Stored = state.State, state.Account, state.Scopes, state.Stored
	one.Store, _ = app.Secrets().Found()
	if !state.Expires.IsZero() {
		one.Expires = &state.Expires
	}
	return one
}

func dash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

// expiry formats the time until t.
func expiry(t *time.Time) string {
	switch {
	case t == nil:
		return "-"
	case time.Until(*t) <= 0:
		return "expired"
	}
	return "in " + time.Until(*t).Round(time.Second).String()
}
