package expression

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/junctor-mcp/junctor/host/config/language"
	"github.com/junctor-mcp/junctor/host/config/source"
)

// An input is a variable or a file that env() or file() reads. One load reports all
// missing inputs, so that the user can provide them at once.

// reportInputs reports the missing inputs of an expression that cannot be evaluated.
// It skips parts that evaluation may not need: the arguments of try() and can(), the
// operands of an operator, the branches of a conditional, and a "for".
func (h Host) reportInputs(in string, e hclsyntax.Expression) {
	if h.ev.inputs.Static {
		return
	}
	_ = hclsyntax.Walk(e, &inputWalker{host: h, in: in, required: true})
}

// ReportBodyInputs is reportInputs for the attributes of a block whose plugin is not
// known.
func (h Host) ReportBodyInputs(in string, body *hclsyntax.Body) {
	for _, a := range body.Attributes {
		h.reportInputs(in, a.Expr)
	}
}

// An inputWalker is the visitor of reportInputs.
type inputWalker struct {
	host     Host
	in       string
	required bool           // evaluation needs the current node
	outer    hclsyntax.Node // the node below which required is false
}

// Enter implements [hclsyntax.Walker].
func (w *inputWalker) Enter(node hclsyntax.Node) hcl.Diagnostics {
	if !w.required {
		return nil
	}
	switch e := node.(type) {
	case *hclsyntax.ConditionalExpr, *hclsyntax.ForExpr, *hclsyntax.BinaryOpExpr:
		w.required, w.outer = false, node
	case *hclsyntax.FunctionCallExpr:
		switch {
		case e.Name == "try" || e.Name == "can":
			w.required, w.outer = false, node
		case len(e.Args) == 1 && slices.Contains([]string{"env", "file"}, e.Name):
			w.read(e)
		}
	}
	return nil
}

// Exit implements [hclsyntax.Walker].
func (w *inputWalker) Exit(node hclsyntax.Node) hcl.Diagnostics {
	if node == w.outer {
		w.required, w.outer = true, nil
	}
	return nil
}

// read calls env() or file() with a literal name and reports its error.
func (w *inputWalker) read(e *hclsyntax.FunctionCallExpr) {
	if _, ok := language.Literal(e.Args[0]); !ok {
		return
	}
	_, diags := valueOf(e, w.host.context(e.Range().Filename))
	for _, d := range diags {
		w.host.ev.Files.Problem(source.ProblemOf(w.in, d))
	}
}
