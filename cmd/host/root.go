package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/junctor-mcp/junctor/cmd/host/invocation"
	"github.com/junctor-mcp/junctor/cmd/host/verb"
	"github.com/junctor-mcp/junctor/cmd/host/verb/operate"
	"github.com/junctor-mcp/junctor/cmd/host/verb/permissions"
	"github.com/junctor-mcp/junctor/host"
)

// root returns the command with all verbs.
func root(inv *invocation.Invocation) *cobra.Command {
	root := &cobra.Command{
		Use:   "junctor",
		Short: "Joins any MCP client to any MCP server",
		Long: "Junctor reads HCL files with server blocks, reaches those MCP servers through plugins, and offers all\n" +
			"their tools, resources and prompts on the command line and as one MCP server.",
		SilenceErrors: true, SilenceUsage: true, Args: verb.TakesVerb, Version: inv.Version,
		RunE: func(cmd *cobra.Command, _ []string) error { return begin(inv, cmd) },
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Name() == cobra.ShellCompRequestCmd {
				return nil // a shell does not show a log
			}
			return inv.StartLog(cmd.Name() == "serve")
		},
	}
	root.SetOut(inv.Stdout)
	root.SetErr(inv.Stderr)
	root.CompletionOptions.HiddenDefaultCmd = false
	root.SetFlagErrorFunc(verb.FlagFault)
	root.SetHelpCommand(verb.HelpVerb())
	root.SetVersionTemplate("junctor {{.Version}}\n")
	root.Flags().Bool("version", false, "print the version")
	flags := root.PersistentFlags()
	flags.BoolVar(&inv.JSON, "json", false, "print JSON, as when the output is not a terminal")
	flags.BoolVar(&inv.Text, "text", false, "print for people, as on a terminal")
	root.MarkFlagsMutuallyExclusive("json", "text")
	flags.BoolVarP(&inv.Remarks.Quiet, "quiet", "q", false, "print no notes and no warnings")
	flags.VarP(&invocation.LayerFlag{Layers: &inv.Layers}, "config", "c", "configuration: a `PATH` of a file, or of a directory of *.hcl files; repeat it for layers, the strongest last")
	flags.StringVar(&inv.LogFlag, "log", "", "`LEVEL` of the log on standard error: "+strings.Join(host.HostLevels, ", ")+"; info for serve, off for the others if not given")
	_ = root.RegisterFlagCompletionFunc("log", cobra.FixedCompletions(host.HostLevels, cobra.ShellCompDirectiveNoFileComp))
	root.AddGroup(&cobra.Group{ID: "use", Title: "Use:"}, &cobra.Group{ID: "serve", Title: "Serve:"},
		&cobra.Group{ID: "configure", Title: "Configure:"}, &cobra.Group{ID: "permissions", Title: "Permissions:"}, &cobra.Group{ID: "credentials", Title: "Credentials:"}, &cobra.Group{ID: "plugins", Title: "Plugins:"}, &cobra.Group{ID: "operate", Title: "Operate:"})
	for _, group := range []struct {
		id    string
		verbs []*cobra.Command
	}{
		{"use", []*cobra.Command{callVerb(inv), toolsVerb(inv), inspectVerb(inv), resourcesVerb(inv), readVerb(inv), promptsVerb(inv), promptVerb(inv)}},
		{"serve", []*cobra.Command{serveVerb(inv)}},
		{"configure", []*cobra.Command{validateVerb(inv), planVerb(inv), diffVerb(inv), lockVerb(inv), schemaVerb(inv), lspVerb(inv), trustVerb(inv), wrapVerb(inv), initVerb(inv), addVerb(inv), removeVerb(inv), searchVerb(inv), updateVerb(inv), configVerb(inv), fmtVerb(inv), importVerb(inv), exportVerb(inv)}},
		{"permissions", []*cobra.Command{permissions.Why(inv), permissions.Policy(inv), permissions.Test(inv), permissions.Approvals(inv)}},
		{"credentials", []*cobra.Command{loginVerb(inv), logoutVerb(inv), authVerb(inv), secretVerb(inv)}},
		{"plugins", []*cobra.Command{pluginVerb(inv)}},
		{"operate", []*cobra.Command{operate.Status(inv), operate.Healthcheck(inv), operate.Top(inv), operate.Logs(inv), operate.Events(inv), operate.Audit(inv), operate.Console(inv), operate.Restart(inv), operate.Connect(inv), operate.Disconnect(inv), operate.Reload(inv), operate.Doctor(inv), operate.Bench(inv), operate.Version(inv)}},
	} {
		for _, v := range group.verbs {
			v.GroupID = group.id
			root.AddCommand(v)
		}
	}
	root.AddCommand(finishListsVerb(inv))
	root.SetCompletionCommandGroupID("operate")
	verb.SingleValues(root)
	return root
}
