package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/junctor-mcp/junctor/host/suggest"
)

// A blockReader reads one block. Its methods report problems to the loader.
type blockReader struct {
	*loader
	in   string // the outermost block, for messages: `server "github"`
	what string // the block itself, for messages: `transport "stdio"`
	body *hclsyntax.Body
	head hcl.Range // the block's type and labels

	label   string // the first label, or empty
	labelAt hcl.Range

	fallback fallback  // attributes of the defaults block for this block
	home     *scope    // in which its names are looked up
	each     cty.Value // of for_each, for a server block and the blocks in it; NilVal: none
}

// openBlock returns a reader of a block inside the block called in. in is empty
// for a top-level block.
func (l *loader) openBlock(b *hclsyntax.Block, in string) blockReader {
	s := blockReader{loader: l, home: l.scope, in: in, what: titleOf(b), body: b.Body, head: b.TypeRange, labelAt: b.TypeRange}
	if len(b.Labels) > 0 {
		s.label, s.labelAt = b.Labels[0], b.LabelRanges[0]
		s.head = hcl.RangeBetween(b.TypeRange, s.labelAt)
	}
	if s.in == "" {
		s.in = s.what
	}
	return s
}

// titleOf returns the type and the label of a block: server "github".
func titleOf(b *hclsyntax.Block) string {
	if len(b.Labels) == 0 {
		return b.Type
	}
	return fmt.Sprintf("%s %q", b.Type, b.Labels[0])
}

// nested returns a reader of a block inside this one.
func (r blockReader) nested(b *hclsyntax.Block) blockReader {
	inner := r.loader.openBlock(b, r.in)
	inner.home, inner.each = r.home, r.each
	return inner
}

// eval evaluates an expression of the block.
func (r blockReader) eval(in string, e hclsyntax.Expression) (cty.Value, bool) {
	defer r.enter(r.home, r.each)()
	return r.loader.eval(in, e)
}

// errorAt reports an error.
func (r blockReader) errorAt(at hcl.Range, hint, format string, args ...any) {
	r.problem(problem{in: r.in, at: at, summary: fmt.Sprintf(format, args...), hint: hint})
}

// warnAt reports a warning.
func (r blockReader) warnAt(at hcl.Range, hint, format string, args ...any) {
	r.problem(problem{severity: Warning, in: r.in, at: at, summary: fmt.Sprintf(format, args...), hint: hint})
}

// duplicate reports a second occurrence, with the place of the first.
func (r blockReader) duplicate(at, first hcl.Range, format string, args ...any) {
	r.errorAt(at, "", "%s appears twice; the first is at %s", fmt.Sprintf(format, args...), startOf(first))
}

// A form lists the attributes and blocks that a block may hold.
type form struct {
	entries    []entry
	attributes []string // further attributes, without an entry: those of plugins
	private    []string // further attributes whose literals are not shown in snippets
	blocks     map[string]shape
	later      []string // names that a later version will have
	open       string   // Markdown: the meaning of attributes with any other name; empty: there are none
}

// A shape says how many labels a nested block has, whether it may repeat, and what it
// holds.
type shape struct {
	labels int
	many   bool

	doc    string           // Markdown, one or more sentences
	refers string           // what the first label names; see entry
	inner  *form            // of the body; nil: of kinds or of a plugin
	kinds  map[string]*form // of the body, by label
	role   *role            // of the plugin that the body belongs to, for other labels
}

// example returns the labels of a block for a hint.
func (s shape) example() string { return strings.Repeat(` "NAME"`, s.labels) }

func (f form) names() []string {
	return slices.Concat(f.attributeNames(), slices.Sorted(maps.Keys(f.blocks)))
}

// check reports attributes and blocks that the form does not list, and marks the
// attributes whose literals snippets may show. It evaluates nothing.
func (r blockReader) check(f form) {
	for name, attr := range r.body.Attributes {
		shape, block := f.blocks[name]
		switch {
		case f.isPublic(name):
			r.reveal(attr)
		case f.isPrivate(name):
		case slices.Contains(f.later, name):
			r.errorAt(attr.NameRange, "", "this version does not have %q yet", name)
		case block:
			r.errorAt(attr.NameRange, r.foreignHint(name, f.names(), fmt.Sprintf("write %s%s { ... }, without an equals sign", name, shape.example())), "%q is a block", name)
		default:
			hint := didYouMean(name, f.names())
			if near := suggest.Nearest(name, f.names()); near != "" && slices.Contains(slices.Collect(maps.Keys(f.blocks)), near) {
				hint = fmt.Sprintf("did you mean the block %s%s { ... }?", near, f.blocks[near].example())
			}
			r.errorAt(attr.NameRange, r.foreignHint(name, f.names(), hint), "unknown attribute %q", name)
		}
	}
	first := map[string]*hclsyntax.Block{}
	for _, b := range r.body.Blocks {
		shape, known := f.blocks[b.Type]
		switch {
		case slices.Contains(f.later, b.Type):
			r.errorAt(b.TypeRange, "", "this version does not have %q yet", b.Type)
		case !known && slices.Contains(f.attributeNames(), b.Type):
			r.errorAt(b.TypeRange, r.foreignHint(b.Type, f.names(), fmt.Sprintf("write %s = ..., with an equals sign", b.Type)), "%q is an attribute", b.Type)
		case !known:
			r.errorAt(b.TypeRange, r.foreignHint(b.Type, f.names(), didYouMean(b.Type, f.names())), "unknown block %q", b.Type)
		case !shape.many && first[b.Type] != nil:
			r.duplicate(b.TypeRange, first[b.Type].TypeRange, "block %q", b.Type)
		default:
			r.labels(b, shape.labels)
			first[b.Type] = b
		}
	}
}

// labels reports a block with another number of labels.
func (r blockReader) labels(b *hclsyntax.Block, want int) {
	switch {
	case len(b.Labels) == want:
	case want == 0:
		r.errorAt(b.LabelRanges[0], fmt.Sprintf("write %s { ... }", b.Type), "a block %q has no label", b.Type)
	case want == 2:
		r.errorAt(b.TypeRange, fmt.Sprintf("write %s \"SERVER\" \"NAME\" { ... }", b.Type), "a block %q needs two labels", b.Type)
	case len(b.Labels) == 0:
		r.errorAt(b.TypeRange, fmt.Sprintf("write %s \"NAME\" { ... }", b.Type), "a block %q needs a label", b.Type)
	default:
		r.errorAt(b.LabelRanges[want], fmt.Sprintf("write %s \"NAME\" { ... }", b.Type), "a block %q has one label", b.Type)
	}
}

// block opens the first nested block of a kind.
func (r blockReader) block(kind string) (blockReader, bool) {
	for _, b := range r.body.Blocks {
		if b.Type == kind {
			return r.nested(b), true
		}
	}
	return blockReader{}, false
}

// nearHint returns a hint that names the nearest candidate, or "" if no candidate
// is near.
func nearHint(name string, candidates []string) string {
	if near := suggest.Nearest(name, candidates); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return ""
}

// didYouMean returns nearHint or, if no candidate is near, a list of at most 16
// candidates.
func didYouMean(name string, candidates []string) string {
	if hint := nearHint(name, candidates); hint != "" {
		return hint
	}
	if len(candidates) == 0 || len(candidates) > 16 {
		return ""
	}
	return "known here: " + strings.Join(slices.Sorted(slices.Values(candidates)), ", ")
}
