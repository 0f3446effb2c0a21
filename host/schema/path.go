package schema

import (
	"strconv"
	"strings"

	"github.com/junctor-mcp/junctor/host/truncate"
)

// path formats a place: repo.owner, items[3].name. Problems have this form, and callers match
// it with the names of arguments.
func (x explainer) path(loc []string) string {
	var b strings.Builder
	v := x.instance
	for _, token := range loc {
		switch at := v.(type) {
		case []any:
			b.WriteString("[" + token + "]")
			v = nil
			if i, err := strconv.Atoi(token); err == nil && i < len(at) {
				v = at[i]
			}
			continue
		case map[string]any:
			v = at[token]
		}
		writeName(&b, token)
	}
	return b.String()
}

// got returns the value at a place. It is used for comparisons and never shown.
func (x explainer) got(loc []string) any {
	v := x.instance
	for _, token := range loc {
		switch at := v.(type) {
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i >= len(at) {
				return nil
			}
			v = at[i]
		case map[string]any:
			v = at[token]
		}
	}
	return v
}

func writeName(b *strings.Builder, name string) {
	if !plain(name) {
		b.WriteString("[" + quote(name, 64) + "]")
		return
	}
	if b.Len() > 0 {
		b.WriteByte('.')
	}
	b.WriteString(name)
}

// plain reports whether a name needs no quotes in a path.
func plain(name string) bool {
	if name == "" || len(name) > 64 {
		return false
	}
	for _, c := range []byte(name) {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '_', c == '-', c == '$', c == '@':
		default:
			return false
		}
	}
	return true
}

func quoteName(name string) string { return quote(name, 64) }

// quote truncates and quotes an untrusted text.
func quote(s string, most int) string {
	if len(s) > most {
		s = shorten(s, most)
	}
	return strconv.QuoteToGraphic(s)
}

// shorten truncates a text and replaces invisible characters by a dot. The functions of this
// file are pure; all messages of the package use them.
func shorten(s string, most int) string {
	return strings.Map(func(r rune) rune {
		if !strconv.IsGraphic(r) {
			return '·'
		}
		return r
	}, truncate.Bytes(s, most))
}

// compareTokens orders path elements: indexes numerically, then names.
func compareTokens(a, b string) int {
	na, nb := digits(a), digits(b)
	switch {
	case na && nb && len(a) != len(b):
		return len(a) - len(b)
	case na && !nb:
		return -1
	case nb && !na:
		return 1
	}
	return strings.Compare(a, b)
}

func digits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}
