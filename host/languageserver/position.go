package languageserver

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// A position is a place in a text: a line from 0 on, and the number of UTF-16 code units
// before it in the line. It is a value.
type position struct {
	Line      int `json:"line"`
	Character int `json:"character"`
}

// A span is the text between two positions.
type span struct {
	Start position `json:"start"`
	End   position `json:"end"`
}

// offsetOf returns the byte offset of a position. A position behind the end of a line is the
// end of the line, and one behind the last line the end of the text.
func offsetOf(text []byte, p position) int {
	offset := 0
	for range p.Line {
		end := lineEnd(text, offset)
		if end == len(text) {
			return end
		}
		offset = end + 1
		if text[end] == '\r' && offset < len(text) && text[offset] == '\n' {
			offset++
		}
	}
	end := lineEnd(text, offset)
	for units := 0; offset < end; {
		r, size := utf8.DecodeRune(text[offset:end])
		units += utf16.RuneLen(r)
		if units > p.Character {
			break
		}
		offset += size
	}
	return offset
}

// lineEnd returns the offset of the next line end, or of the end of the text.
func lineEnd(text []byte, from int) int {
	if i := bytes.IndexAny(text[from:], "\r\n"); i >= 0 {
		return from + i
	}
	return len(text)
}

// positionOf returns the position of a byte offset.
func positionOf(text []byte, offset int) position {
	offset = min(max(offset, 0), len(text))
	var p position
	start := 0
	for {
		end := lineEnd(text, start)
		if end >= offset || end == len(text) {
			break
		}
		next := end + 1
		if text[end] == '\r' && next < len(text) && text[next] == '\n' {
			next++
		}
		if next > offset { // between \r and \n
			offset = end
			break
		}
		p.Line, start = p.Line+1, next
	}
	for _, r := range string(text[start:max(offset, start)]) {
		p.Character += utf16.RuneLen(r)
	}
	return p
}

// spanOf returns the span between two byte offsets.
func spanOf(text []byte, from, to int) span {
	return span{Start: positionOf(text, from), End: positionOf(text, max(from, to))}
}
