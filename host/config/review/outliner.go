package review

import (
	"cmp"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/junctor-mcp/junctor/host/config/source"
)

// Facts are what a review knows of the language and of the machine.
type Facts struct {
	Words   source.Words
	Bundled []string // the plugins and stores that need no declaration
	Console string   // the address of a console block that names none
	Metrics string   // the same of a metrics block

	Lookup func(name string) (string, bool) // reads the environment; nil: os.LookupEnv
}

// A Plugin is one that is not bundled.
type Plugin struct {
	Name   string // its local name
	Source string // the absolute path of a file or a directory
	At     source.Position
}

// An Item is one action of a configuration. Its text is safe to print, because all
// invisible characters are escaped.
//
// An outline is made from the source text without evaluation. A literal is shown as
// its value, any other expression as its source. Therefore a condition on the
// environment cannot show one action and perform another.
type Item struct {
	Kind ItemKind
	Text string
	In   string // the block, such as `server "files"`; may be empty
	At   source.Position
}

// An ItemKind is a kind of action.
type ItemKind string

// The kinds of actions.
const (
	Runs     ItemKind = "runs"     // a program, with its arguments
	Loads    ItemKind = "loads"    // a plugin that is not bundled
	Contacts ItemKind = "contacts" // a host
	Listens  ItemKind = "listens"  // an address
	Reads    ItemKind = "reads"    // a file, an environment variable or a stored secret
	Writes   ItemKind = "writes"   // a file or directory, by a wrapped program
	Sets     ItemKind = "sets"     // an environment variable of a program, or another setting
	Passes   ItemKind = "passes"   // environment variables of Junctor to a program
	Keeps    ItemKind = "keeps"    // secrets, in a store
	Computes ItemKind = "computes" // a local that others refer to
)

// itemOrder is the order of the kinds in an outline.
var itemOrder = []ItemKind{Loads, Runs, Contacts, Reads, Writes, Sets, Passes, Keeps, Listens, Computes}

// An outliner makes the outline of the files of a tree. It belongs to one call of Read.
type outliner struct {
	tree    *source.Tree
	facts   Facts
	content *Content
	uses    map[string]hclsyntax.Expression // "use" of the plugin blocks, by label
	items   []Item
	plugins []Plugin
	source  *source.File // of the current block
	in      string

	dir    string // in which the program of the current block looks for its arguments
	within string // the nested blocks that the current block is in, such as `tool "x": `; may be empty
	// computedDir is true if that directory is not known.
	computedDir bool
	// transport is the transport block that the current tool block is in; nil outside of one.
	transport  *hclsyntax.Body
	thirdParty bool // the current block belongs to a plugin that is not bundled
	showsAll   bool // every attribute of the current block is shown
	showsText  bool // every attribute of the current block is shown that may have a text of any kind
	inherits   bool // the current block is a transport, which has the env of defaults
}

func (o *outliner) add(kind ItemKind, at hcl.Range, text string) {
	o.items = append(o.items, Item{Kind: kind, Text: text, In: o.in, At: source.StartOf(at)})
}

func sortedAttributes(body *hclsyntax.Body) []*hclsyntax.Attribute {
	var all []*hclsyntax.Attribute
	for _, a := range body.Attributes {
		all = append(all, a)
	}
	slices.SortFunc(all,
		func(a, b *hclsyntax.Attribute) int { return cmp.Compare(a.SrcRange.Start.Byte, b.SrcRange.Start.Byte) })
	return all
}
