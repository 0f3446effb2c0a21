package review

import (
	"net/url"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/junctor-mcp/junctor/host/config/language"
	"github.com/junctor-mcp/junctor/host/config/source"
	"github.com/junctor-mcp/junctor/host/lazyregexp"
	"github.com/junctor-mcp/junctor/host/redact"
	"github.com/junctor-mcp/junctor/host/secretname"
)

// redactedSource returns the source of an expression. It masks a literal whose name
// sounds like a secret, unless the literal could be a path or a command. All texts of an outline
// go through it.
func (o *outliner) redactedSource(name string, e hclsyntax.Expression) string {
	if object, is := language.Plain(e).(*hclsyntax.ObjectConsExpr); is && o.showsText {
		return o.members(object)
	}
	if text, isLiteral := language.Literal(e); isLiteral && secretname.Sounds(name) && !namesPlace(name) &&
		!couldRun.MatchString(text) {
		return redact.Mask
	}
	return o.written(e)
}

// members returns the source of an object, each member masked for itself.
func (o *outliner) members(object *hclsyntax.ObjectConsExpr) string {
	var all []string
	for _, item := range object.Items {
		name, ok := language.Literal(item.KeyExpr)
		if !ok {
			name = o.written(item.KeyExpr)
		}
		all = append(all, source.Visible(name)+" = "+o.redactedSource(name, item.ValueExpr))
	}
	return "{ " + strings.Join(all, ", ") + " }"
}

// couldRun matches text that no token contains: the start of a path, white space, and
// special characters of a shell.
var couldRun = lazyregexp.New("^[./~]|[\\s;|&$()<>{}'\"`\\\\]")

// addresses returns the hosts in the literals of an expression. It leaves out the
// parts of a URL that may be secret: user name, password, path and query. An address
// with a computed part is returned as written, because the part may be the end of
// the host.
func (o *outliner) addresses(e hclsyntax.Expression) (all []string) {
	switch e := language.Plain(e).(type) {
	case *hclsyntax.TupleConsExpr:
		for _, element := range e.Exprs {
			all = append(all, o.addresses(element)...)
		}
		return all
	case *hclsyntax.ObjectConsExpr:
		for _, item := range e.Items {
			all = append(all, o.addresses(item.ValueExpr)...)
		}
		return all
	}
	if text, ok := language.Literal(e); ok {
		if u, err := url.Parse(text); err == nil && u.Host != "" &&
			(u.Scheme == "http" || u.Scheme == "https" || u.Scheme == "ws" || u.Scheme == "wss") {
			all = append(all, source.Visible(u.Scheme+"://"+u.Host))
		}
		return all
	}
	if text := o.written(e); strings.Contains(text, "://") {
		all = append(all, text)
	}
	return all
}

// written returns the source text of an expression on one line.
func (o *outliner) written(e hclsyntax.Expression) string { return o.tree.Files.Written(e) }
