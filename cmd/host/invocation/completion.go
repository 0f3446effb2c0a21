package invocation

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/junctor-mcp/junctor/cmd/host/terminal"
	"github.com/junctor-mcp/junctor/host"
)

// A completer returns completions for a word, given the words before it. It uses only known
// data and starts no program, because a shell waits for it. more means that no space should follow.
// Package items has most of them.
type completer func(app *host.App, before []string, typed string) (words []cobra.Completion, more bool)

// Completes converts a completer into a cobra.CompletionFunc. The shell adds no space if
// more of the word follows.
func (inv *Invocation) Completes(c completer) cobra.CompletionFunc {
	return inv.CompletesFor(new(Needs), c)
}

// CompletesFor is completes for a verb whose flags decide what is loaded.
func (inv *Invocation) CompletesFor(needs *Needs, c completer) cobra.CompletionFunc {
	return func(cmd *cobra.Command, before []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		app := inv.loadKnown(cmd.Context(), *needs)
		if app == nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		words, more := c(app, before, typed)
		if more {
			return words, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
		}
		return words, cobra.ShellCompDirectiveNoFileComp
	}
}

// loadKnown loads the configuration if that needs neither a question nor a plugin's program.
// It returns nil if the configuration is not trusted or a plugin is not described yet.
func (inv *Invocation) loadKnown(ctx context.Context, needs Needs) *host.App {
	needs.completing = true
	at, content, diags, err := inv.Locate(ctx, needs, false)
	if err != nil || diags.HasErrors() {
		return nil
	}
	app, _, err := inv.LoadAt(ctx, at, content, needs)
	if err != nil {
		return nil
	}
	return app
}

// Offer adds a word unless it has characters with a meaning to a shell or a terminal, since
// servers choose many of the words.
func Offer(words []cobra.Completion, word, about string) []cobra.Completion {
	if word == "" || terminal.Safe(word) != word || strings.ContainsAny(word, "\n\t") {
		return words
	}
	return append(words, cobra.CompletionWithDesc(word, terminal.OneLine(about, 60)))
}
