package config

import (
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/junctor-mcp/junctor/sdk"
)

// headers checks a map of HTTP headers: the names and values that HTTP can carry,
// and each name once. Which headers the transport sets itself is for the plugin to
// say. marked says that something in the map came from outside, so that no name
// is repeated.
func (s blockReader) headers(a sdk.Attribute, attr *hclsyntax.Attribute, v cty.Value, marked bool) {
	first := map[string]bool{}
	for it := v.ElementIterator(); it.Next(); {
		key, value := it.Element()
		name := key.AsString()
		at := locate(attr.Expr, stepsOf(cty.Path{cty.IndexStep{Key: key}}))
		called := notThat(name, marked || a.Sensitive)
		switch lower := strings.ToLower(name); {
		case !headerName(name):
			s.wrong(at, "", "a name in %q must be the name of a header: letters, digits, - and few others%s", a.Name, called)
			continue
		case first[lower]:
			s.wrong(at, "keep one of them", "%q has a header twice, in different spellings", a.Name)
		default:
			first[lower] = true
		}
		if value.IsNull() {
			continue // reported already
		}
		if _, late := s.keyring.in(value); !late && strings.ContainsFunc(value.AsString(), notInHeader) {
			hint := ""
			if strings.HasSuffix(value.AsString(), "\n") {
				hint = "trimspace() removes the line end"
			}
			s.wrong(at, hint, "a value in %q has a character that a header cannot hold: only visible ASCII, spaces and tabs", a.Name)
		}
	}
}

// headerName reports whether s can be the name of a header (RFC 9110 §5.6.2).
func headerName(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("!#$%&'*+-.^_`|~", r))
	})
}

// notInHeader reports whether a header's value cannot hold a rune.
func notInHeader(r rune) bool { return r != '\t' && (r < 0x20 || r > 0x7e) }
