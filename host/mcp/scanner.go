package mcp

import (
	"bytes"
	"sync"
)

// A scanner validates one JSON text in one pass. Every message of a server passes it, so
// it is written for speed: a library that also builds tokens took a third of the time of
// a large result. The fuzz target compares it with a parser that is written for clarity,
// and with two libraries. One goroutine uses it at a time: scan takes it from the pool and
// gives it back.
type scanner struct {
	b       []byte
	i       int // position
	depth   int // of the open arrays and objects
	handler memberHandler
	names   []name           // of the open objects
	hashes  []map[uint64]int // empty, to be used again; at most MaxDepth

	inResult bool  // the position is in the result, which is an object
	result   Names // the result's own names
	blocks   blocks
}

// scanners are pooled with their names and maps.
var scanners = sync.Pool{New: func() any { return new(scanner) }}

// Bounds of what a scanner in the pool keeps.
const (
	maxIdleNames  = 1 << 10
	maxIdleHashes = 4
)

// free returns a scanner to the pool, without references to the text.
func (s *scanner) free() {
	if cap(s.names) > maxIdleNames {
		s.names = nil
	}
	if len(s.hashes) > maxIdleHashes {
		s.hashes = nil
	}
	s.b, s.handler, s.names, s.result, s.blocks = nil, nil, s.names[:0], Names{}, blocks{}
	scanners.Put(s)
}

// document scans a value with nothing but white space around it.
func (s *scanner) document() error {
	s.space()
	if err := s.value(); err != nil {
		return err
	}
	if s.space(); s.i < len(s.b) {
		return errSyntax
	}
	return nil
}

// space skips white space and turns line breaks into spaces.
func (s *scanner) space() {
	for ; s.i < len(s.b); s.i++ {
		switch s.b[s.i] {
		case ' ', '\t':
		case '\n', '\r':
			s.b[s.i] = ' '
		default:
			return
		}
	}
}

// peek returns the byte at the position, or 0 at the end.
func (s *scanner) peek() byte {
	if s.i < len(s.b) {
		return s.b[s.i]
	}
	return 0
}

// take skips one byte if it is c.
func (s *scanner) take(c byte) bool {
	if s.peek() != c {
		return false
	}
	s.i++
	return true
}

func (s *scanner) value() error {
	switch c := s.peek(); c {
	case '"':
		_, err := s.text()
		return err
	case '{', '[':
		return s.nested(c)
	case 't':
		return s.literal("true")
	case 'f':
		return s.literal("false")
	case 'n':
		return s.literal("null")
	}
	return s.number()
}

// nested scans an object or an array, which begins with c.
func (s *scanner) nested(c byte) (err error) {
	if s.depth == MaxDepth {
		return errDepth
	}
	s.depth++
	if c == '{' {
		err = s.object()
	} else {
		err = s.array()
	}
	s.depth--
	return err
}

func (s *scanner) literal(word string) error {
	if end := s.i + len(word); end <= len(s.b) && string(s.b[s.i:end]) == word {
		s.i = end
		return nil
	}
	return foreignWord(s.b, s.i)
}

func (s *scanner) number() error {
	start := s.i
	s.take('-')
	if !s.take('0') && !s.digits() {
		return foreignWord(s.b, start)
	}
	large := s.i-start > maxExactDigits
	if s.take('.') && !s.digits() {
		return errSyntax
	}
	if s.take('e') || s.take('E') {
		if !s.take('+') {
			s.take('-')
		}
		if !s.digits() {
			return errSyntax
		}
		large = true
	}
	if large && beyondFloat(s.b[start:s.i]) {
		return errNumber
	}
	return nil
}

// digits skips digits and reports whether there was one.
func (s *scanner) digits() bool {
	start := s.i
	for c := s.peek(); c >= '0' && c <= '9'; c = s.peek() {
		s.i++
	}
	return s.i > start
}

func (s *scanner) array() error {
	s.i++
	if s.space(); s.take(']') {
		return nil
	}
	for {
		if s.blocks.in != noBlocks && s.depth == blocksDepth && s.peek() != '{' {
			s.result.odd = true
		}
		if err := s.value(); err != nil {
			return err
		}
		s.space()
		if s.take(']') {
			return nil
		}
		if !s.take(',') {
			return errSyntax
		}
		s.space()
	}
}

func (s *scanner) object() error {
	s.i++
	if s.space(); s.take('}') {
		s.endBlock()
		return nil
	}
	here := namesHere{first: len(s.names)}
	for {
		n, err := s.text()
		if err != nil {
			return err
		}
		if !s.addName(&here, n) {
			return errDuplicate
		}
		if s.space(); !s.take(':') {
			return errSyntax
		}
		s.space()
		if err := s.memberValue(n); err != nil {
			return err
		}
		s.space()
		if s.take('}') {
			s.leave(&here)
			s.endBlock()
			return nil
		}
		if !s.take(',') {
			return errSyntax
		}
		s.space()
	}
}

// memberValue scans the value of the member n. It calls handler with the members of the
// outermost object, and collects the names of the result.
func (s *scanner) memberValue(n name) error {
	raw := s.b[n.start-1 : n.end+1]
	if s.inResult {
		s.noteMember(raw)
	}
	if s.depth == resultDepth && s.peek() == 'n' {
		s.result.nulls = true
	}
	if s.inResult && s.isLink(n) {
		s.result.links = true
	}
	if s.inResult && s.isOwnName(n) {
		s.result.own = true
	}
	if s.depth > 1 || s.handler == nil {
		return s.value()
	}
	text := nameOf(raw)
	s.inResult = text == "result" && s.peek() == '{'
	start := s.i
	if err := s.value(); err != nil {
		return err
	}
	s.handler.member(text, s.b[start:s.i:s.i], s.result)
	s.inResult, s.result, s.blocks = false, Names{}, blocks{}
	return nil
}

// noteMember notes a member in the result, whose value is next.
func (s *scanner) noteMember(raw []byte) {
	switch s.depth {
	case resultDepth:
		s.result.add(raw)
		if s.blocks.in = blocksIn(raw, s.peek()); !usualValue(raw, s.peek()) {
			s.result.odd = true
		}
	case blocksDepth + 1:
		if s.blocks.in != noBlocks && !s.blocks.add(raw, s.b[s.i:]) {
			s.result.odd = true
		}
	}
}

// endBlock notes the end of an object, which may be a block.
func (s *scanner) endBlock() {
	if s.blocks.in != noBlocks && s.depth == blocksDepth+1 {
		if !s.blocks.end() {
			s.result.odd = true
		}
	}
}

// isLink reports whether the member n, whose value is next, may be the type of a block
// that names a resource.
func (s *scanner) isLink(n name) bool {
	if !n.escaped && string(s.b[n.start:n.end]) != "type" {
		return false
	}
	value, isText := bytes.CutPrefix(s.b[s.i:min(len(s.b), s.i+maxLinkType)], []byte(`"`))
	value, _, _ = bytes.Cut(value, []byte(`"`))
	return isText && (bytes.HasPrefix(value, []byte("resource")) || bytes.IndexByte(value, '\\') >= 0)
}

// maxLinkType is the length of a type that names a resource, with every character escaped.
const maxLinkType = 6 * len(`"resource_link"`)
