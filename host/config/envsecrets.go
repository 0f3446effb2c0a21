package config

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// collectEnvSecrets learns the values of the variables that the sources ask env() for by
// name, wherever they stand. What is wrong or disabled is never evaluated, and a
// plugin that cannot describe itself keeps the settings for it from being; but
// it may know the variable, and say it.
func (l *loader) collectEnvSecrets() {
	for _, s := range l.sources {
		_ = hclsyntax.VisitAll(s.body, func(n hclsyntax.Node) hcl.Diagnostics {
			call, ok := n.(*hclsyntax.FunctionCallExpr)
			if !ok || call.Name != "env" || len(call.Args) == 0 {
				return nil
			}
			name, ok := literalText(call.Args[0])
			if text, set := l.lookup(name); ok && set {
				l.secrets = append(l.secrets, text)
			}
			return nil
		})
	}
}

// literalText is the text of an expression that is one, without evaluating
// anything.
func literalText(e hclsyntax.Expression) (string, bool) {
	if t, ok := e.(*hclsyntax.TemplateExpr); ok && t.IsStringLiteral() {
		e = t.Parts[0]
	}
	v, ok := e.(*hclsyntax.LiteralValueExpr)
	if !ok || v.Val.IsNull() || v.Val.Type() != cty.String {
		return "", false
	}
	return v.Val.AsString(), true
}
