package main

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/secret"
)

func (e *env) secretGrantVerb() *cobra.Command {
	var servers []string
	cmd := &cobra.Command{
		Use: "grant NAME", Short: "Let servers of the configuration have a secret", Args: takes("NAME"),
		Long: `Let the servers of the configuration that use a secret have it, as they are reached now: with this program and
these arguments, or at this host. It is needed for another configuration than the one for which the secret was set, and
after a server's command or host has changed.`,
		Example:           "  junctor secret grant github\n  junctor secret grant github --server issues",
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, args []string) error { return e.secretGrant(cmd.Context(), args[0], servers) },
	}
	cmd.Flags().StringArrayVar(&servers, "server", nil, "a server that may have it; repeatable; all that use it if not given")
	_ = cmd.RegisterFlagCompletionFunc("server", e.completes(completeServers))
	return cmd
}

func (e *env) secretGrant(ctx context.Context, name string, servers []string) error {
	app, err := e.load(ctx)
	if err != nil {
		return err
	}
	if _, err := app.Secrets.User().Get(ctx, name); err != nil {
		return err
	}
	var to []secret.Recipient
	for _, r := range app.Recipients(name) {
		if len(servers) == 0 || slices.Contains(servers, r.Server) {
			to = append(to, r)
		}
	}
	if len(to) == 0 {
		return fault.New(fault.Usage, "no server of %s uses keyring(%q)", app.Config.Path, name).
			WithHint("check the names; the configuration is the one that --config names, or the one found here")
	}
	if err := app.Secrets.User().Grant(ctx, name, to...); err != nil {
		return err
	}
	names := []string{}
	for _, r := range to {
		if !slices.Contains(names, r.Server) {
			names = append(names, r.Server)
		}
	}
	if e.machine() {
		return e.printJSON(map[string]any{"name": name, "servers": names})
	}
	for _, s := range names {
		e.printf("granted %s to %s\n", name, s)
	}
	return nil
}

// firstRecipients are whom a secret is granted to when it is set: the servers of
// the configuration that use it, or else the first that will.
func (e *env) firstRecipients(name string) []secret.Recipient {
	if e.app == nil {
		return []secret.Recipient{secret.Pending("")}
	}
	if all := e.app.Recipients(name); len(all) > 0 {
		return all
	}
	return []secret.Recipient{secret.Pending(e.app.ConfigID())}
}
