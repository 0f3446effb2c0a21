package config

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// An entry describes one attribute of a form. The reference pages, the JSON Schema of the
// language and the help of editors show it.
type entry struct {
	name     string
	values   valueSet
	unset    string // Markdown: the default; empty: none
	doc      string // Markdown, one or more sentences
	required bool
	private  bool   // snippets do not show its literals
	refers   string // what its texts name: refersServer, refersRole or refersPlugin; empty: nothing
}

// The kinds of names that texts of an attribute, or the first label of a block, may be.
const (
	refersServer     = "server"
	refersServerTool = "server" + refersToolSuffix // SERVER/TOOL
	refersRole       = "role"
	refersPlugin     = "plugin"

	refersToolSuffix = " and tool"
)

// A valueSet is the set of values that an attribute accepts.
type valueSet struct {
	accepts string         // Markdown
	words   []string       // the words among them, for completion
	schema  map[string]any // JSON Schema
}

var (
	booleans = valueSet{"`true` or `false`", []string{"true", "false"}, map[string]any{"type": "boolean"}}
	anything = valueSet{"any value", nil, map[string]any{"type": []string{"string", "number", "boolean", "array", "object", "null"}}}
	objects  = valueSet{"an object", nil, map[string]any{"type": "object"}}
)

// texts are texts that accepts describes in Markdown.
func texts(accepts string) valueSet {
	return valueSet{accepts, nil, map[string]any{"type": "string"}}
}

// words are the given words and nothing else.
func words(all ...string) valueSet {
	return valueSet{codeList(all), all, map[string]any{"enum": all}}
}

// wordsOr are the given words, and other texts that accepts describes.
func wordsOr(accepts string, all ...string) valueSet {
	return valueSet{accepts, all, map[string]any{"type": "string"}}
}

// durations are durations of at most longest.
func durations(longest time.Duration) valueSet {
	return valueSet{durationUpTo(longest), nil, map[string]any{"type": "string", "pattern": durationPattern}}
}

// durationPattern is the grammar of time.ParseDuration for durations without a sign.
const durationPattern = `^([0-9]+(\.[0-9]*)?(ns|us|µs|ms|s|m|h))+$`

// sizes are numbers of bytes from least to most.
func sizes(least, most int) valueSet {
	return valueSet{fmt.Sprintf("a size from `%s` to `%s`", sizeText(least), sizeText(most)), nil,
		map[string]any{"type": "string", "pattern": `^[1-9][0-9]{0,5} ?(KiB|MiB)$`}}
}

// integers are whole numbers from least to most.
func integers(least, most int) valueSet {
	return valueSet{fmt.Sprintf("a whole number from %d to %d", least, most), nil,
		map[string]any{"type": "integer", "minimum": least, "maximum": most}}
}

// numbers are numbers from 0 to most.
func numbers(most float64) valueSet {
	return valueSet{fmt.Sprintf("a number from 0 to %.0f", most), nil, map[string]any{"type": "number", "minimum": 0, "maximum": most}}
}

// textLists are lists of texts that accepts describes in Markdown.
func textLists(accepts string) valueSet {
	return valueSet{accepts, nil, map[string]any{"type": "array", "items": map[string]any{"type": "string"}}}
}

// wordLists are lists of the given words.
func wordLists(all ...string) valueSet {
	return valueSet{"a list of " + codeList(all), all, map[string]any{"type": "array", "items": orExpression(map[string]any{"enum": all})}}
}

// textMaps are maps of texts that accepts describes in Markdown.
func textMaps(accepts string) valueSet {
	return valueSet{accepts, nil, map[string]any{"type": "object", "additionalProperties": map[string]any{"type": "string"}}}
}

// objectsOf are objects by name, with the given members.
func objectsOf(accepts string, members []entry) valueSet {
	return valueSet{accepts, nil, map[string]any{"type": "object", "additionalProperties": objectSchema(members)}}
}

// membersOf are objects with the given members.
func membersOf(members []entry) valueSet {
	return valueSet{objects.accepts, nil, objectSchema(members)}
}

// conditions are the expressions of when.
var conditions = valueSet{"a condition", nil, map[string]any{"type": []string{"string", "boolean"}}}

// durationUpTo describes a duration with a maximum in Markdown.
func durationUpTo(longest time.Duration) string {
	return fmt.Sprintf("a duration, at most `%s`", shortDuration(longest))
}

// codeText is a string value in Markdown.
func codeText(word string) string { return fmt.Sprintf("`%q`", word) }

// codeList is a choice of string values in Markdown.
func codeList(words []string) string {
	var all []string
	for _, w := range words {
		all = append(all, codeText(w))
	}
	last := len(all) - 1
	if last <= 0 {
		return strings.Join(all, "")
	}
	return strings.Join(all[:last], ", ") + " or " + all[last]
}

// inherited returns entries with another default.
func inherited(entries []entry, unset string) []entry {
	entries = slices.Clone(entries)
	for i := range entries {
		entries[i].unset = unset
	}
	return entries
}

// entryOf returns the entry of an attribute, or nil for a name without one.
func (f form) entryOf(name string) *entry {
	if i := slices.IndexFunc(f.entries, func(e entry) bool { return e.name == name }); i >= 0 {
		return &f.entries[i]
	}
	return nil
}

// isPublic reports whether a block has an attribute whose literals snippets may show.
func (f form) isPublic(name string) bool {
	e := f.entryOf(name)
	return e != nil && !e.private || slices.Contains(f.attributes, name)
}

// isPrivate reports whether a block has an attribute whose literals snippets do not show.
func (f form) isPrivate(name string) bool {
	e := f.entryOf(name)
	return e != nil && e.private || slices.Contains(f.private, name)
}

// attributeNames lists the attributes of a block.
func (f form) attributeNames() []string {
	var names []string
	for _, e := range f.entries {
		names = append(names, e.name)
	}
	return slices.Concat(names, f.attributes, f.private)
}
