package language

import (
	"maps"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/sdk"
)

// A Form lists the attributes and blocks that a block may hold. Forms are shared: do not change
// one.
type Form struct {
	Entries    []Entry
	Attributes []string // further attributes, without an entry: those of plugins
	Private    []string // further attributes whose literals are not shown in snippets
	Blocks     map[string]Shape
	Later      []string // names that a later version will have
	Open       string   // Markdown: the meaning of attributes with any other name; empty: there are none
}

// A Shape says how many labels a nested block has, whether it may repeat, and what it
// holds.
type Shape struct {
	Labels int
	Many   bool

	Doc    string           // Markdown, one or more sentences
	Refers string           // what the first label names; see entry
	Body   *Form            // of the body; nil: of kinds or of a plugin
	Kinds  map[string]*Form // of the body, by label
	Role   *Role            // of the plugin that the body belongs to, for other labels
}

// Example returns the labels of a block for a hint.
func (s Shape) Example() string { return strings.Repeat(` "NAME"`, s.Labels) }

// A Role is one of the kinds of component that plugins offer.
type Role struct {
	Noun    string   // in messages
	Bundled []string // plugins of this role that need no declaration
	Offered func(*sdk.Manifest) map[string]sdk.Schema
}

func (f Form) Names() []string {
	return slices.Concat(f.AttributeNames(), slices.Sorted(maps.Keys(f.Blocks)))
}

// Entry returns the entry of an attribute, or nil for a name without one.
func (f Form) Entry(name string) *Entry {
	if i := slices.IndexFunc(f.Entries, func(e Entry) bool { return e.Name == name }); i >= 0 {
		return &f.Entries[i]
	}
	return nil
}

// isPublic reports whether a block has an attribute whose literals snippets may show.
func (f Form) isPublic(name string) bool {
	e := f.Entry(name)
	return e != nil && !e.Private || slices.Contains(f.Attributes, name)
}

// isPrivate reports whether a block has an attribute whose literals snippets do not show.
func (f Form) isPrivate(name string) bool {
	e := f.Entry(name)
	return e != nil && e.Private || slices.Contains(f.Private, name)
}

// AttributeNames lists the attributes of a block.
func (f Form) AttributeNames() []string {
	var names []string
	for _, e := range f.Entries {
		names = append(names, e.Name)
	}
	return slices.Concat(names, f.Attributes, f.Private)
}
