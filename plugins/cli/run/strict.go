package run

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// deepest is how deep JSON may be that becomes a part of a message, which may
// be 64 deep in all.
const deepest = 48

// compact returns JSON that a program printed, on one line, or nil when it is
// not JSON, or JSON that the host would refuse: too deep, or with a name twice
// in an object.
func compact(text []byte) json.RawMessage {
	text = bytes.TrimSpace(text)
	if !utf8.Valid(text) || !json.Valid(text) || !unambiguous(text) {
		return nil
	}
	var b bytes.Buffer
	if json.Compact(&b, text) != nil {
		return nil
	}
	return b.Bytes()
}

// unambiguous walks through valid JSON.
func unambiguous(text []byte) bool {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	type level struct {
		names map[string]bool // nil in an array
		value bool            // a value follows, not a name
	}
	var levels []level
	for {
		t, err := d.Token()
		if err != nil {
			return true // the end
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
			if len(levels) == deepest {
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
