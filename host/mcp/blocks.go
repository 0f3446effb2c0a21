package mcp

import "bytes"

// While a result is scanned, the scanner notes whether it has anything but blocks that
// clients of every revision can read. Only other results are looked at again, by package
// shape. A result that is odd here may be in order; one that is not odd is.

// The depths of a result, and of the list of its blocks.
const (
	resultDepth = 2
	blocksDepth = 3
)

// The lists of blocks.
const (
	noBlocks   = iota
	inContent  // of a tool
	inContents // of a resource
)

// blocks is the state of the scan in a list of blocks. It is part of a scanner, and has its one
// user.
type blocks struct {
	in   int
	kind byte   // 't' for a text, 'i' for an image; 0: unknown
	has  uint16 // bits of the members of the block
}

const (
	hasText = 1 << iota
	hasData
	hasType
	hasURI
	hasBlob
)

// blocksIn returns the list of blocks that a member of a result has.
func blocksIn(name []byte, first byte) int {
	switch {
	case first != '[':
	case string(name) == `"content"`:
		return inContent
	case string(name) == `"contents"`:
		return inContents
	}
	return noBlocks
}

// usualValue reports whether the value of a member of a result, which begins with first,
// is of the type that every revision allows. Members with an unusual spelling are odd.
func usualValue(name []byte, first byte) bool {
	switch string(name) {
	case `"content"`, `"contents"`:
		return first == '['
	case `"structuredContent"`, `"_meta"`:
		return first == '{'
	case `"isError"`:
		return first == 't' || first == 'f'
	}
	return !hasEscape(name)
}

// add notes a member of a block. rest begins with its value. add returns false if the
// member is none of a plain block.
func (k *blocks) add(name, rest []byte) bool {
	if len(rest) == 0 || rest[0] != '"' {
		return false
	}
	switch string(name) {
	case `"type"`:
		switch {
		case bytes.HasPrefix(rest, []byte(`"text"`)):
			k.kind = 't'
		case bytes.HasPrefix(rest, []byte(`"image"`)):
			k.kind = 'i'
		default:
			return false
		}
	case `"text"`:
		k.has |= hasText
	case `"data"`:
		k.has |= hasData
		return quotedBase64(rest)
	case `"mimeType"`:
		k.has |= hasType
	case `"uri"`:
		k.has |= hasURI
		return k.in != inContents || hasScheme(rest[1:])
	case `"blob"`:
		k.has |= hasBlob
		return quotedBase64(rest)
	default:
		return false
	}
	return true
}

// end reports whether the block that ends is plain, and begins another.
func (k *blocks) end() bool {
	kind, has := k.kind, k.has
	k.kind, k.has = 0, 0
	switch {
	case k.in == inContents:
		return has&hasURI != 0 && has&(hasText|hasBlob) != 0
	case kind == 't':
		return has&hasText != 0
	case kind == 'i':
		return has&hasData != 0 && has&hasType != 0
	}
	return false
}

// maxScheme bounds the search for the colon behind the scheme of a URI.
const maxScheme = 32

// hasScheme reports whether a URI begins with a scheme of letters, and has no host, which
// could be invalid.
func hasScheme(uri []byte) bool {
	for i, c := range uri[:min(len(uri), maxScheme)] {
		if c |= 0x20; c >= 'a' && c <= 'z' {
			continue
		}
		rest, ok := bytes.CutPrefix(uri[i:], []byte(":"))
		return ok && i > 0 && (!bytes.HasPrefix(rest, []byte("//")) || bytes.HasPrefix(rest, []byte("///")))
	}
	return false
}
