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

// onlyBlock returns a reader of the first of several blocks, and reports the others. found is
// false if there are none.
func (l *loader) onlyBlock(blocks []*hclsyntax.Block) (r blockReader, found bool) {
	for i, b := range blocks {
		one := l.openBlock(b, "")
		if i > 0 {
			one.Duplicate(b.TypeRange, blocks[0].TypeRange, "block %q", b.Type)
			continue
		}
		r, found = one, true
	}
	return r, found
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
	inner, found := r.Block(kind)
	return blockReader{loader: r.loader, Reader: inner, home: r.home, each: r.each}, found
}
