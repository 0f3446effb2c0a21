package catalog

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/truncate"
)

// Describe selects how much of a server's texts reaches clients. The values are words of the
// configuration language. The methods are pure.
type Describe string

// The levels of description.
const (
	Full     Describe = "full"     // the default: no invisible characters, at most maxText bytes per text
	Brief    Describe = "brief"    // like Full, with one sentence per item and argument
	Verbatim Describe = "verbatim" // unchanged
)

const (
	maxText       = 16 << 10 // bytes of one text
	briefItem     = 300      // characters of an item's description
	briefArgument = 120      // characters of an argument's description
)

// item returns an item with its texts as clients see them. Unchanged parts keep their
// bytes. newItem calls it.
func (d Describe) item(kind string, raw []byte) []byte {
	if d == Verbatim || d != Brief && len(raw) <= maxText && plain(raw) {
		return raw
	}
	return mcp.RewriteMembers(raw, func(name string, value []byte) []byte {
		switch name {
		case "title":
			return d.text(value, maxText)
		case "name":
			if kind == resourceKind || kind == templateKind { // other kinds are addressed by name
				return d.text(value, maxText)
			}
		case "description":
			return d.text(value, briefItem)
		case "annotations":
			return d.members(value, maxText, "title")
		case "arguments":
			return mcp.RewriteElements(value, func(argument []byte) []byte {
				return d.members(argument, briefArgument, "title", "description")
			})
		case "inputSchema", "outputSchema":
			return d.schema(value)
		}
		return value
	})
}

// The kinds of items in notes.
const (
	toolKind     = "tool"
	promptKind   = "prompt"
	resourceKind = "resource"
	templateKind = "resource template"
)

// members rewrites the named texts of an object.
func (d Describe) members(object []byte, brief int, names ...string) []byte {
	return mcp.RewriteMembers(object, func(name string, value []byte) []byte {
		for _, n := range names {
			if n == name {
				return d.text(value, brief)
			}
		}
		return value
	})
}

// plain reports whether the strings in raw contain only visible ASCII, newlines and
// tabs. It is a cheap check that no text needs a change.
func plain(raw []byte) bool {
	for i, c := range raw {
		switch {
		case c >= 0x7f:
			return false
		case c == '\\' && i+1 < len(raw) && (raw[i+1] == 'u' || raw[i+1] == 'b' || raw[i+1] == 'f' || raw[i+1] == 'r'):
			return false
		}
	}
	return true
}

// text rewrites a JSON string for clients and returns other values unchanged. At the
// level Brief the result has at most brief characters.
func (d Describe) text(raw []byte, brief int) []byte {
	was, ok := mcp.Text(raw)
	if !ok {
		return raw
	}
	is := d.Text(was)
	if d == Brief && brief < maxText {
		is = firstSentence(is, brief)
	}
	if is == was {
		return raw
	}
	return mcp.AppendText(nil, is)
}

// Text returns a text of a server, such as its instructions, as clients see it.
func (d Describe) Text(text string) string {
	if d == Verbatim {
		return text
	}
	text = Visible(text)
	if len(text) <= maxText {
		return text
	}
	return truncate.Bytes(text, maxText-len("…"))
}

// firstSentence returns the first sentence or paragraph of a text, at most most
// characters long.
func firstSentence(text string, most int) string {
	text = strings.TrimSpace(text)
	if end := sentenceEnd(text); end > 0 {
		text = strings.TrimSpace(text[:end])
	}
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return truncate.Runes(text, most-1)
}

// sentenceEnd returns the end of the first sentence, or 0 if there is only one.
func sentenceEnd(text string) int {
	for i, r := range text {
		rest := text[i+utf8.RuneLen(r):]
		switch r {
		case '\n':
			if strings.TrimLeft(rest, " \t\r") == "" || strings.HasPrefix(strings.TrimLeft(rest, " \t\r"), "\n") {
				return i
			}
		case '。', '！', '？':
			return i + utf8.RuneLen(r)
		case '.', '!', '?':
			next, _ := utf8.DecodeRuneInString(rest)
			if rest != "" && unicode.IsSpace(next) && (r != '.' || !abbreviated(text[:i])) {
				return i + 1
			}
		}
	}
	return 0
}

// abbreviations are words whose period does not end a sentence. Single letters and
// words with an inner period, such as "e.g", count as well.
var abbreviations = []string{"approx", "cf", "etc", "incl", "no", "resp", "vs"}

// abbreviated reports whether text ends with an abbreviation, without its period.
func abbreviated(text string) bool {
	word := text[strings.LastIndexFunc(text, func(r rune) bool { return unicode.IsSpace(r) || r == '(' })+1:]
	for _, a := range abbreviations {
		if strings.EqualFold(word, a) {
			return true
		}
	}
	return len(word) == 1 || strings.Contains(word, ".")
}

// Keywords whose value contains schemas: as members of an object (schemasByName), or as
// elements of an array or the value itself (schemasWithin).
var (
	schemasByName = map[string]bool{
		"properties": true, "patternProperties": true,
		"$defs": true, "definitions": true, "dependentSchemas": true, "dependencies": true,
	}
	schemasWithin = map[string]bool{
		"items": true, "prefixItems": true, "additionalItems": true,
		"allOf": true, "anyOf": true, "oneOf": true, "not": true, "if": true,
		"then": true, "else": true, "contains": true, "additionalProperties": true,
		"propertyNames": true, "unevaluatedItems": true,
		"unevaluatedProperties": true, "contentSchema": true,
	}
)

// schema rewrites the descriptive texts of a schema. The scan of messages bounds the
// schema's depth.
func (d Describe) schema(raw []byte) []byte {
	return mcp.RewriteMembers(raw, func(name string, value []byte) []byte {
		switch {
		case name == "description" || name == "$comment":
			return d.text(value, briefArgument)
		case name == "title":
			return d.text(value, maxText)
		case schemasByName[name]:
			return mcp.RewriteMembers(value, func(_ string, one []byte) []byte { return d.schema(one) })
		case schemasWithin[name] && bytes.HasPrefix(value, []byte("[")):
			return mcp.RewriteElements(value, d.schema)
		case schemasWithin[name]:
			return d.schema(value)
		}
		return value
	})
}

// hiddenCharacters returns the location of hidden characters in a schema outside of
// descriptive texts, or "". Removing them there would change the schema's meaning.
func hiddenCharacters(raw []byte) (where string) {
	if plain(raw) {
		return ""
	}
	return hiddenIn(raw, "")
}

func hiddenIn(raw []byte, at string) (where string) {
	if text, ok := mcp.Text(raw); ok {
		if invisible(text) {
			return at
		}
		return ""
	}
	for name, value := range mcp.Members(raw) {
		if where == "" && invisible(name) {
			where = at + "/" + Visible(name)
		}
		if where == "" {
			where = hiddenIn(value, at+"/"+name)
		}
	}
	for value := range mcp.Elements(raw) {
		if where == "" {
			where = hiddenIn(value, at)
		}
	}
	return where
}
