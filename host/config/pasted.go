package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/junctor-mcp/junctor/host/config/language"
	"github.com/junctor-mcp/junctor/host/lazyregexp"
)

// clientMembers are the members that hold the servers in JSON files of MCP clients.
var clientMembers = []string{"mcpServers", "servers", "mcp_servers", "context_servers", "mcp"}

// pastedJSON recognizes a file that is the JSON configuration of an MCP client, or other
// JSON. It returns nil for other texts. The problem has no source line, which may contain
// secrets.
func (l *loader) pastedJSON(s *source) *language.Problem {
	text := bytes.TrimSpace(bytes.TrimPrefix(s.text, []byte("\uFEFF")))
	if len(text) == 0 || text[0] != '{' {
		return nil
	}
	var file map[string]json.RawMessage
	if end := objectEnd(text); end == len(text) && json.Unmarshal(text, &file) == nil {
		for _, name := range clientMembers {
			if value := bytes.TrimSpace(file[name]); len(value) > 0 && value[0] == '{' {
				return l.clientJSON(hcl.Range{Filename: s.name}, name, "", text)
			}
		}
	} else if p := l.pastedInside(s, hcl.Range{}); p != nil {
		return p
	}
	return &language.Problem{
		At: hcl.Range{Filename: s.name}, Summary: "this is JSON, and a configuration is written in HCL",
		Hint: `write server "NAME" { transport "stdio" { command = [...] } }, each block on lines of its own`,
	}
}

// clientJSON returns the problem of a client's configuration. The hint has its servers as
// HCL, if the caller of Load can convert them.
func (l *loader) clientJSON(at hcl.Range, member, from string, text []byte) *language.Problem {
	p := &language.Problem{At: at, Summary: fmt.Sprintf("this is the JSON configuration of an MCP client (%s)%s, and one of Junctor is written in HCL", member, from)}
	p.Hint = "`junctor import FILE` converts such a file"
	if l.Pasted == nil {
		return p
	}
	if blocks := strings.TrimSpace(l.Pasted(text)); blocks != "" {
		p.Hint = "write in its place:\n    " + strings.ReplaceAll(blocks, "\n", "\n    ") + "\n  `junctor import FILE` converts such a file, and stores its secrets"
	}
	return p
}

// memberLine matches the line with which the JSON of a client begins between blocks.
var memberLine = lazyregexp.New(`(?m)^[ \t]*(\{\s*)?"(mcpServers|servers|mcp_servers|context_servers)"[ \t]*:[ \t]*\{`)

// pastedInside recognizes the JSON configuration of a client between blocks, where the error
// of a parser is. An empty range stands for any place.
func (l *loader) pastedInside(s *source, wrong hcl.Range) *language.Problem {
	at := memberLine.FindStringSubmatchIndex(string(s.text))
	if at == nil {
		return nil
	}
	start, member := at[0], string(s.text[at[4]:at[5]])
	text := s.text[at[1]-1:] // from the brace of the servers
	if at[2] >= 0 {
		text = s.text[at[2]:]
	}
	end := objectEnd(text)
	if end < 0 {
		return nil
	}
	if wrong != (hcl.Range{}) && (wrong.Start.Byte < start || wrong.Start.Byte > len(s.text)-len(text)+end) {
		return nil
	}
	text = text[:end]
	if at[2] < 0 {
		text = fmt.Appendf(nil, `{%q: %s}`, member, text)
	}
	line := bytes.Count(s.text[:start], []byte("\n")) + 1
	return l.clientJSON(hcl.Range{Filename: s.name}, member, fmt.Sprintf(" from line %d on", line), text)
}

// objectEnd returns the length of the object that a text of JSON with comments begins with,
// or -1.
func objectEnd(text []byte) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		case '/':
			if line := bytes.IndexByte(text[i:], '\n'); line >= 0 && bytes.HasPrefix(text[i:], []byte("//")) {
				i += line
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return -1
}

// shellVariable matches a variable in shell notation, $TOKEN. In HCL ${TOKEN} is a
// reference, which eval reports.
var shellVariable = lazyregexp.New(`\$([A-Z_][A-Z0-9_]{1,63})\b`)

// schemeVariable matches a text that is a variable, possibly after the scheme of an
// Authorization header.
var schemeVariable = lazyregexp.New(`^(?:(Bearer|Basic|Token|token) )?\$([A-Z_][A-Z0-9_]{1,63})$`)

// shellVariables warns of variables in shell notation, because no shell expands them.
//
// A sensitive text may be a password that looks like a variable. Such a text is
// reported only if it matches schemeVariable as a whole.
func (r blockReader) shellVariables(attr *hclsyntax.Attribute, want cty.Type, sensitive bool) {
	if want.IsListType() || want.IsTupleType() {
		return // arguments may be a shell command
	}
	_ = hclsyntax.VisitAll(attr.Expr, func(node hclsyntax.Node) hcl.Diagnostics {
		e, ok := node.(*hclsyntax.TemplateExpr)
		if !ok {
			return nil
		}
		text, ok := language.Literal(e)
		found := shellVariable.FindStringSubmatch(text)
		if !ok || found == nil {
			return nil
		}
		whole := schemeVariable.FindStringSubmatch(text)
		if sensitive && whole == nil {
			return nil
		}
		hint := fmt.Sprintf(`write ${env(%q)} in its place`, found[1])
		if whole != nil && whole[1] != "" {
			hint = fmt.Sprintf(`write "%s ${env(%q)}"`, whole[1], whole[2])
		} else if whole != nil {
			hint = fmt.Sprintf("write env(%q), without quotes", whole[2])
		}
		r.WarnAt(e.SrcRange, hint, "no shell fills in $%s: the text is sent unchanged", found[1])
		return nil
	})
}
