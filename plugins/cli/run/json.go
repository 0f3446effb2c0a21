package run

import (
	"bytes"
	"encoding/json"
	"fmt"
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

// readJSON returns one JSON value on one line, or why there is none.
func readJSON(text []byte) (value json.RawMessage, problem string) {
	if value = strictJSON(text); value != nil {
		return value, ""
	}
	var any json.RawMessage
	if err := json.Unmarshal(text, &any); err != nil {
		return nil, "it is no JSON: " + err.Error()
	}
	return nil,
		fmt.Sprintf("it is JSON that clients refuse: it is not UTF-8, has more than %d levels, or has a name twice in an object",
			maxJSONDepth)
}

// plainJSON returns a JSON value for people: a string without its quotes.
func plainJSON(value json.RawMessage) string {
	var text string
	if len(value) > 0 && value[0] == '"' && json.Unmarshal(value, &text) == nil && text != "" {
		return text
	}
	return string(value)
}

// mustJSON encodes strings, lists of strings and valid JSON.
func mustJSON(v any) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // these can always be encoded
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
