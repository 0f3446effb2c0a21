package review

import (
	"cmp"
	"path/filepath"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/junctor-mcp/junctor/host/config/language"
	"github.com/junctor-mcp/junctor/host/config/source"
)

// program returns the command line that a block would run: the path of the program,
// its arguments, and its working directory. It returns "" for a block without one. A tool
// block may have only a part of them; an ellipsis is the rest. It is for people: the plugin finds
// the program itself.
func (o *outliner) program(body *hclsyntax.Body) (string, hcl.Range) {
	command, argv, cwd := body.Attributes["command"], body.Attributes["argv"], body.Attributes["cwd"]
	dir, computed, where := o.place(cwd)
	var text string
	var at hcl.Range
	switch {
	case command != nil && o.thirdParty:
		return "", hcl.Range{} // attribute shows it like other settings of the plugin
	case command != nil:
		text, at = o.commandLine(body, command, dir, computed), command.SrcRange
		where = o.links(dir, command.Expr) + where
	case argv != nil:
		text, at = "…", argv.SrcRange
	case o.within != "" && cwd != nil:
		text, at = "…", cwd.SrcRange
	default:
		return "", hcl.Range{}
	}
	args := body.Attributes["args"]
	if command == nil {
		args = nil
	}
	for _, more := range []*hclsyntax.Attribute{args, argv} {
		if more != nil {
			text += " " + o.arguments(more.Expr)
			where = o.links(dir, more.Expr) + where
		}
	}
	return text + where, at
}

// place returns the directory of a block's program with its attribute cwd, which may be nil,
// and the text about it. computed is true if the directory is not known.
func (o *outliner) place(cwd *hclsyntax.Attribute) (dir string, computed bool, where string) {
	if cwd == nil {
		return cmp.Or(o.dir, o.source.Dir), o.computedDir, ""
	}
	text, ok := language.Literal(cwd.Expr)
	if !ok {
		return cmp.Or(o.dir, o.source.Dir), true, ", in " + o.written(cwd.Expr)
	}
	dir = source.AbsoluteIn(o.source.Dir, text)
	return dir, false, ", in " + source.Visible(dir) + o.links(o.source.Dir, cwd.Expr)
}

// commandLine returns the program of a block and its fixed arguments.
func (o *outliner) commandLine(body *hclsyntax.Body, command *hclsyntax.Attribute, dir string, computed bool) string {
	first, rest, ok := firstLiteral(command.Expr)
	if !ok {
		return o.arguments(command.Expr)
	}
	switch named := !strings.ContainsAny(first, `/`+string(filepath.Separator)); {
	case named:
		first = o.searchPath(body).Find(first)
	case !computed:
		first = source.AbsoluteIn(dir, filepath.FromSlash(first))
	}
	return strings.TrimSpace(source.Visible(first) + " " + o.list(rest))
}

// firstLiteral splits a list whose first element is a literal.
func firstLiteral(e hclsyntax.Expression) (first string, rest []hclsyntax.Expression, ok bool) {
	list, ok := language.Plain(e).(*hclsyntax.TupleConsExpr)
	if !ok || len(list.Exprs) == 0 {
		return "", nil, false
	}
	first, ok = language.Literal(list.Exprs[0])
	return first, list.Exprs[1:], ok
}

// arguments returns a list for output: literals as words, other expressions as
// written.
func (o *outliner) arguments(e hclsyntax.Expression) string {
	if list, ok := language.Plain(e).(*hclsyntax.TupleConsExpr); ok {
		return o.list(list.Exprs)
	}
	return o.written(e)
}

func (o *outliner) list(exprs []hclsyntax.Expression) string {
	var words []string
	for _, e := range exprs {
		text, ok := language.Literal(e)
		if !ok {
			words = append(words, o.written(e))
			continue
		}
		if strings.ContainsAny(text, " \t\n'\"\\") || text == "" {
			text = "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
		}
		words = append(words, source.Visible(text))
	}
	return strings.Join(words, " ")
}
