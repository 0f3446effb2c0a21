package review

import (
	"cmp"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/junctor-mcp/junctor/host/config/command"
	"github.com/junctor-mcp/junctor/host/config/expression"
	"github.com/junctor-mcp/junctor/host/config/language"
	"github.com/junctor-mcp/junctor/host/config/source"
	"github.com/junctor-mcp/junctor/host/lazyregexp"
	"github.com/junctor-mcp/junctor/host/redact"
	"github.com/junctor-mcp/junctor/host/secretname"
)

// outline returns the actions of the sources and their third-party plugins.
func (o *outliner) outline() ([]Item, []Plugin) {
	o.uses = map[string]hclsyntax.Expression{}
	for _, s := range o.tree.Files.All {
		o.source, o.in = s, ""
		for _, b := range s.Body.Blocks {
			switch b.Type {
			case "plugins":
				o.required(b)
			case "plugin":
				o.used(b)
			}
		}
	}
	for _, s := range o.tree.Files.All {
		o.source, o.in = s, ""
		o.calls(s)
		for _, b := range s.Body.Blocks {
			o.top(b)
		}
	}
	slices.SortStableFunc(o.items, func(a, b Item) int {
		return cmp.Compare(slices.Index(itemOrder, a.Kind), slices.Index(itemOrder, b.Kind))
	})
	return slices.Compact(o.items), o.plugins
}

// required adds the plugins of a plugins block.
func (o *outliner) required(b *hclsyntax.Block) {
	for _, a := range sortedAttributes(b.Body) {
		object, ok := language.Plain(a.Expr).(*hclsyntax.ObjectConsExpr)
		if !ok {
			o.add(Loads, a.Expr.Range(), "plugins computed by "+o.written(a.Expr))
			continue
		}
		for _, item := range object.Items {
			o.requiredOne(item)
		}
	}
}

// used adds the plugin whose program a plugin block runs.
func (o *outliner) used(b *hclsyntax.Block) {
	if use := b.Body.Attributes["use"]; use != nil {
		o.uses[language.LabelOf(b)] = use.Expr
		o.add(Loads, use.SrcRange,
			"plugin "+source.Visible(language.LabelOf(b))+" with the program of "+o.written(use.Expr))
	}
}

// requiredOne adds one required plugin. The source of a plugin that is not written
// as a literal is shown as written, and its program is not reviewed.
func (o *outliner) requiredOne(item hclsyntax.ObjectConsItem) {
	name, named := language.Literal(item.KeyExpr)
	fields, isObject := language.Plain(item.ValueExpr).(*hclsyntax.ObjectConsExpr)
	if !named || !isObject {
		o.add(Loads, item.KeyExpr.Range(),
			"plugin computed by "+o.written(item.KeyExpr)+" = "+o.written(item.ValueExpr))
		return
	}
	for _, field := range fields.Items {
		if key, ok := language.Literal(field.KeyExpr); !ok || key != "source" {
			continue
		}
		path, ok := language.Literal(field.ValueExpr)
		switch {
		case !ok || source.IsRemote(filepath.FromSlash(path), o.content.Root):
			o.add(Loads, item.KeyExpr.Range(), "plugin "+source.Visible(name)+" from "+o.written(field.ValueExpr))
		case !strings.HasPrefix(path, "builtin/"):
			program := source.AbsoluteIn(o.source.Dir, filepath.FromSlash(path))
			o.plugins = append(o.plugins, Plugin{Name: name, Source: program, At: source.StartOf(item.KeyExpr.Range())})
			o.add(Loads, item.KeyExpr.Range(), "plugin "+source.Visible(name)+" from "+source.Visible(program))
		}
	}
}

// calls adds the variables, files and secrets that functions read anywhere in a file.
func (o *outliner) calls(s *source.File) {
	what := map[string]string{"env": "environment variable ", "file": "file ", "keyring": "stored secret "}
	_ = hclsyntax.VisitAll(s.Body, func(n hclsyntax.Node) hcl.Diagnostics {
		call, ok := n.(*hclsyntax.FunctionCallExpr)
		if !ok || what[call.Name] == "" || len(call.Args) == 0 {
			return nil
		}
		name, ok := language.Literal(call.Args[0])
		if !ok {
			name = o.written(call.Args[0])
		}
		text := what[call.Name] + source.Visible(name)
		if in := o.content.included[source.AbsoluteIn(s.Dir, name)]; ok && call.Name == "file" && in.link != "" {
			text += ", which leads to " + source.Visible(in.link)
		}
		o.add(Reads, call.Range(), text)
		return nil
	})
}

// top outlines one top-level block.
func (o *outliner) top(b *hclsyntax.Block) {
	o.in, o.thirdParty, o.showsAll = source.Visible(language.TitleOf(b)), false, b.Type == "audit"
	switch b.Type {
	case "plugins":
		return
	case "locals":
		for _, a := range sortedAttributes(b.Body) {
			o.add(Computes, a.NameRange, "local."+source.Visible(a.Name)+" = "+o.written(a.Expr)) // may be a command
		}
		return
	case "module":
		for _, a := range sortedAttributes(b.Body) {
			if a.Name != "source" {
				o.add(Computes, a.NameRange, "var."+source.Visible(a.Name)+" = "+o.written(a.Expr)) // may be a command
			}
		}
		return
	case "variable":
		if o.tree.ModuleOf(o.source) == "" {
			o.add(Reads, b.TypeRange,
				"environment variable "+source.Visible(expression.VariablePrefix+language.LabelOf(b)))
		}
		if a := b.Body.Attributes["default"]; a != nil {
			// May be a command.
			o.add(Computes, a.NameRange, "var."+source.Visible(language.LabelOf(b))+" = "+o.written(a.Expr))
		}
		return
	case "audit":
		o.add(Sets, b.TypeRange, "what is recorded about requests, and for how long")
	case "console":
		o.listens(b, o.facts.Console)
	case "telemetry":
		for _, inner := range b.Body.Blocks {
			if inner.Type == "metrics" {
				o.listens(inner, o.facts.Metrics)
			}
		}
	case "secret_store":
		o.add(Keeps, b.TypeRange, "secrets in the store "+source.Visible(language.LabelOf(b)))
		o.thirdParty = o.isThirdParty(b)
	}
	if a := b.Body.Attributes[expression.ForEach]; a != nil && b.Type == "server" {
		o.add(Computes, a.NameRange, "each of "+o.written(a.Expr)) // may be a command
	}
	o.body(b.Body)
}

// listens adds the address of a block that names none.
func (o *outliner) listens(b *hclsyntax.Block, address string) {
	if b.Body.Attributes["listen"] == nil {
		o.add(Listens, b.TypeRange, strconv.Quote(address))
	}
}

// isThirdParty reports whether a block's label names a plugin that is not bundled.
func (o *outliner) isThirdParty(b *hclsyntax.Block) bool {
	name, _, _ := strings.Cut(language.LabelOf(b), "/")
	if use, ok := o.uses[name]; ok {
		if name, ok = language.Literal(use); !ok {
			return true
		}
	}
	return !slices.Contains(o.facts.Bundled, name) ||
		slices.ContainsFunc(o.plugins, func(p Plugin) bool { return p.Name == name })
}

// body outlines the attributes and the nested blocks of a block.
func (o *outliner) body(body *hclsyntax.Body) {
	if run, at := o.program(body); run != "" {
		o.add(Runs, at, run)
	}
	for _, a := range sortedAttributes(body) {
		o.attribute(a)
	}
	for _, b := range body.Blocks {
		if b.Type == "sandbox" && !o.thirdParty {
			o.sandboxed(b.Body)
			continue
		}
		was := *o
		if b.Type == "auth" && strings.HasPrefix(o.in, "gateway") {
			o.add(Sets, b.TypeRange, "that clients are admitted by "+source.Visible(language.LabelOf(b)))
			o.showsAll = true // as whom, with which roles, and from where
		}
		o.inherits = o.inherits || b.Type == "transport"
		if b.Type == "transport" || b.Type == "auth" && strings.HasPrefix(o.in, "server ") {
			o.thirdParty = o.isThirdParty(b)
		}
		if b.Type == "transport" && language.LabelOf(b) == command.WrappingTransport && !o.thirdParty {
			o.needs(b.Body)
			o.anywhere(b.Body)
		}
		if b.Type == "transport" {
			o.dir, o.computedDir, _ = o.place(b.Body.Attributes["cwd"])
			o.transport = b.Body
		}
		if b.Type == "tool" || b.Type == "argument" {
			o.within += source.Visible(language.TitleOf(b)) + ": "
			o.showsText = true // of which a command may be made
		}
		o.body(b.Body)
		was.items, was.plugins = o.items, o.plugins
		*o = was
	}
}

// shownAsProgram are the attributes that [outliner.program] shows.
var shownAsProgram = []string{"command", "args", "argv", "cwd"}

// attribute outlines one attribute.
func (o *outliner) attribute(a *hclsyntax.Attribute) {
	addresses := o.addresses(a.Expr)
	for _, address := range addresses {
		o.add(Contacts, a.SrcRange, address)
	}
	if (strings.HasSuffix(a.Name, "url") || a.Name == "issuer" || a.Name == "webhook" || a.Name == "forward") &&
		len(addresses) == 0 {
		o.add(Contacts, a.SrcRange, o.written(a.Expr))
	}
	switch {
	case slices.Contains(shownAsProgram, a.Name) && !o.thirdParty:
	case a.Name == "env" && !o.thirdParty:
		o.environment(a)
	case a.Name == "pass_env" || a.Name == "env":
		o.add(Passes, a.SrcRange, "environment variables "+o.written(a.Expr))
	case a.Name == "headers" && !o.thirdParty:
		o.headers(a)
	case a.Name == "listen":
		o.add(Listens, a.SrcRange, o.written(a.Expr))
	case o.thirdParty || o.showsAll || o.showsText && mayRun(a) || namesPlace(a.Name) || isPath(a.Expr) ||
		slices.Contains(weakens, a.Name):
		o.add(Sets, a.SrcRange, o.within+source.Visible(a.Name)+" = "+o.redactedSource(a.Name, a.Expr)+
			o.links(cmp.Or(o.dir, o.source.Dir), a.Expr))
	}
}

// mayRun reports whether an attribute of a tool or an argument may have a part of a command:
// it has a text that is not only for readers, and that names no form or time.
func mayRun(a *hclsyntax.Attribute) bool {
	if slices.Contains([]string{"description", "type", "access", "stdin_description", "output", "select", "timeout"},
		a.Name) {
		return false
	}
	value, diags := a.Expr.Value(&hcl.EvalContext{})
	return diags.HasErrors() || !value.Type().Equals(cty.Bool) && !value.Type().Equals(cty.Number)
}

// weakens lists the settings that let other parties read or change messages, or operate
// Junctor, and those that decide what a server gets and how its tools are called.
var weakens = []string{
	"ca", "skip_verify", "server_name", "allow_plain", "allow_private", "allow_plaintext", "allow_remote",
	"hosts", "origins", "proxies", "socket_mode", "admins", "viewers", "subjects", "groups", "dangerous",
	"header", "scopes", "audience", "resource", "prefix",
}

// isPath reports whether an expression is a literal that begins like a path, such as that of
// a private key.
func isPath(e hclsyntax.Expression) bool {
	text, ok := language.Literal(e)
	return ok && pathStart.MatchString(text)
}

var pathStart = lazyregexp.New(`^(/|~/|\.\.?/)`)

// namesPlace reports whether an attribute's name sounds like a file or a program.
func namesPlace(name string) bool {
	for _, part := range []string{"file", "path", "dir", "socket", "cert", "proxy", "program", "script"} {
		if strings.Contains(name, part) && name != "description" {
			return true
		}
	}
	return false
}

// environment adds the variables that a program gets. A variable such as LD_PRELOAD
// can run code.
func (o *outliner) environment(a *hclsyntax.Attribute) {
	o.each(a, "environment variable", o.redactedSource)
}

// headers adds the headers of requests. No header runs anything, so a value whose name
// sounds like a secret is masked whatever it is.
func (o *outliner) headers(a *hclsyntax.Attribute) {
	o.each(a, "header", func(name string, value hclsyntax.Expression) string {
		if _, isLiteral := language.Literal(value); isLiteral && secretname.Sounds(name) {
			return redact.Mask
		}
		return o.redactedSource(name, value)
	})
}

// each adds the members of an object with their values, or the source of another expression.
// kind is the word for one member.
func (o *outliner) each(a *hclsyntax.Attribute, kind string,
	shown func(name string, value hclsyntax.Expression) string) {
	object, ok := language.Plain(a.Expr).(*hclsyntax.ObjectConsExpr)
	if !ok {
		o.add(Sets, a.SrcRange, kind+"s "+o.written(a.Expr))
		return
	}
	for _, item := range object.Items {
		name, ok := language.Literal(item.KeyExpr)
		if !ok {
			name = o.written(item.KeyExpr)
		}
		o.add(Sets, item.KeyExpr.Range(), kind+" "+source.Visible(name)+"="+shown(name, item.ValueExpr))
	}
}
