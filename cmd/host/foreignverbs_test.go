package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/cmd/host/invocation"
	"github.com/junctor-mcp/junctor/cmd/host/verb"
)

var verbInHint = regexp.MustCompile("`junctor ([^`]*)`")

// TestHintsForForeignVerbsNameVerbs checks that each hint names verbs that exist.
func TestHintsForForeignVerbsNameVerbs(t *testing.T) {
	root := root(invocation.New(version, managedPath))
	hints := map[string]string{}
	for words, hint := range verb.ForeignVerbs {
		hints[words] = hint
		if verb.ForeignVerb(words, "x") != hint {
			t.Errorf("%q has another hint with an argument: %s", words, verb.ForeignVerb(words, "x"))
		}
	}
	for verb, flags := range verb.ForeignFlags {
		if cmd, _, err := root.Find(strings.Fields(verb)); err != nil || verb != "" && cmd == root {
			t.Errorf("there is no verb %q", verb)
		}
		for flag, hint := range flags {
			hints[verb+" --"+flag] = hint
		}
	}
	for of, hint := range hints {
		for _, m := range verbInHint.FindAllStringSubmatch(hint, -1) {
			words := strings.Fields(strings.TrimPrefix(m[1], "help "))
			if cmd, rest, err := root.Find(words); err != nil || cmd == root || cmd.HasSubCommands() && len(rest) > 0 {
				t.Errorf("%s: the hint names no verb: %s", of, hint)
			}
		}
	}
}

// TestForeignVerbLeavesOthersAlone checks words that have no hint.
func TestForeignVerbLeavesOthersAlone(t *testing.T) {
	for _, words := range []string{"", "runs", "mcpadd", "calls", "tools x", "auth", "RUN", "serve",
		strings.Repeat("run", 1000)} {
		if hint := verb.ForeignVerb(words); hint != "" {
			t.Errorf("%.20q: %s", words, hint)
		}
	}
}
