package config

import (
	"cmp"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// An Item is one thing that a configuration would do. Its text is safe to print:
// what is no visible character is escaped.
//
// An outline is made from the text alone. A literal is shown as it is; an
// expression is shown as it is written, never as what it might evaluate to, so
// that a condition on the environment cannot show one thing and do another.
type Item struct {
	Kind ItemKind
	Text string
	In   string // the block, such as `server "files"`; may be empty
	At   Position
}

// An ItemKind says what a configuration would do.
type ItemKind string

const (
	Runs     ItemKind = "runs"     // a program, with its arguments
	Loads    ItemKind = "loads"    // a plugin that is not bundled
	Contacts ItemKind = "contacts" // a host
	Listens  ItemKind = "listens"  // an address
	Reads    ItemKind = "reads"    // a file, an environment variable or a stored secret
	Sets     ItemKind = "sets"     // an environment variable of a program, or another setting
	Passes   ItemKind = "passes"   // environment variables of Junctor to a program
	Keeps    ItemKind = "keeps"    // secrets, somewhere
	Computes ItemKind = "computes" // a local that others refer to
)

// itemOrder is the order in which a person reads an outline.
var itemOrder = []ItemKind{Loads, Runs, Contacts, Reads, Sets, Passes, Keeps, Listens, Computes}

// An outliner makes the outline of the sources of a loader.
type outliner struct {
	*loader
	items   []Item
	plugins []Plugin
	source  *source // of the block under way
	in      string
	foreign bool // the block belongs to a plugin that is not bundled
}

func (o *outliner) outline() ([]Item, []Plugin) {
	for _, s := range o.sources {
		o.source, o.in = s, ""
		for _, b := range s.body.Blocks {
			if b.Type == "plugins" {
				o.required(b)
			}
		}
	}
	for _, s := range o.sources {
		o.source, o.in = s, ""
		o.calls(s)
		for _, b := range s.body.Blocks {
			o.top(b)
		}
	}
	slices.SortStableFunc(o.items, func(a, b Item) int {
		return cmp.Compare(slices.Index(itemOrder, a.Kind), slices.Index(itemOrder, b.Kind))
	})
	return slices.Compact(o.items), o.plugins
}

func (o *outliner) add(kind ItemKind, at hcl.Range, text string) {
	o.items = append(o.items, Item{Kind: kind, Text: text, In: o.in, At: startOf(at)})
}

// required notes the plugins of a plugins block, whose sources are literals or
// cannot be followed.
func (o *outliner) required(b *hclsyntax.Block) {
	for _, a := range sortedAttributes(b.Body) {
		object, ok := plain(a.Expr).(*hclsyntax.ObjectConsExpr)
		if !ok {
			o.add(Loads, a.Expr.Range(), "plugins computed by "+o.written(a.Expr))
			continue
		}
		for _, item := range object.Items {
			o.requiredOne(item)
		}
	}
}

func (o *outliner) requiredOne(item hclsyntax.ObjectConsItem) {
	name, named := literal(item.KeyExpr)
	fields, isObject := plain(item.ValueExpr).(*hclsyntax.ObjectConsExpr)
	if !named || !isObject {
		o.add(Loads, item.KeyExpr.Range(), "plugin computed by "+o.written(item.KeyExpr)+" = "+o.written(item.ValueExpr))
		return
	}
	for _, field := range fields.Items {
		if key, ok := literal(field.KeyExpr); !ok || key != "source" {
			continue
		}
		path, ok := literal(field.ValueExpr)
		switch {
		case !ok:
			o.add(Loads, item.KeyExpr.Range(), "plugin "+visible(name)+" from "+o.written(field.ValueExpr))
		case !strings.HasPrefix(path, "builtin/"):
			source := absoluteIn(o.source.dir, filepath.FromSlash(path))
			o.plugins = append(o.plugins, Plugin{Name: name, Use: name, Source: source, At: startOf(item.KeyExpr.Range())})
			o.add(Loads, item.KeyExpr.Range(), "plugin "+visible(name)+" from "+visible(source))
		}
	}
}

// calls notes what the functions of a file read, wherever they stand.
func (o *outliner) calls(s *source) {
	what := map[string]string{"env": "environment variable ", "file": "file ", "keyring": "stored secret "}
	_ = hclsyntax.VisitAll(s.body, func(n hclsyntax.Node) hcl.Diagnostics {
		call, ok := n.(*hclsyntax.FunctionCallExpr)
		if !ok || what[call.Name] == "" || len(call.Args) == 0 {
			return nil
		}
		name, ok := literalText(call.Args[0])
		if !ok {
			name = o.written(call.Args[0])
		}
		o.add(Reads, call.Range(), what[call.Name]+visible(name))
		return nil
	})
}

// top outlines one top-level block.
func (o *outliner) top(b *hclsyntax.Block) {
	o.in, o.foreign = visible(titleOf(b)), false
	switch b.Type {
	case "plugins":
		return
	case "locals":
		for _, a := range sortedAttributes(b.Body) {
			if _, simple := literal(a.Expr); !simple {
				o.add(Computes, a.NameRange, "local."+visible(a.Name)+" = "+o.written(a.Expr))
			}
		}
		return
	case "secret_store":
		o.add(Keeps, b.TypeRange, "secrets in the store "+visible(labelOf(b)))
		o.foreign = o.isForeign(b)
	}
	o.body(b.Body)
}

func labelOf(b *hclsyntax.Block) string { return strings.Join(b.Labels, " ") }

// isForeign reports whether a block's label names a plugin that is not bundled.
func (o *outliner) isForeign(b *hclsyntax.Block) bool {
	name, _, _ := strings.Cut(labelOf(b), "/")
	return !slices.Contains(bundled, name) && name != fileKind || slices.ContainsFunc(o.plugins, func(p Plugin) bool { return p.Name == name })
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
		was := o.foreign
		if b.Type == "transport" || b.Type == "auth" && strings.HasPrefix(o.in, "server ") {
			o.foreign = o.isForeign(b)
		}
		o.body(b.Body)
		o.foreign = was
	}
}

// shownAsProgram are the attributes that [outliner.program] shows.
var shownAsProgram = []string{"command", "args", "argv", "cwd"}

func (o *outliner) attribute(a *hclsyntax.Attribute) {
	addresses := o.addresses(a.Expr)
	for _, address := range addresses {
		o.add(Contacts, a.SrcRange, address)
	}
	if strings.HasSuffix(a.Name, "url") && len(addresses) == 0 {
		o.add(Contacts, a.SrcRange, o.written(a.Expr))
	}
	switch {
	case slices.Contains(shownAsProgram, a.Name) && !o.foreign:
	case a.Name == "env" && !o.foreign:
		o.environment(a)
	case a.Name == "pass_env" || a.Name == "env":
		o.add(Passes, a.SrcRange, "environment variables "+o.written(a.Expr))
	case a.Name == "listen":
		o.add(Listens, a.SrcRange, o.written(a.Expr))
	case o.foreign || namesPlace(a.Name):
		o.add(Sets, a.SrcRange, visible(a.Name)+" = "+o.secretless(a.Name, a.Expr))
	}
}

// namesPlace reports whether an attribute's name sounds like a file or a
// program.
func namesPlace(name string) bool {
	for _, part := range []string{"file", "path", "dir", "socket", "cert", "proxy", "program", "script"} {
		if strings.Contains(name, part) {
			return true
		}
	}
	return false
}

// environment shows the variables that a program gets. LD_PRELOAD is one.
func (o *outliner) environment(a *hclsyntax.Attribute) {
	object, ok := plain(a.Expr).(*hclsyntax.ObjectConsExpr)
	if !ok {
		o.add(Sets, a.SrcRange, "environment variables "+o.written(a.Expr))
		return
	}
	for _, item := range object.Items {
		name, ok := literal(item.KeyExpr)
		if !ok {
			name = o.written(item.KeyExpr)
		}
		o.add(Sets, item.KeyExpr.Range(), "environment variable "+visible(name)+"="+o.secretless(name, item.ValueExpr))
	}
}

// secretless is an expression as it is written, unless its name says that a
// literal in it is a secret.
func (o *outliner) secretless(name string, e hclsyntax.Expression) string {
	if _, isLiteral := literal(e); isLiteral && soundsSecret(name) && !namesPlace(name) {
		return masked
	}
	return o.written(e)
}

// addresses finds the hosts in the literals of an expression, without what may
// be secret in a URL: the user's name and password, the path and the query.
func (o *outliner) addresses(e hclsyntax.Expression) (all []string) {
	_ = hclsyntax.VisitAll(e, func(n hclsyntax.Node) hcl.Diagnostics {
		v, ok := n.(*hclsyntax.LiteralValueExpr)
		if !ok {
			return nil
		}
		text, ok := literalText(v)
		if !ok {
			return nil
		}
		if u, err := url.Parse(text); err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https" || u.Scheme == "ws" || u.Scheme == "wss") {
			all = append(all, visible(u.Scheme+"://"+u.Host))
		}
		return nil
	})
	return all
}

// written is the source text of an expression, in one line.
func (o *outliner) written(e hclsyntax.Expression) string {
	r := e.Range()
	s := o.byName[r.Filename]
	if s == nil || r.End.Byte > len(s.text) || r.Start.Byte > r.End.Byte {
		return "…"
	}
	return visible(strings.Join(strings.Fields(string(s.text[r.Start.Byte:r.End.Byte])), " "))
}

// visible is text in which whatever is no visible character is escaped, so that
// nothing can be hidden from a person who reads it on a terminal. A password in a URL is left out.
func visible(text string) string {
	var b strings.Builder
	for _, r := range login.ReplaceAllString(text, "://"+masked+"@") {
		if r == ' ' || unicode.IsPrint(r) && r != unicode.ReplacementChar {
			b.WriteRune(r)
		} else {
			quoted := strconv.QuoteRuneToASCII(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		}
	}
	return b.String()
}

func sortedAttributes(body *hclsyntax.Body) []*hclsyntax.Attribute {
	var all []*hclsyntax.Attribute
	for _, a := range body.Attributes {
		all = append(all, a)
	}
	slices.SortFunc(all, func(a, b *hclsyntax.Attribute) int { return cmp.Compare(a.SrcRange.Start.Byte, b.SrcRange.Start.Byte) })
	return all
}
