package configure

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/junctor-mcp/junctor/cmd/host/invocation"
	"github.com/junctor-mcp/junctor/cmd/host/verb"
	"github.com/junctor-mcp/junctor/host/configedit"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/suggest"
)

// removeOptions are the argument and the flags of remove.
type removeOptions struct {
	inv  *invocation.Invocation
	name string
	from writeTarget
}

// Remove returns the verb remove.
func Remove(inv *invocation.Invocation) *cobra.Command {
	o := &removeOptions{inv: inv}
	cmd := &cobra.Command{
		Use: "remove NAME", Short: "Remove a server from the configuration", Args: verb.Takes("NAME"),
		Long: `Remove a server block from the configuration. Comments and all else in the file stay as they are, and the file as it was
is kept in Junctor's data directory until the next change. Secrets and logins of the server stay too: see "junctor secret remove" and "junctor logout".`,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.name = args[0]
			return o.run(cmd.Context())
		},
	}
	o.from.add(cmd)
	return cmd
}

func (o *removeOptions) run(ctx context.Context) error {
	inv, name := o.inv, o.name
	target, have, err := importTarget(inv, o.from)
	if err != nil {
		return err
	}
	text, err := configedit.Remove(target.Text, target.Path, name)
	if errors.Is(err, configedit.ErrNoServer) {
		return verb.WithSuggestion(fault.New(fault.Usage, "%s has no server %q", target.Path, name),
			suggest.Nearest(name, have), "its servers are "+strings.Join(have, ", "))
	}
	if err != nil {
		return err
	}
	backup, err := writeEdited(ctx, inv, target, text, false)
	if err != nil {
		return err
	}
	if inv.JSON {
		return inv.PrintJSON(map[string]string{"removed": name, "file": target.Path, "backup": backup})
	}
	inv.Remark("%s was removed from %s; the file as it was: %s", name, target.Path, backup)
	return nil
}
