package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/junctor-mcp/junctor/host"
)

// root returns the command with all verbs.
func (e *env) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "junctor",
		Short: "Joins any MCP client to any MCP server",
		Long: "Junctor reads HCL files with server blocks, reaches those MCP servers through plugins, and offers all\n" +
			"their tools, resources and prompts on the command line and as one MCP server.",
		SilenceErrors: true, SilenceUsage: true, Args: takesVerb, Version: version,
		RunE: func(cmd *cobra.Command, _ []string) error { return e.begin(cmd) },
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Name() == cobra.ShellCompRequestCmd {
				return nil // a shell does not show a log
			}
			return e.startLog(cmd.Name() == "serve")
		},
	}
	root.SetOut(e.Stdout)
	root.SetErr(e.Stderr)
	root.CompletionOptions.HiddenDefaultCmd = false
	root.SetFlagErrorFunc(flagFault)
	root.SetHelpCommand(helpVerb())
	root.SetVersionTemplate("junctor {{.Version}}\n")
	root.Flags().Bool("version", false, "print the version")
	flags := root.PersistentFlags()
	flags.BoolVar(&e.JSON, "json", false, "print JSON, as when the output is not a terminal")
	flags.BoolVar(&e.Text, "text", false, "print for people, as on a terminal")
	root.MarkFlagsMutuallyExclusive("json", "text")
	flags.BoolVarP(&e.Remarks.Quiet, "quiet", "q", false, "print no notes and no warnings")
	flags.VarP(&layerFlag{&e.layers}, "config", "c", "configuration: a `PATH` of a file, or of a directory of *.hcl files; repeat it for layers, the strongest last")
	flags.StringVar(&e.logFlag, "log", "", "`LEVEL` of the log on standard error: "+strings.Join(host.HostLevels, ", ")+"; info for serve, off for the others if not given")
	_ = root.RegisterFlagCompletionFunc("log", cobra.FixedCompletions(host.HostLevels, cobra.ShellCompDirectiveNoFileComp))
	root.AddGroup(&cobra.Group{ID: "use", Title: "Use:"}, &cobra.Group{ID: "serve", Title: "Serve:"},
		&cobra.Group{ID: "configure", Title: "Configure:"}, &cobra.Group{ID: "permissions", Title: "Permissions:"}, &cobra.Group{ID: "credentials", Title: "Credentials:"}, &cobra.Group{ID: "plugins", Title: "Plugins:"}, &cobra.Group{ID: "operate", Title: "Operate:"})
	for _, group := range []struct {
		id    string
		verbs []*cobra.Command
	}{
		{"use", []*cobra.Command{e.callVerb(), e.toolsVerb(), e.inspectVerb(), e.resourcesVerb(), e.readVerb(), e.promptsVerb(), e.promptVerb()}},
		{"serve", []*cobra.Command{e.serveVerb()}},
		{"configure", []*cobra.Command{e.validateVerb(), e.planVerb(), e.diffVerb(), e.lockVerb(), e.schemaVerb(), e.lspVerb(), e.trustVerb(), e.wrapVerb(), e.initVerb(), e.addVerb(), e.removeVerb(), e.searchVerb(), e.updateVerb(), e.configVerb(), e.fmtVerb(), e.importVerb(), e.exportVerb()}},
		{"permissions", []*cobra.Command{e.whyVerb(), e.policyVerb(), e.testVerb(), e.approvalsVerb()}},
		{"credentials", []*cobra.Command{e.loginVerb(), e.logoutVerb(), e.authVerb(), e.secretVerb()}},
		{"plugins", []*cobra.Command{e.pluginVerb()}},
		{"operate", []*cobra.Command{e.statusVerb(), e.healthcheckVerb(), e.topVerb(), e.logsVerb(), e.eventsVerb(), e.auditVerb(), e.consoleVerb(), e.restartVerb(), e.connectVerb(), e.disconnectVerb(), e.reloadVerb(), e.doctorVerb(), e.benchVerb(), e.versionVerb()}},
	} {
		for _, v := range group.verbs {
			v.GroupID = group.id
			root.AddCommand(v)
		}
	}
	root.AddCommand(finishListsVerb(e))
	root.SetCompletionCommandGroupID("operate")
	singleValues(root)
	return root
}
