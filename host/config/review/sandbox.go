package review

import (
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/junctor-mcp/junctor/host/config/language"
	"github.com/junctor-mcp/junctor/host/config/source"
	"github.com/junctor-mcp/junctor/sdk/sandbox"
)

// needs adds what the sandbox lets the programs of a transport block and of its tools reach
// because they are known programs.
func (o *outliner) needs(body *hclsyntax.Body) {
	for _, b := range withTools(body) {
		o.needsOf(b)
	}
}

// withTools returns the bodies of a transport block and of its tool blocks.
func withTools(body *hclsyntax.Body) []*hclsyntax.Body {
	bodies := []*hclsyntax.Body{body}
	for _, b := range body.Blocks {
		if b.Type == "tool" {
			bodies = append(bodies, b.Body)
		}
	}
	return bodies
}

// needsOf is needs for the command of one block.
func (o *outliner) needsOf(body *hclsyntax.Body) {
	command := body.Attributes["command"]
	if command == nil {
		return
	}
	first, rest, ok := firstLiteral(command.Expr)
	if !ok {
		return
	}
	words := []string{first}
	for _, e := range rest {
		word, ok := language.Literal(e)
		if !ok {
			break
		}
		words = append(words, word)
	}
	for _, need := range sandbox.Needs(words) {
		paths := source.Visible(strings.Join(need.Paths, ", "))
		switch need.Kind {
		case sandbox.ReadNeed:
			o.add(Reads, command.SrcRange, paths+", by its program: "+need.Reason)
		case sandbox.WriteNeed, sandbox.CacheNeed:
			o.add(Writes, command.SrcRange, paths+", by its program: "+need.Reason)
		case sandbox.NetworkNeed, sandbox.UnixSocketsNeed: // only the block grants them
		}
	}
}

// anywhere adds what paths outside of the working directory let the program of a transport
// block reach.
func (o *outliner) anywhere(body *hclsyntax.Body) {
	for _, b := range withTools(body) {
		paths := b.Attributes["paths"]
		if paths == nil {
			continue
		}
		if value, ok := language.Literal(paths.Expr); !ok || value != "cwd" {
			o.add(Reads, paths.SrcRange, "files anywhere but private ones, by its program")
			o.add(Writes, paths.SrcRange,
				"files anywhere but the system's and private ones, by its program, with tools that write")
		}
	}
}

// sandboxed adds what a sandbox block lets a program reach.
func (o *outliner) sandboxed(body *hclsyntax.Body) {
	for _, a := range sortedAttributes(body) {
		switch a.Name {
		case "read":
			o.add(Reads, a.SrcRange, o.written(a.Expr)+", by its program"+o.link(a.Expr))
		case "write":
			o.add(Writes, a.SrcRange, o.written(a.Expr)+", by its program"+o.link(a.Expr))
		case "network":
			o.opens(a, "any address", "TCP ports "+o.written(a.Expr)+" of any host")
		case "unix_sockets":
			o.opens(a, "unix sockets of this machine", "unix sockets of this machine if "+o.written(a.Expr))
		default:
			o.add(Sets, a.SrcRange, source.Visible(a.Name)+" = "+o.written(a.Expr))
		}
	}
}

// opens adds what an attribute lets a program contact: all if it is true, and some
// if it is another value.
func (o *outliner) opens(a *hclsyntax.Attribute, all, some string) {
	value, diags := a.Expr.Value(&hcl.EvalContext{})
	switch {
	case !diags.HasErrors() && value.Type().FriendlyName() == "bool" && value.IsKnown() && !value.IsNull():
		if value.True() {
			o.add(Contacts, a.SrcRange, all+", by its program")
		}
	default:
		o.add(Contacts, a.SrcRange, some+", by its program")
	}
}
