package clientconfig

import (
	"bytes"
	"unicode/utf8"
)

// places computes the places of ascending offsets into a text. It reads the text once.
type places struct {
	text   []byte
	offset int // of the last place
	last   Place
}

// at returns the place of an offset. A smaller offset than the one before reads the text from
// its beginning.
func (p *places) at(offset int) Place {
	offset = min(offset, len(p.text))
	if offset < p.offset || p.last == (Place{}) {
		p.offset, p.last = 0, Place{1, 1}
	}
	between := p.text[p.offset:offset]
	if lines := bytes.Count(between, []byte("\n")); lines > 0 {
		p.last.Line += lines
		p.last.Column = 1
		between = between[bytes.LastIndexByte(between, '\n')+1:]
	}
	p.last.Column += utf8.RuneCount(between)
	p.offset = offset
	return p.last
}
