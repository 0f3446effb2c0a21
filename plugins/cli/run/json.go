package run

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// maxJSONDepth bounds the nesting of JSON from a program. The host accepts
// messages with 64 levels in all.
const maxJSONDepth = 48

// strictJSON returns JSON from a program on one line. It returns nil if text is not
// JSON, or if the host would reject it: nested too deeply, or with a duplicate
// name in an object.
func strictJSON(text []byte) json.RawMessage {
	text = bytes.TrimSpace(text)
	if !utf8.Valid(text) || !json.Valid(text) || !hostAccepts(text) {
		return nil
	}
	var b bytes.Buffer
	if json.Compact(&b, text) != nil {
		return nil
	}
	return b.Bytes()
}

// hostAccepts reports whether valid JSON is not nested too deeply and has no
// duplicate names.
func hostAccepts(text []byte) bool {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	type level struct {
		names map[string]bool // nil for an array
		value bool            // the next token is a value, not a name
	}
	var levels []level
	for {
		t, err := d.Token()
		if err != nil {
			return true // the end of the text
		}
		if n := len(levels); n > 0 && levels[n-1].names != nil && !levels[n-1].value {
			if name, ok := t.(string); ok {
				if levels[n-1].names[name] {
					return false
				}
				levels[n-1].names[name], levels[n-1].value = true, true
				continue
			}
		}
		switch t {
		case json.Delim('{'), json.Delim('['):
			if n := len(levels); n > 0 {
				levels[n-1].value = false
			}
			if len(levels) == maxJSONDepth {
				return false
			}
			l := level{}
			if t == json.Delim('{') {
				l.names = map[string]bool{}
			}
			levels = append(levels, l)
		case json.Delim('}'), json.Delim(']'):
			levels = levels[:len(levels)-1]
		default:
			if n := len(levels); n > 0 {
				levels[n-1].value = false
			}
		}
	}
}
