package language

import (
	"fmt"
	"strings"
	"time"
)

// An Entry describes one attribute of a form. The reference pages, the JSON Schema of the
// language and the help of editors show it. Entries are shared: do not change one.
type Entry struct {
	Name     string
	Values   Values
	Unset    string // Markdown: the default; empty: none
	Doc      string // Markdown, one or more sentences
	Required bool
	Private  bool   // snippets do not show its literals
	Refers   string // what its texts name: refersServer, refersRole or refersPlugin; empty: nothing
}

// The kinds of names that texts of an attribute, or the first label of a block, may be.
const (
	RefersServer     = "server"
	RefersServerTool = "server" + RefersToolSuffix // SERVER/TOOL
	RefersRole       = "role"
	RefersPlugin     = "plugin"

	RefersToolSuffix = " and tool"
)

// Values is the set of values that an attribute accepts.
type Values struct {
	Accepts string         // Markdown
	Words   []string       // the words among them, for completion
	Schema  map[string]any // JSON Schema
}

var (
	Booleans = Values{"`true` or `false`", []string{"true", "false"}, map[string]any{"type": "boolean"}}
	Anything = Values{"any value", nil, map[string]any{
		"type": []string{"string", "number", "boolean", "array", "object", "null"},
	}}
	Objects = Values{"an object", nil, map[string]any{"type": "object"}}
)

// Texts are texts that accepts describes in Markdown.
func Texts(accepts string) Values {
	return Values{accepts, nil, map[string]any{"type": "string"}}
}

// Words are the given words and nothing else.
func Words(all ...string) Values {
	return Values{codeList(all), all, map[string]any{"enum": all}}
}

// wordsOr are the given words, and other texts that accepts describes.
func wordsOr(accepts string, all ...string) Values {
	return Values{accepts, all, map[string]any{"type": "string"}}
}

// durations are durations of at most longest.
func durations(longest time.Duration) Values {
	return Values{durationUpTo(longest), nil, map[string]any{"type": "string", "pattern": DurationPattern}}
}

// DurationPattern is the grammar of time.ParseDuration for durations without a sign.
const DurationPattern = `^([0-9]+(\.[0-9]*)?(ns|us|µs|ms|s|m|h))+$`

// sizes are numbers of bytes from least to most.
func sizes(least, most int) Values {
	return Values{fmt.Sprintf("a size from `%s` to `%s`", SizeText(least), SizeText(most)), nil,
		map[string]any{"type": "string", "pattern": `^[1-9][0-9]{0,5} ?(KiB|MiB)$`}}
}

// integers are whole numbers from least to most.
func integers(least, most int) Values {
	return Values{fmt.Sprintf("a whole number from %d to %d", least, most), nil,
		map[string]any{"type": "integer", "minimum": least, "maximum": most}}
}

// Numbers are numbers from 0 to most.
func Numbers(most float64) Values {
	return Values{fmt.Sprintf("a number from 0 to %.0f", most), nil,
		map[string]any{"type": "number", "minimum": 0, "maximum": most}}
}

// TextLists are lists of texts that accepts describes in Markdown.
func TextLists(accepts string) Values {
	return Values{accepts, nil, map[string]any{"type": "array", "items": map[string]any{"type": "string"}}}
}

// WordLists are lists of the given words.
func WordLists(all ...string) Values {
	return Values{"a list of " + codeList(all), all,
		map[string]any{"type": "array", "items": orExpression(map[string]any{"enum": all})}}
}

// textMaps are maps of texts that accepts describes in Markdown.
func textMaps(accepts string) Values {
	return Values{accepts, nil,
		map[string]any{"type": "object", "additionalProperties": map[string]any{"type": "string"}}}
}

// ObjectsOf are objects by name, with the given members.
func ObjectsOf(accepts string, members []Entry) Values {
	return Values{accepts, nil, map[string]any{"type": "object", "additionalProperties": objectSchema(members)}}
}

// MembersOf are objects with the given members.
func MembersOf(members []Entry) Values {
	return Values{Objects.Accepts, nil, objectSchema(members)}
}

// Conditions are the expressions of when.
var Conditions = Values{"a condition", nil, map[string]any{"type": []string{"string", "boolean"}}}

// durationUpTo describes a duration with a maximum in Markdown.
func durationUpTo(longest time.Duration) string {
	return fmt.Sprintf("a duration, at most `%s`", ShortDuration(longest))
}

// CodeText is a string value in Markdown.
func CodeText(word string) string { return fmt.Sprintf("`%q`", word) }

// codeList is a choice of string values in Markdown.
func codeList(words []string) string {
	var all []string
	for _, w := range words {
		all = append(all, CodeText(w))
	}
	last := len(all) - 1
	if last <= 0 {
		return strings.Join(all, "")
	}
	return strings.Join(all[:last], ", ") + " or " + all[last]
}

// Help describes an attribute in Markdown.
func (e Entry) Help() string {
	text := fmt.Sprintf("**%s**: %s", e.Name, PlainDoc(e.Values.Accepts))
	switch {
	case e.Required:
		text += "; required"
	case e.Unset != "":
		text += "; default " + PlainDoc(e.Unset)
	}
	return text + "\n\n" + PlainDoc(e.Doc)
}
