package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/junctor-mcp/junctor/cmd/host/invocation"
	"github.com/junctor-mcp/junctor/cmd/host/verb"
	"github.com/junctor-mcp/junctor/cmd/host/verb/configure"
	"github.com/junctor-mcp/junctor/cmd/host/verb/credentials"
	"github.com/junctor-mcp/junctor/cmd/host/verb/operate"
	"github.com/junctor-mcp/junctor/cmd/host/verb/permissions"
	"github.com/junctor-mcp/junctor/cmd/host/verb/plugins"
	"github.com/junctor-mcp/junctor/cmd/host/verb/serve"
	"github.com/junctor-mcp/junctor/cmd/host/verb/use"
	"github.com/junctor-mcp/junctor/host"
)

// groups are the groups of verbs, in the order of the help. A new verb is a line here; `make docs`
// writes its reference.
var groups = []struct {
	id, title string
	verbs     []func(*invocation.Invocation) *cobra.Command
}{
	{"use", "Use:", []func(*invocation.Invocation) *cobra.Command{
		use.Call,
		use.Tools,
		use.Inspect,
		use.Resources,
		use.Read,
		use.Prompts,
		use.Prompt,
	}},
	{"serve", "Serve:", []func(*invocation.Invocation) *cobra.Command{
		serve.Serve,
	}},
	{"configure", "Configure:", []func(*invocation.Invocation) *cobra.Command{
		configure.Validate,
		configure.Plan,
		configure.Diff,
		configure.Lock,
		configure.Schema,
		configure.LSP,
		configure.Trust,
		configure.Wrap,
		configure.Init,
		configure.Add,
		configure.Remove,
		configure.Search,
		configure.Update,
		configure.Config,
		configure.Format,
		configure.Import,
		configure.Export,
	}},
	{"permissions", "Permissions:", []func(*invocation.Invocation) *cobra.Command{
		permissions.Why,
		permissions.Policy,
		permissions.Test,
		permissions.Approvals,
	}},
	{"credentials", "Credentials:", []func(*invocation.Invocation) *cobra.Command{
		credentials.Login,
		credentials.Logout,
		credentials.Auth,
		credentials.Secret,
	}},
	{"plugins", "Plugins:", []func(*invocation.Invocation) *cobra.Command{
		plugins.Plugin,
	}},
	{"operate", "Operate:", []func(*invocation.Invocation) *cobra.Command{
		operate.Status,
		operate.Healthcheck,
		operate.Top,
		operate.Logs,
		operate.Events,
		operate.Audit,
		operate.Console,
		operate.Restart,
		operate.Connect,
		operate.Disconnect,
		operate.Reload,
		operate.Doctor,
		operate.Bench,
		operate.Version,
	}},
}

// root returns the command with all verbs, whose flags belong to one run. No verb has a
// PersistentPreRunE of its own: cobra would not call the one here, which starts the log.
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
	flags.VarP(&invocation.LayerFlag{Layers: &inv.Layers}, "config", "c",
		"configuration: a `PATH` of a file, or of a directory of *.hcl files; repeat it for layers, the strongest last")
	flags.StringVar(&inv.LogFlag, "log", "", "`LEVEL` of the log on standard error: "+
		strings.Join(host.HostLevels, ", ")+"; info for serve, off for the others if not given")
	_ = root.RegisterFlagCompletionFunc("log",
		cobra.FixedCompletions(host.HostLevels, cobra.ShellCompDirectiveNoFileComp))
	for _, group := range groups {
		root.AddGroup(&cobra.Group{ID: group.id, Title: group.title})
		for _, newVerb := range group.verbs {
			cmd := newVerb(inv)
			cmd.GroupID = group.id
			root.AddCommand(cmd)
		}
	}
	root.AddCommand(serve.FinishLists(inv)) // hidden: package listreader starts it
	root.SetCompletionCommandGroupID("operate")
	verb.SingleValues(root) // last: it changes the flags of all verbs
	return root
}
