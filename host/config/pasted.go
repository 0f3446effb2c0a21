package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// What people bring along from elsewhere is not HCL: the JSON of a client, and
// the variables of a shell.

// pasted recognises a client's JSON configuration, and says how its first
// servers are written here. Values of variables and most arguments may be
// secrets, so they are not repeated.
func pasted(s *source) *problem {
	text := bytes.TrimSpace(bytes.TrimPrefix(s.text, []byte("\uFEFF")))
	if len(text) == 0 || text[0] != '{' {
		return nil
	}
	p := &problem{ // without a line, which could hold secrets
		at: hcl.Range{Filename: s.name}, summary: "this is JSON, and a configuration is written in HCL",
		hint: `write server "NAME" { transport "stdio" { command = [...] } }, each block on lines of its own`,
	}
	servers, key := clientServers(text)
	if len(servers) == 0 {
		return p
	}
	p.summary = fmt.Sprintf("this is the JSON configuration of an MCP client (%s), and one of Junctor is written in HCL", key)
	p.hint = "write each server as a block, such as\n" + servers[0]
	return p
}

// clientServers writes the servers of a client's configuration as HCL.
func clientServers(text []byte) (blocks []string, key string) {
	type server struct {
		Command string                     `json:"command"`
		Args    []string                   `json:"args"`
		Env     map[string]json.RawMessage `json:"env"`
		URL     string                     `json:"url"`
	}
	var file map[string]json.RawMessage
	if json.Unmarshal(text, &file) != nil {
		return nil, ""
	}
	for _, key := range []string{"mcpServers", "servers", "mcp_servers", "context_servers", "mcp"} {
		var servers map[string]server
		if json.Unmarshal(file[key], &servers) != nil {
			continue
		}
		for name, s := range servers {
			if s.Command == "" && s.URL == "" || !labelRule.MatchString(name) {
				continue
			}
			blocks = append(blocks, serverBlock(name, s.Command, s.Args, slices.Sorted(keysOf(s.Env))))
		}
		slices.Sort(blocks)
		return blocks, key
	}
	return nil, ""
}

func keysOf(m map[string]json.RawMessage) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if envRule.MatchString(k) && !yield(k) {
				return
			}
		}
	}
}

// plainArgument is an argument that is certainly no secret.
var plainArgument = regexp.MustCompile(`^(-[a-zA-Z]|--?[a-z][a-z-]{1,20}|run|exec|@[a-z0-9-]+/[a-z0-9._-]+)$`)

// serverBlock writes a server; one without a command is somewhere else.
func serverBlock(name, command string, args, env []string) string {
	var b strings.Builder
	if command == "" {
		fmt.Fprintf(&b, "    server %q {\n      transport \"http\" {\n        url = \"...\"\n      }\n    }", name)
		return b.String()
	}
	words := []string{fmt.Sprintf("%q", command)}
	if len(command) > 64 || !plainProgram.MatchString(command) {
		words[0] = `"..."`
	}
	for _, a := range args {
		if !plainArgument.MatchString(a) {
			words = append(words, `"..."`)
			break
		}
		words = append(words, fmt.Sprintf("%q", a))
	}
	fmt.Fprintf(&b, "    server %q {\n      transport \"stdio\" {\n        command = [%s]\n", name, strings.Join(words, ", "))
	if len(env) > 0 {
		fmt.Fprintf(&b, "        env     = { %s = env(%q) }\n", env[0], env[0])
	}
	b.WriteString("      }\n    }")
	return b.String()
}

var plainProgram = regexp.MustCompile(`^[A-Za-z0-9._/-]+$`)

// shellVariable is a variable as shells write it: $TOKEN or ${TOKEN}. In HCL the
// latter never gets here: it is a reference.
var shellVariable = regexp.MustCompile(`\$([A-Z_][A-Z0-9_]{1,63})\b`)

// schemeVariable is one behind the scheme of a header, which is no secret.
var schemeVariable = regexp.MustCompile(`^(?:(Bearer|Basic|Token|token) )?\$([A-Z_][A-Z0-9_]{1,63})$`)

// shellVariables warns of texts that look as if a shell were to fill them in.
// There is none, so they are sent as they stand.
//
// A sensitive text may be a password with such letters in it, so it has to be
// nothing else: a variable alone, or behind the scheme of a header.
func (s blockReader) shellVariables(attr *hclsyntax.Attribute, want cty.Type, sensitive bool) {
	if want.IsListType() || want.IsTupleType() {
		return // arguments, which may be for a shell
	}
	_ = hclsyntax.VisitAll(attr.Expr, func(node hclsyntax.Node) hcl.Diagnostics {
		e, ok := node.(*hclsyntax.TemplateExpr)
		if !ok {
			return nil
		}
		text, ok := literal(e)
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
		s.doubtful(e.SrcRange, hint, "no shell fills in $%s: the text is sent as it stands", found[1])
		return nil
	})
}
