package language

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/junctor-mcp/junctor/host/suggest"
)

// A Host evaluates the expressions of a configuration and takes the problems that are found.
type Host interface {
	// Eval returns the value of an expression of the outermost block in. It reports what is
	// wrong and returns false.
	Eval(in string, e hclsyntax.Expression) (cty.Value, bool)

	// Report records a problem.
	Report(p Problem)

	// Settled reports parts of a value that are known only when a connection opens. It returns
	// whether there are none.
	Settled(in string, a *hclsyntax.Attribute, v cty.Value) bool

	// IsLate reports whether a part of a text is known only when a connection opens.
	IsLate(text string) bool

	// IsSkipped reports whether an expression is not evaluated, so that its value is not known.
	IsSkipped(e hclsyntax.Expression) bool

	// Path makes a path in a file of the configuration absolute.
	Path(file, path string) string

	// Reveal says that the literals of an attribute may be shown.
	Reveal(a *hclsyntax.Attribute)

	// Conceal says that a text is a secret, which no message may show.
	Conceal(text string)

	// Foreign returns a hint for the name of an attribute or a block that another program has
	// in such a block, or "". known lists the names that the block has here.
	Foreign(block, name string, known []string) string
}

// A Reader reads one block. Its methods report what is wrong to the host.
type Reader struct {
	Host Host
	In   string // the outermost block, for messages: `server "github"`
	What string // the block itself, for messages: `transport "stdio"`
	Body *hclsyntax.Body
	Head hcl.Range // the block's type and labels

	Label   string // the first label, or empty
	LabelAt hcl.Range
	all     []string // labels

	Fallback *hclsyntax.Body // with attributes and blocks that the block inherits; nil: none

	state *readState // of Decode; nil: none
}

// A readState is what Decode has read of a block so far.
type readState struct {
	read   map[string]bool // the attributes with a value
	errors int
}

// IsRead reports, in Validate, whether an attribute has a value in which nothing wrong was found.
func (r Reader) IsRead(name string) bool { return r.state != nil && r.state.read[name] }

// NewReader returns a Reader of a block inside the block called in, without a host. in is
// empty for a top-level block.
func NewReader(b *hclsyntax.Block, in string) Reader {
	r := Reader{In: in, What: TitleOf(b), Body: b.Body, Head: b.TypeRange, LabelAt: b.TypeRange}
	if len(b.Labels) > 0 {
		r.Label, r.LabelAt, r.all = b.Labels[0], b.LabelRanges[0], b.Labels
		r.Head = hcl.RangeBetween(b.TypeRange, r.LabelAt)
	}
	if r.In == "" {
		r.In = r.What
	}
	return r
}

// ErrorAt reports an error.
func (r Reader) ErrorAt(at hcl.Range, hint, format string, args ...any) {
	if r.state != nil {
		r.state.errors++
	}
	r.Host.Report(Problem{In: r.In, At: at, Summary: fmt.Sprintf(format, args...), Hint: hint})
}

// WarnAt reports a warning.
func (r Reader) WarnAt(at hcl.Range, hint, format string, args ...any) {
	r.Host.Report(Problem{Warning: true, In: r.In, At: at, Summary: fmt.Sprintf(format, args...), Hint: hint})
}

// Duplicate reports a second occurrence, with the place of the first.
func (r Reader) Duplicate(at, first hcl.Range, format string, args ...any) {
	place := fmt.Sprintf("%s:%d:%d", first.Filename, first.Start.Line, first.Start.Column)
	r.ErrorAt(at, "", "%s appears twice; the first is at %s", fmt.Sprintf(format, args...), place)
}

// Check reports attributes and blocks that the form does not list, and marks the
// attributes whose literals snippets may show. It evaluates nothing.
func (r Reader) Check(f *Form) {
	for name, attr := range r.Body.Attributes {
		shape, block := f.Blocks[name]
		switch {
		case f.isPublic(name):
			r.Host.Reveal(attr)
		case f.isPrivate(name):
		case slices.Contains(f.Later, name):
			r.ErrorAt(attr.NameRange, "", "this version does not have %q yet", name)
		case block:
			hint := fmt.Sprintf("write %s%s { ... }, without an equals sign", name, shape.Example())
			r.ErrorAt(attr.NameRange, r.foreign(name, f.Names(), hint), "%q is a block", name)
		default:
			hint := DidYouMean(name, f.Names())
			near := suggest.Nearest(name, f.Names())
			if block, is := f.Blocks[near]; is {
				hint = fmt.Sprintf("did you mean the block %s%s { ... }?", near, block.Example())
			}
			r.ErrorAt(attr.NameRange, r.foreign(name, f.Names(), hint), "unknown attribute %q", name)
		}
	}
	first := map[string]*hclsyntax.Block{}
	for _, b := range r.Body.Blocks {
		shape, known := f.Blocks[b.Type]
		switch {
		case slices.Contains(f.Later, b.Type):
			r.ErrorAt(b.TypeRange, "", "this version does not have %q yet", b.Type)
		case !known && slices.Contains(f.AttributeNames(), b.Type):
			hint := fmt.Sprintf("write %s = ..., with an equals sign", b.Type)
			r.ErrorAt(b.TypeRange, r.foreign(b.Type, f.Names(), hint), "%q is an attribute", b.Type)
		case !known:
			r.ErrorAt(b.TypeRange, r.foreign(b.Type, f.Names(), DidYouMean(b.Type, f.Names())),
				"unknown block %q", b.Type)
		case !shape.Many && first[b.Type] != nil:
			r.Duplicate(b.TypeRange, first[b.Type].TypeRange, "block %q", b.Type)
		default:
			r.labels(b, shape.Labels)
			first[b.Type] = b
		}
	}
}

// labels reports a block with another number of labels.
func (r Reader) labels(b *hclsyntax.Block, want int) {
	switch {
	case len(b.Labels) == want:
	case want == 0:
		r.ErrorAt(b.LabelRanges[0], fmt.Sprintf("write %s { ... }", b.Type), "a block %q has no label", b.Type)
	case want == 2:
		hint := fmt.Sprintf("write %s \"SERVER\" \"NAME\" { ... }", b.Type)
		r.ErrorAt(b.TypeRange, hint, "a block %q needs two labels", b.Type)
	case len(b.Labels) == 0:
		r.ErrorAt(b.TypeRange, fmt.Sprintf("write %s \"NAME\" { ... }", b.Type), "a block %q needs a label", b.Type)
	default:
		r.ErrorAt(b.LabelRanges[want], fmt.Sprintf("write %s \"NAME\" { ... }", b.Type),
			"a block %q has one label", b.Type)
	}
}

// ReportMissing reports a required attribute that is not set.
func (r Reader) ReportMissing(name string, at hcl.Range) {
	r.ErrorAt(at, fmt.Sprintf("add %s = ... to the block", name), "%s needs %q", r.What, name)
}

// ValueAt returns the range of an attribute's value, or unset if the attribute is
// absent.
func (r Reader) ValueAt(name string, unset hcl.Range) hcl.Range {
	if a := r.Body.Attributes[name]; a != nil {
		return a.Expr.Range()
	}
	return unset
}

// Kind returns the type of the block.
func (r Reader) Kind() string {
	kind, _, _ := strings.Cut(r.What, " ")
	return kind
}

// TitleOf returns the type and the label of a block: server "github".
func TitleOf(b *hclsyntax.Block) string {
	if len(b.Labels) == 0 {
		return b.Type
	}
	return fmt.Sprintf("%s %q", b.Type, b.Labels[0])
}

// Attribute returns the block's own attribute or else the inherited one.
func (r Reader) Attribute(name string) *hclsyntax.Attribute {
	if a := r.Body.Attributes[name]; a != nil {
		return a
	}
	return r.Inherited(name)
}

// Inherited returns the attribute that counts for an absent one, or nil.
func (r Reader) Inherited(name string) *hclsyntax.Attribute {
	if r.Fallback == nil {
		return nil
	}
	return r.Fallback.Attributes[name]
}

// foreign returns the hint for a name that another program has in such a block, or otherwise.
func (r Reader) foreign(name string, known []string, otherwise string) string {
	return cmp.Or(r.Host.Foreign(r.Kind(), name, known), otherwise)
}
