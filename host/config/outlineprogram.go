package config

import (
	"cmp"
	"path/filepath"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// program returns the command line that a block would run: the path of the program,
// its arguments, and its working directory. It returns "" for a block without one.
func (o *outliner) program(body *hclsyntax.Body) (string, hcl.Range) {
	command, argv := body.Attributes["command"], body.Attributes["argv"]
	if command == nil {
		if argv == nil {
			return "", hcl.Range{}
		}
		return "… " + o.arguments(argv.Expr) + o.links(cmp.Or(o.dir, o.source.dir), argv.Expr), argv.SrcRange
	}
	if o.thirdParty {
		return "", hcl.Range{} // attribute shows it like other settings of the plugin
	}
	dir := o.source.dir
	var where string
	computed := false
	if cwd := body.Attributes["cwd"]; cwd != nil {
		where = ", in " + o.written(cwd.Expr)
		text, ok := literal(cwd.Expr)
		if computed = !ok; ok {
			where = ", in " + visible(absoluteIn(dir, text)) + o.links(dir, cwd.Expr)
			dir = absoluteIn(dir, text)
		}
	}
	where = o.links(dir, command.Expr) + where
	text := o.arguments(command.Expr)
	if first, rest, ok := firstLiteral(command.Expr); ok {
		switch named := !strings.ContainsAny(first, `/`+string(filepath.Separator)); {
		case named:
			first = o.searchPath(body).find(first)
		case !computed:
			first = absoluteIn(dir, filepath.FromSlash(first))
		}
		text = strings.TrimSpace(visible(first) + " " + o.list(rest))
	}
	if args := body.Attributes["args"]; args != nil {
		text += " " + o.arguments(args.Expr)
		where = o.links(dir, args.Expr) + where
	}
	return text + where, command.SrcRange
}

// directory returns the working directory of a block's program, if it is not computed.
func (o *outliner) directory(body *hclsyntax.Body) string {
	if cwd := body.Attributes["cwd"]; cwd != nil {
		if text, ok := literal(cwd.Expr); ok {
			return absoluteIn(o.source.dir, text)
		}
	}
	return o.source.dir
}

// firstLiteral splits a list whose first element is a literal.
func firstLiteral(e hclsyntax.Expression) (first string, rest []hclsyntax.Expression, ok bool) {
	list, ok := plain(e).(*hclsyntax.TupleConsExpr)
	if !ok || len(list.Exprs) == 0 {
		return "", nil, false
	}
	first, ok = literal(list.Exprs[0])
	return first, list.Exprs[1:], ok
}

// arguments returns a list for output: literals as words, other expressions as
// written.
func (o *outliner) arguments(e hclsyntax.Expression) string {
	if list, ok := plain(e).(*hclsyntax.TupleConsExpr); ok {
		return o.list(list.Exprs)
	}
	return o.written(e)
}

func (o *outliner) list(exprs []hclsyntax.Expression) string {
	var words []string
	for _, e := range exprs {
		text, ok := literal(e)
		if !ok {
			words = append(words, o.written(e))
			continue
		}
		if strings.ContainsAny(text, " \t\n'\"\\") || text == "" {
			text = "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
		}
		words = append(words, visible(text))
	}
	return strings.Join(words, " ")
}
