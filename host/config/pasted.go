package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/junctor-mcp/junctor/host/lazyregexp"
)

// pastedJSON recognizes the JSON configuration of an MCP client and returns a problem
// that shows its first server as HCL. It returns nil for other texts. The hint does
// not repeat values of variables and most arguments, which may be secrets.
func pastedJSON(s *source) *problem {
	text := bytes.TrimSpace(bytes.TrimPrefix(s.text, []byte("\uFEFF")))
	if len(text) == 0 || text[0] != '{' {
		return nil
	}
	p := &problem{ // without a source line, which may contain secrets
		at: hcl.Range{Filename: s.name}, summary: "this is JSON, and a configuration is written in HCL",
		hint: `write server "NAME" { transport "stdio" { command = [...] } }, each block on lines of its own`,
	}
	servers, key := clientServers(text)
	if len(servers) == 0 {
		return p
	}
	p.summary = fmt.Sprintf("this is the JSON configuration of an MCP client (%s), and one of Junctor is written in HCL", key)
	p.hint = "`junctor import FILE` converts such a file; each server becomes a block, such as\n" + servers[0]
	return p
}

// clientServers returns the servers of a client's configuration as HCL, and the key
// that holds them.
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

// plainArgument matches arguments that cannot be secrets.
var plainArgument = lazyregexp.New(`^(-[a-zA-Z]|--?[a-z][a-z-]{1,20}|run|exec|@[a-z0-9-]+/[a-z0-9._-]+)$`)

// serverBlock returns a server as HCL. A server without a command is remote.
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

var plainProgram = lazyregexp.New(`^[A-Za-z0-9._/-]+$`)

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
		r.warnAt(e.SrcRange, hint, "no shell fills in $%s: the text is sent unchanged", found[1])
		return nil
	})
}
