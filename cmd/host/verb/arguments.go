// Package verb has what all verbs need of the command line: the number of arguments, flags that
// are given once, and hints for words of other programs. The packages in it have the verbs.
//
// arguments.go and flags.go check what was typed; arguments.go also has the verb help, which root.go
// sets and which fails for what was mistyped. commandline.go words the errors of Cobra as
// others are. foreignverbs.go has the verbs and flags of other programs: an entry changes a hint
// only. The functions are pure but for the command that they change and the help that is printed; all
// run on the main goroutine.
package verb

import (
	"cmp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/suggest"
)

// Takes returns a check that a verb has exactly these arguments.
func Takes(needs ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := TakesMore(needs...)(cmd, args); err != nil || len(args) == len(needs) {
			return err
		}
		extra := args[len(needs)]
		return fault.New(fault.Usage, "%q is an extra argument of %s", extra, cmd.CommandPath()).WithHint("%s",
			cmp.Or(fileArgument(cmd, extra), helpOn(cmd)))
	}
}

// TakesMore returns a check that a verb has at least these arguments.
func TakesMore(needs ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) >= len(needs) {
			return nil
		}
		return fault.New(fault.Usage, "%s is missing after %s", needs[len(args)], cmd.CommandPath()).
			WithHint("%s", helpOn(cmd))
	}
}

// TakesVerb returns an error for any argument, since Cobra would have found a valid verb.
func TakesVerb(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	f := fault.New(fault.Usage, "unknown command %q", strings.TrimSpace(pathOf(cmd)+" "+args[0]))
	if hint := ForeignVerb(append([]string{pathOf(cmd)}, args...)...); hint != "" {
		return f.WithHint("%s", hint)
	}
	return WithSuggestion(f, suggest.Nearest(args[0], names), helpOn(cmd)+" to list the commands")
}

// pathOf returns the words of a command after the program's name.
func pathOf(cmd *cobra.Command) string {
	_, path, _ := strings.Cut(cmd.CommandPath(), " ")
	return path
}

// helpOn returns the command line that explains a command.
func helpOn(cmd *cobra.Command) string {
	return "run `" + strings.TrimSpace("junctor help "+pathOf(cmd)) + "`"
}

// HelpVerb returns the verb help. In contrast to Cobra's it fails for an unknown verb.
func HelpVerb() *cobra.Command {
	return &cobra.Command{
		Use:     "help [VERB]",
		Short:   "Explain a verb",
		GroupID: "operate",
		// The help must work even if flags or variables are invalid.
		PersistentPreRun: func(*cobra.Command, []string) {},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) (
			[]cobra.Completion, cobra.ShellCompDirective,
		) {
			about, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			var names []cobra.Completion
			for _, c := range about.Commands() {
				if c.IsAvailableCommand() {
					names = append(names, cobra.CompletionWithDesc(c.Name(), c.Short))
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			about, rest, err := cmd.Root().Find(args)
			if err != nil {
				return err
			}
			if err := TakesVerb(about, rest); err != nil {
				return err
			}
			about.InitDefaultHelpFlag()
			return about.Help()
		},
	}
}
