package catalog

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/junctor-mcp/junctor/host/mcp"
)

// Describe says how much of what a server says about its items reaches clients.
type Describe string

// The levels of description.
const (
	Full     Describe = "full"     // the default: without invisible characters, at most maxText bytes a text
	Brief    Describe = "brief"    // besides, one sentence for each item and argument
	Verbatim Describe = "verbatim" // as the server wrote it
)

const (
	maxText       = 16 << 10 // bytes of one text
	briefItem     = 300      // characters of an item's description
	briefArgument = 120      // characters of an argument's description
)

// item returns an item of a server with its texts as clients get them. Bytes
// that need no change stay as they are.
func (d Describe) item(kind string, raw []byte) []byte {
	if d == Verbatim || d != Brief && len(raw) <= maxText && plain(raw) {
		return raw
	}
	return mcp.RewriteMembers(raw, func(name string, value []byte) []byte {
		switch name {
		case "title":
			return d.text(value, maxText)
		case "name":
			if kind == resourceKind || kind == templateKind { // the others are called by it
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

// Kinds of items, as notes name them.
const (
	toolKind     = "tool"
	promptKind   = "prompt"
	resourceKind = "resource"
	templateKind = "resource template"
)

// members rewrites some texts of an object.
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

// plain reports whether JSON has nothing but visible ASCII, line ends and tabs in
// its strings. It is a cheap way to see that no text needs a change.
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

// text returns a JSON string as clients get it, anything else as it is. At the
// level Brief it has at most that many characters.
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

// Text returns a text of a server, such as its instructions, as clients get it.
func (d Describe) Text(text string) string {
	if d == Verbatim {
		return text
	}
	text = Visible(text)
	if len(text) <= maxText {
		return text
	}
	cut := maxText - len("…")
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + "…"
}

// firstSentence returns the beginning of a text up to the end of its first
// sentence or paragraph, at most so many characters.
func firstSentence(text string, most int) string {
	text = strings.TrimSpace(text)
	if end := sentenceEnd(text); end > 0 {
		text = strings.TrimSpace(text[:end])
	}
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	runes := []rune(text)[:most-1]
	return strings.TrimRightFunc(string(runes), unicode.IsSpace) + "…"
}

// sentenceEnd returns where the first sentence ends; 0 when there is one only.
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

// abbreviations end with a full stop that ends no sentence. Single letters and
// words with a full stop in them, such as "e.g", count as well.
var abbreviations = []string{"approx", "cf", "etc", "incl", "no", "resp", "vs"}

// abbreviated reports whether text ends in an abbreviation without its full stop.
func abbreviated(text string) bool {
	word := text[strings.LastIndexFunc(text, func(r rune) bool { return unicode.IsSpace(r) || r == '(' })+1:]
	for _, a := range abbreviations {
		if strings.EqualFold(word, a) {
			return true
		}
	}
	return len(word) == 1 || strings.Contains(word, ".")
}

// Where a schema holds other schemas: as the members of an object, or as the
// elements of an array or itself.
var (
	schemasByName = map[string]bool{
		"properties": true, "patternProperties": true, "$defs": true, "definitions": true, "dependentSchemas": true, "dependencies": true,
	}
	schemasWithin = map[string]bool{
		"items": true, "prefixItems": true, "additionalItems": true, "allOf": true, "anyOf": true, "oneOf": true, "not": true, "if": true,
		"then": true, "else": true, "contains": true, "additionalProperties": true, "propertyNames": true, "unevaluatedItems": true,
		"unevaluatedProperties": true, "contentSchema": true,
	}
)

// schema rewrites the texts of a schema that tell people what a value is for.
// The schema passed the scan of messages, which bounds its depth.
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

// disguised returns where a schema has characters that only hide something,
// other than in texts for people: a name or a value that cannot be changed
// without changing what the schema means. Empty is nowhere.
func disguised(raw []byte) (where string) {
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
