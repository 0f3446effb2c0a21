package arguments

import (
	"slices"
	"strings"

	"github.com/kballard/go-shellquote"

	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/classify"
	"github.com/junctor-mcp/junctor/host/schema"
	"github.com/junctor-mcp/junctor/host/secretname"
)

// FirstCall returns a command that calls the reading tool with the fewest required arguments,
// else one whose arguments are to be filled in. It never proposes a command that would change
// something as it stands.
func FirstCall(tools []*catalog.Tool) string {
	var best *catalog.Tool
	needs := 0
	for _, t := range tools {
		if showsSecrets(t.Name) {
			continue
		}
		all, reads := len(required(t)), t.Class.Kind == classify.Read
		bestReads := best != nil && best.Class.Kind == classify.Read
		switch {
		case !reads && (best != nil || all == 0):
		case best == nil, reads && (!bestReads || all < needs):
			best, needs = t, all
		}
	}
	if best == nil {
		return "junctor inspect " + shellquote.Join(tools[0].Exposed)
	}
	return CallLine(best)
}

// showsSecrets reports whether the result of a tool may have secrets, by its name.
func showsSecrets(name string) bool {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return r == '-' || r == '_' || r == '.' })
	return secretname.Sounds(name) ||
		slices.ContainsFunc(words, func(word string) bool { return word == "env" || word == "environment" })
}

// CallLine returns a command that calls a tool, with the arguments that it requires.
func CallLine(t *catalog.Tool) string {
	words := []string{"junctor", "call", shellquote.Join(t.Exposed)}
	for _, p := range required(t) {
		if len(p.Values) > 0 {
			words = append(words, shellquote.Join(p.Name+"="+p.Values[0]))
		} else {
			words = append(words, shellquote.Join(p.Name)+"=…")
		}
	}
	return strings.Join(words, " ")
}

// required returns the arguments that a tool requires.
func required(t *catalog.Tool) []schema.Property {
	return slices.DeleteFunc(schema.Properties(t.Input), func(p schema.Property) bool { return !p.Required })
}
