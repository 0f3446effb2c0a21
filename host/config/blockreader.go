package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/junctor-mcp/junctor/host/suggest"
)

// A blockReader is one block while it is being read.
type blockReader struct {
	*loader
	in   string // the outermost block, for messages: `server "github"`
	what string // the block itself, for messages: `transport "stdio"`
	body *hclsyntax.Body
	head hcl.Range // the block's type and labels

	label   string // the first, or empty
	labelAt hcl.Range

	fallback fallback // what the defaults block has for this one
}

// section opens a block that stands in the one called in.
func (l *loader) section(b *hclsyntax.Block, in string) blockReader {
	s := blockReader{loader: l, in: in, what: titleOf(b), body: b.Body, head: b.TypeRange, labelAt: b.TypeRange}
	if len(b.Labels) > 0 {
		s.label, s.labelAt = b.Labels[0], b.LabelRanges[0]
		s.head = hcl.RangeBetween(b.TypeRange, s.labelAt)
	}
	if s.in == "" {
		s.in = s.what
	}
	return s
}

// titleOf is what messages call a block: server "github".
func titleOf(b *hclsyntax.Block) string {
	if len(b.Labels) == 0 {
		return b.Type
	}
	return fmt.Sprintf("%s %q", b.Type, b.Labels[0])
}

func (s blockReader) nested(b *hclsyntax.Block) blockReader { return s.loader.section(b, s.in) }

// wrong reports an error.
func (s blockReader) wrong(at hcl.Range, hint, format string, args ...any) {
	s.problem(problem{in: s.in, at: at, summary: fmt.Sprintf(format, args...), hint: hint})
}

// doubtful reports a warning.
func (s blockReader) doubtful(at hcl.Range, hint, format string, args ...any) {
	s.problem(problem{severity: Warning, in: s.in, at: at, summary: fmt.Sprintf(format, args...), hint: hint})
}

// twice reports something that may stand once, with the place of the first.
func (s blockReader) twice(at, first hcl.Range, format string, args ...any) {
	s.wrong(at, "", "%s stands twice; the first is at %s", fmt.Sprintf(format, args...), startOf(first))
}

// A form says what may stand in a block.
type form struct {
	attributes []string
	private    []string // attributes whose literals are not shown in snippets
	blocks     map[string]shape
	later      []string // in the language, but not in this version
}

// A shape says how a nested block may stand.
type shape struct {
	labels int
	many   bool
}

// example is how a block's labels are written.
func (s shape) example() string { return strings.Repeat(` "NAME"`, s.labels) }

func (f form) names() []string {
	return slices.Concat(f.attributes, f.private, slices.Sorted(maps.Keys(f.blocks)))
}

// check reports whatever stands in the section and may not, and notes which
// literals snippets may show. It evaluates nothing.
func (s blockReader) check(f form) {
	for name, attr := range s.body.Attributes {
		shape, block := f.blocks[name]
		switch {
		case slices.Contains(f.attributes, name):
			s.reveal(attr)
		case slices.Contains(f.private, name):
		case slices.Contains(f.later, name):
			s.wrong(attr.NameRange, "", "this version does not have %q yet", name)
		case block:
			s.wrong(attr.NameRange, fmt.Sprintf("write %s%s { ... }, without an equals sign", name, shape.example()), "%q is a block", name)
		default:
			hint := didYouMean(name, f.names())
			if near := suggest.Nearest(name, f.names()); near != "" && slices.Contains(slices.Collect(maps.Keys(f.blocks)), near) {
				hint = fmt.Sprintf("did you mean the block %s%s { ... }?", near, f.blocks[near].example())
			}
			s.wrong(attr.NameRange, hint, "unknown attribute %q", name)
		}
	}
	first := map[string]*hclsyntax.Block{}
	for _, b := range s.body.Blocks {
		shape, known := f.blocks[b.Type]
		switch {
		case slices.Contains(f.later, b.Type):
			s.wrong(b.TypeRange, "", "this version does not have %q yet", b.Type)
		case !known && slices.Contains(slices.Concat(f.attributes, f.private), b.Type):
			s.wrong(b.TypeRange, fmt.Sprintf("write %s = ..., with an equals sign", b.Type), "%q is an attribute", b.Type)
		case !known:
			s.wrong(b.TypeRange, didYouMean(b.Type, f.names()), "unknown block %q", b.Type)
		case !shape.many && first[b.Type] != nil:
			s.twice(b.TypeRange, first[b.Type].TypeRange, "block %q", b.Type)
		default:
			s.labels(b, shape.labels)
			first[b.Type] = b
		}
	}
}

// labels checks how many labels a block has.
func (s blockReader) labels(b *hclsyntax.Block, want int) {
	switch {
	case len(b.Labels) == want:
	case want == 0:
		s.wrong(b.LabelRanges[0], "", "a block %q has no label", b.Type)
	case len(b.Labels) == 0:
		s.wrong(b.TypeRange, fmt.Sprintf("write %s \"NAME\" { ... }", b.Type), "a block %q has a label", b.Type)
	default:
		s.wrong(b.LabelRanges[want], "", "a block %q has one label", b.Type)
	}
}

// block opens the first nested block of a kind.
func (s blockReader) block(kind string) (blockReader, bool) {
	for _, b := range s.body.Blocks {
		if b.Type == kind {
			return s.nested(b), true
		}
	}
	return blockReader{}, false
}
