package approval

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/secretname"
	"github.com/junctor-mcp/junctor/host/visible"
)

// maxShown bounds the arguments that a person is shown, in bytes. Those of a call that can
// wait are shorter.
const maxShown = 4 * maxKept

// Show returns arguments for a person: indented JSON in which members whose names sound
// like secrets are masked, and only characters that are invisible or change the direction
// of text are escaped, whatever the client escaped. hide masks further secrets; nil: there are
// none. The functions of this file are pure. The audit log and the console use them, too.
func Show(arguments []byte, hide func(string) string) string {
	if len(arguments) == 0 {
		return "{}"
	}
	var b bytes.Buffer
	if json.Indent(&b, unescape(maskMembers(arguments, 0)), "", "  ") != nil {
		return "arguments that are not valid"
	}
	text := b.String()
	left := max(len(text)-maxShown-longestSecret, 0) // bytes that are not looked at
	if text = text[:len(text)-left]; hide != nil {
		text = hide(text)
	}
	if len(text)+left > maxShown {
		shown := min(len(text), maxShown)
		text = strings.ToValidUTF8(text[:shown], "") + fmt.Sprintf("\n… and %d bytes more", len(text)-shown+left)
	}
	return Visible(text)
}

// longestSecret is the length in bytes of a secret that is masked at the end of a text that
// is cut.
const longestSecret = 16 << 10

// unescape returns JSON without the escapes that its strings do not need: a person cannot
// read "\u0072\u006d", and hide does not find a secret in it. Strings that are no valid text
// stay as they are.
func unescape(value []byte) []byte {
	var out []byte
	for {
		start := bytes.IndexByte(value, '"')
		if start < 0 {
			return append(out, value...)
		}
		end := start + 1
		for end < len(value) && value[end] != '"' {
			if value[end] == '\\' {
				end++
			}
			end++
		}
		end = min(end+1, len(value))
		out = append(append(out, value[:start]...), plainString(value[start:end])...)
		value = value[end:]
	}
}

// plainString returns a JSON string with as few escapes as possible.
func plainString(quoted []byte) []byte {
	var text string
	if !bytes.Contains(quoted, []byte{'\\'}) || json.Unmarshal(quoted, &text) != nil ||
		strings.ContainsRune(text, utf8.RuneError) {
		return quoted
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(text) != nil {
		return quoted
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// Mask returns JSON for a record: compact, with members masked as by Show. hide masks
// further secrets; nil: there are none. If that leaves no JSON, because a secret is a number,
// the result is a JSON string.
func Mask(value []byte, hide func(string) string) []byte {
	var b bytes.Buffer
	if json.Compact(&b, maskMembers(value, 0)) != nil {
		return mask(value)
	}
	if hide == nil {
		return b.Bytes()
	}
	text := hide(b.String())
	if !json.Valid([]byte(text)) {
		return mcp.AppendText(nil, text)
	}
	return []byte(text)
}

// maxDepth bounds the nesting in which members are masked by their names. What is deeper
// is masked as a whole.
const maxDepth = 16

// mask returns a text in place of a value, with its length: the reader sees that something
// is hidden, and how much.
func mask(value []byte) []byte {
	return fmt.Appendf(nil, `"*** (%d bytes hidden)"`, len(value))
}

func maskMembers(value []byte, depth int) []byte {
	switch {
	case len(value) == 0 || value[0] != '{' && value[0] != '[':
		return value
	case depth == maxDepth:
		return mask(value)
	case value[0] == '[':
		return mcp.RewriteElements(value, func(one []byte) []byte { return maskMembers(one, depth+1) })
	}
	return mcp.RewriteMembers(value, func(name string, one []byte) []byte {
		if secretname.Sounds(name) {
			return mask(one)
		}
		return maskMembers(one, depth+1)
	})
}

// Visible escapes the characters of a text that are invisible, control a terminal or
// change the direction of text, but for line breaks.
func Visible(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == '\n' || r == ' ' ||
			unicode.IsPrint(r) && !visible.Hidden(r) && !unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
			b.WriteRune(r)
		case r > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}
