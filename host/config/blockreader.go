package config

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/junctor-mcp/junctor/host/config/expression"
	"github.com/junctor-mcp/junctor/host/config/language"
	"github.com/junctor-mcp/junctor/host/config/source"
)

// A blockReader reads one block of a scope. Its methods report problems to the files of the
// scope. It is a value that is copied for nested blocks; all copies share the scope. Every function of
// this package that reads a block gets one.
type blockReader struct {
	language.Reader
	of   *scope    // in which its names are looked up
	each cty.Value // of for_each, for a server block and the blocks in it; NilVal: none
}

// host returns what evaluates the expressions of the scope. each is the element of for_each.
func (s *scope) host(each cty.Value) expression.Host { return s.ev.At(s.names, each) }

// open returns a reader of a block inside the block called in. in is empty for a top-level
// block.
func (s *scope) open(b *hclsyntax.Block, in string) blockReader {
	return s.reader(language.NewReader(b, in), cty.NilVal)
}

// openFile returns a reader of the top level of a file.
func (s *scope) openFile(f *source.File) blockReader {
	return s.reader(language.Reader{Body: f.Body, Head: hcl.Range{Filename: f.Name}}, cty.NilVal)
}

// empty returns a reader of a block in which everything is unset.
func (s *scope) empty(in string) blockReader {
	return s.reader(language.Reader{In: in, Body: &hclsyntax.Body{}}, cty.NilVal)
}

// reader returns a blockReader that looks names up in the scope.
func (s *scope) reader(r language.Reader, each cty.Value) blockReader {
	r.Host = s.host(each)
	return blockReader{Reader: r, of: s, each: each}
}

// only returns a reader of the first of several blocks, and reports the others. found is
// false if there are none.
func (s *scope) only(blocks []*hclsyntax.Block) (r blockReader, found bool) {
	for i, b := range blocks {
		one := s.open(b, "")
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
	return r.of.reader(language.NewReader(b, r.In), r.each)
}

// block opens the first nested block of a kind.
func (r blockReader) block(kind string) (blockReader, bool) {
	inner, found := r.Block(kind)
	return blockReader{Reader: inner, of: r.of, each: r.each}, found
}

// dir returns the absolute directory of the file of the block.
func (r blockReader) dir() string { return r.of.ev.Files.DirOf(r.Head.Filename) }
