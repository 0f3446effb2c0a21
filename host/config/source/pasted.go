package source

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/junctor-mcp/junctor/host/config/language"
	"github.com/junctor-mcp/junctor/host/lazyregexp"
)

// clientMembers are the members that hold the servers in JSON files of MCP clients.
var clientMembers = []string{"mcpServers", "servers", "mcp_servers", "context_servers", "mcp"}

// pastedJSON recognizes a file that is the JSON configuration of an MCP client, or other
// JSON. It returns nil for other texts. The problem has no source line, which may contain
// secrets. Set.Parse calls it for a file with errors.
func (s *Set) pastedJSON(f *File) *language.Problem {
	text := bytes.TrimSpace(bytes.TrimPrefix(f.Text, []byte("\uFEFF")))
	if len(text) == 0 || text[0] != '{' {
		return nil
	}
	var object map[string]json.RawMessage
	if end := objectEnd(text); end == len(text) && json.Unmarshal(text, &object) == nil {
		for _, name := range clientMembers {
			if value := bytes.TrimSpace(object[name]); len(value) > 0 && value[0] == '{' {
				return s.clientJSON(hcl.Range{Filename: f.Name}, name, "", text)
			}
		}
	} else if p := s.pastedInside(f, hcl.Range{}); p != nil {
		return p
	}
	return &language.Problem{
		At: hcl.Range{Filename: f.Name}, Summary: "this is JSON, and a configuration is written in HCL",
		Hint: `write server "NAME" { transport "stdio" { command = [...] } }, each block on lines of its own`,
	}
}

// clientJSON returns the problem of a client's configuration. The hint has its servers as
// HCL, if the caller of Load can convert them.
func (s *Set) clientJSON(at hcl.Range, member, from string, text []byte) *language.Problem {
	p := &language.Problem{At: at, Summary: fmt.Sprintf(
		"this is the JSON configuration of an MCP client (%s)%s, and one of Junctor is written in HCL", member, from,
	)}
	p.Hint = "`junctor import FILE` converts such a file"
	if s.Pasted == nil {
		return p
	}
	if blocks := strings.TrimSpace(s.Pasted(text)); blocks != "" {
		p.Hint = "write in its place:\n    " + strings.ReplaceAll(blocks, "\n", "\n    ") +
			"\n  `junctor import FILE` converts such a file, and stores its secrets"
	}
	return p
}

// memberLine matches the line with which the JSON of a client begins between blocks.
var memberLine = lazyregexp.New(`(?m)^[ \t]*(\{\s*)?"(mcpServers|servers|mcp_servers|context_servers)"[ \t]*:[ \t]*\{`)

// pastedInside recognizes the JSON configuration of a client between blocks, where the error
// of a parser is. An empty range stands for any place.
func (s *Set) pastedInside(f *File, wrong hcl.Range) *language.Problem {
	at := memberLine.FindStringSubmatchIndex(string(f.Text))
	if at == nil {
		return nil
	}
	start, member := at[0], string(f.Text[at[4]:at[5]])
	text := f.Text[at[1]-1:] // from the brace of the servers
	if at[2] >= 0 {
		text = f.Text[at[2]:]
	}
	end := objectEnd(text)
	if end < 0 {
		return nil
	}
	if wrong != (hcl.Range{}) && (wrong.Start.Byte < start || wrong.Start.Byte > len(f.Text)-len(text)+end) {
		return nil
	}
	text = text[:end]
	if at[2] < 0 {
		text = fmt.Appendf(nil, `{%q: %s}`, member, text)
	}
	line := bytes.Count(f.Text[:start], []byte("\n")) + 1
	return s.clientJSON(hcl.Range{Filename: f.Name}, member, fmt.Sprintf(" from line %d on", line), text)
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
