package config

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/junctor-mcp/junctor/host/config/language"
	"github.com/junctor-mcp/junctor/host/lazyregexp"
)

// shellVariable matches a variable in shell notation, $TOKEN. In HCL ${TOKEN} is a
// reference, which eval reports. This file warns only: the text is used as it is.
var shellVariable = lazyregexp.New(`\$([A-Z_][A-Z0-9_]{1,63})\b`)

// schemeVariable matches a text that is a variable, possibly after the scheme of an
// Authorization header.
var schemeVariable = lazyregexp.New(`^(?:(Bearer|Basic|Token|token) )?\$([A-Z_][A-Z0-9_]{1,63})$`)

// shellVariables warns of variables in shell notation, because no shell expands them.
//
// A sensitive text may be a password that looks like a variable. Such a text is
// reported only if it matches schemeVariable as a whole.
func shellVariables(r language.Reader, attr *hclsyntax.Attribute, want cty.Type, sensitive bool) {
	if want.IsListType() || want.IsTupleType() {
		return // arguments may be a shell command
	}
	_ = hclsyntax.VisitAll(attr.Expr, func(node hclsyntax.Node) hcl.Diagnostics {
		e, ok := node.(*hclsyntax.TemplateExpr)
		if !ok {
			return nil
		}
		text, ok := language.Literal(e)
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
		r.WarnAt(e.SrcRange, hint, "no shell fills in $%s: the text is sent unchanged", found[1])
		return nil
	})
}
