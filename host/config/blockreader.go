package config

import (
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/junctor-mcp/junctor/host/config/language"
)

// A blockReader reads one block. Its methods report problems to the loader.
type blockReader struct {
	*loader
	language.Reader
	home *scope    // in which its names are looked up
	each cty.Value // of for_each, for a server block and the blocks in it; NilVal: none
}

// openBlock returns a reader of a block inside the block called in. in is empty
// for a top-level block.
func (l *loader) openBlock(b *hclsyntax.Block, in string) blockReader {
	return l.reader(language.NewReader(b, in), l.scope, cty.NilVal)
}

// reader returns a blockReader that looks names up in a scope.
func (l *loader) reader(r language.Reader, home *scope, each cty.Value) blockReader {
	r.Host = evaluation{l, home, each}
	return blockReader{loader: l, Reader: r, home: home, each: each}
}

// nested returns a reader of a block inside this one.
func (r blockReader) nested(b *hclsyntax.Block) blockReader {
	return r.reader(language.NewReader(b, r.In), r.home, r.each)
}

// eval evaluates an expression of the block.
func (r blockReader) eval(in string, e hclsyntax.Expression) (cty.Value, bool) {
	return r.Host.Eval(in, e)
}

// block opens the first nested block of a kind.
func (r blockReader) block(kind string) (blockReader, bool) {
	for _, b := range r.Body.Blocks {
		if b.Type == kind {
			return r.nested(b), true
		}
	}
	return blockReader{}, false
}
