package mcp

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// A node is a JSON value as the reference parser reads it: its position and its
// members or elements in order.
type node struct {
	kind       byte // '{', '[', '"', '0' for a number, 'l' for a literal
	start, end int
	members    []member
	elements   []*node
}

type member struct {
	name  string // with each lone surrogate as U+FFFD
	value *node
}

// A slowParser parser is a recursive-descent parser for strict JSON. It is the oracle
// for the scan and was written only from RFC 8259 and the rules of Scan.
type slowParser struct {
	b []byte
	i int
}

// parseReference parses b by the rules of Scan. ok is false if b is invalid.
func parseReference(b []byte) (root *node, ok bool) {
	if !utf8.Valid(b) {
		return nil, false
	}
	p := &slowParser{b: b}
	p.space()
	root, ok = p.value(0)
	p.space()
	return root, ok && p.i == len(b)
}

func (p *slowParser) space() {
	for p.i < len(p.b) && strings.IndexByte(" \t\r\n", p.b[p.i]) >= 0 {
		p.i++
	}
}

func (p *slowParser) take(c byte) bool {
	if p.i < len(p.b) && p.b[p.i] == c {
		p.i++
		return true
	}
	return false
}

func (p *slowParser) value(depth int) (*node, bool) {
	if p.i == len(p.b) {
		return nil, false
	}
	n := &node{kind: p.b[p.i], start: p.i}
	ok := false
	switch c := p.b[p.i]; {
	case c == '{':
		ok = depth < MaxDepth && p.object(n, depth+1)
	case c == '[':
		ok = depth < MaxDepth && p.array(n, depth+1)
	case c == '"':
		_, ok = p.text()
	case c == '-' || c >= '0' && c <= '9':
		n.kind = '0'
		ok = p.number()
	default:
		n.kind = 'l'
		for _, word := range []string{"true", "false", "null"} {
			if strings.HasPrefix(string(p.b[p.i:]), word) {
				p.i += len(word)
				ok = true
				break
			}
		}
	}
	n.end = p.i
	return n, ok
}

func (p *slowParser) object(n *node, depth int) bool {
	p.i++
	p.space()
	if p.take('}') {
		return true
	}
	for {
		name, ok := p.text()
		if !ok {
			return false
		}
		for _, m := range n.members {
			if m.name == name {
				return false
			}
		}
		p.space()
		if !p.take(':') {
			return false
		}
		p.space()
		v, ok := p.value(depth)
		if !ok {
			return false
		}
		n.members = append(n.members, member{name, v})
		p.space()
		if p.take('}') {
			return true
		}
		if !p.take(',') {
			return false
		}
		p.space()
	}
}

func (p *slowParser) array(n *node, depth int) bool {
	p.i++
	p.space()
	if p.take(']') {
		return true
	}
	for {
		v, ok := p.value(depth)
		if !ok {
			return false
		}
		n.elements = append(n.elements, v)
		p.space()
		if p.take(']') {
			return true
		}
		if !p.take(',') {
			return false
		}
		p.space()
	}
}

// text reads a string and returns its unescaped value.
func (p *slowParser) text() (string, bool) {
	if !p.take('"') {
		return "", false
	}
	var units []uint16
	for p.i < len(p.b) {
		c := p.b[p.i]
		switch {
		case c == '"':
			p.i++
			return string(utf16.Decode(units)), true
		case c < 0x20:
			return "", false
		case c == '\\':
			u, ok := p.escape()
			if !ok {
				return "", false
			}
			units = append(units, u)
		default:
			r, n := utf8.DecodeRune(p.b[p.i:])
			units = utf16.AppendRune(units, r)
			p.i += n
		}
	}
	return "", false
}

func (p *slowParser) escape() (uint16, bool) {
	p.i++
	if p.i == len(p.b) {
		return 0, false
	}
	c := p.b[p.i]
	p.i++
	if i := strings.IndexByte(`"\/bfnrt`, c); i >= 0 {
		return uint16("\"\\/\b\f\n\r\t"[i]), true
	}
	if c != 'u' || p.i+4 > len(p.b) {
		return 0, false
	}
	var u uint16
	for _, c := range p.b[p.i : p.i+4] {
		d := strings.IndexByte("0123456789abcdef", c|0x20)
		if d < 0 || c < '0' {
			return 0, false
		}
		u = u<<4 | uint16(d)
	}
	p.i += 4
	return u, true
}

func (p *slowParser) number() bool {
	start := p.i
	p.take('-')
	if !p.take('0') && !p.digits() {
		return false
	}
	if p.take('.') && !p.digits() {
		return false
	}
	if p.take('e') || p.take('E') {
		if !p.take('+') {
			p.take('-')
		}
		if !p.digits() {
			return false
		}
	}
	_, err := strconv.ParseFloat(string(p.b[start:p.i]), 64)
	return err == nil
}

func (p *slowParser) digits() bool {
	start := p.i
	for p.i < len(p.b) && p.b[p.i] >= '0' && p.b[p.i] <= '9' {
		p.i++
	}
	return p.i > start
}
