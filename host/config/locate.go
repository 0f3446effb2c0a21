package config

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/junctor-mcp/junctor/host/config/language"
	"github.com/junctor-mcp/junctor/host/config/source"
)

// PositionOf returns the place of a setting by its path, such as headers["Host"] or
// retry[0].max. If the setting is not written in the file, PositionOf returns the place
// of the nearest enclosing one.
func (b *Block) PositionOf(path string) source.Position { return source.StartOf(b.locate(path)) }

func (b *Block) locate(path string) hcl.Range {
	if b.origin.body == nil {
		return hcl.Range{Filename: b.At.File, Start: hcl.Pos{Line: b.At.Line, Column: b.At.Column}}
	}
	steps := language.ParsePath(path)
	if a := b.origin.inherited(steps); a != nil {
		return language.Locate(a.Expr, steps[1:])
	}
	return language.LocateIn(b.origin.body, b.origin.head, steps)
}

// inherited returns the attribute of the defaults block that a setting comes from. It
// returns nil if the block itself sets it.
func (o blockSource) inherited(steps []language.Step) *hclsyntax.Attribute {
	if len(steps) == 0 {
		return nil
	}
	own, inherited := o.body.Attributes[steps[0].Name], o.fallback[steps[0].Name]
	switch {
	case own == nil || inherited == nil:
		return inherited
	case len(steps) > 1 && language.Member(own.Expr, steps[1]) == nil && language.Member(inherited.Expr, steps[1]) != nil:
		return inherited // one member of a map
	}
	return nil
}
