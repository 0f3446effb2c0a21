package config

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// eval computes an expression. It reports what is wrong and returns false, or
// returns a value that is wholly known; it is also false, silently, for what
// rests on a local that was reported already.
func (l *loader) eval(in string, e hclsyntax.Expression) (cty.Value, bool) {
	if !l.vet(in, e) || l.spent {
		return cty.NilVal, false
	}
	v, diags := valueOf(l.budget.meter(e), l.context(e.Range().Filename, l.localValues))
	if l.budget.left <= 0 {
		// One problem is enough: from here on nothing can be computed.
		l.spent = true
		l.problem(problem{in: in, at: e.Range(), summary: errSpent.Error(),
			hint: "use smaller lists, and fewer \"for\" within each other"})
		return cty.NilVal, false
	}
	if looks := l.budget.looks; len(looks) > 0 {
		// Also when try() would hide it, and whatever HCL says because of it.
		l.budget.looks = nil
		for _, look := range looks[:min(len(looks), MaxDiagnostics)] {
			l.problem(problem{in: in, at: look.at, hint: `hand it on as it is, alone or in a text: "Bearer ${keyring("NAME")}"`,
				summary: fmt.Sprintf("a secret of keyring() is not read yet, so %s cannot use it", look.by)})
		}
		return cty.NilVal, false
	}
	for _, d := range diags {
		l.problem(foreign(in, d))
	}
	if diags.HasErrors() {
		return cty.NilVal, false
	}
	if !v.IsWhollyKnown() {
		l.problem(problem{in: in, at: e.Range(), summary: "the value is not known when the configuration is read"})
		return cty.NilVal, false
	}
	return v, true
}

// valueOf is e.Value, but a mistake in HCL fails this expression instead of
// ending the host: a configuration may be read while upstreams are in use.
func valueOf(e hclsyntax.Expression, ctx *hcl.EvalContext) (v cty.Value, diags hcl.Diagnostics) {
	defer func() {
		if recover() != nil {
			v, diags = cty.DynamicVal, hcl.Diagnostics{{
				Severity: hcl.DiagError, Summary: "the expression cannot be computed", Subject: e.Range().Ptr(),
				Detail: "This is a mistake in Junctor or in the HCL library. Please report it.",
			}}
		}
	}()
	return e.Value(ctx)
}

// context is what an expression in the named file can use.
func (l *loader) context(file string, locals cty.Value) *hcl.EvalContext {
	parent := &hcl.EvalContext{Functions: l.functions, Variables: map[string]cty.Value{"local": locals}}
	child := parent.NewChild()
	if s := l.byName[file]; s != nil {
		child.Functions = l.fileFunctions(s.dir)
	}
	return child
}

const maxFor = 3 // "for" within each other

// vet asks what can be asked of an expression without computing it. Wrong
// names are found here even where try() would hide them.
func (l *loader) vet(in string, e hclsyntax.Expression) bool {
	v := vetting{loader: l, in: in, ok: true}
	for _, t := range e.Variables() {
		v.reference(t)
	}
	_ = hclsyntax.Walk(e, &v)
	return v.ok
}

type vetting struct {
	*loader
	in    string
	ok    bool
	loops int
}

func (v *vetting) wrong(at hcl.Range, hint, format string, args ...any) {
	v.ok = false
	v.problem(problem{in: v.in, at: at, summary: fmt.Sprintf(format, args...), hint: hint})
}

// reference checks the name that an expression uses.
func (v *vetting) reference(t hcl.Traversal) {
	root := t.RootName()
	if root != "local" {
		// The word may be a secret whose quotes were forgotten: the snippet
		// shows it where that is harmless.
		v.wrong(t.SourceRange(), `text stands in quotes; a value defined in locals is local.NAME, a variable of the environment is env("NAME")`, "a word without quotes that names nothing")
		return
	}
	name, ok := localName(t)
	if !ok {
		v.wrong(t.SourceRange(), "", "local is used by name, as in local.NAME")
		return
	}
	known := v.locals[name]
	if known == nil {
		v.wrong(t.SourceRange(), didYouMean(name, v.localNames()), "there is no local %q", name)
		return
	}
	if known.state == failed {
		v.ok = false
	}
}

func (v *vetting) Enter(node hclsyntax.Node) hcl.Diagnostics {
	switch e := node.(type) {
	case *hclsyntax.LiteralValueExpr:
		if e.Val.Type() == cty.Number && e.Val.IsKnown() && !e.Val.IsNull() {
			if err := payNumber(e.Val.AsBigFloat()); err != nil {
				v.wrong(e.SrcRange, "", "%v", err)
			}
		}
	case *hclsyntax.ForExpr:
		v.loops++
		if v.loops == maxFor+1 {
			v.wrong(e.OpenRange, "compute the inner list in locals", "more than %d \"for\" within each other", maxFor)
		}
	case *hclsyntax.FunctionCallExpr:
		v.call(e)
	case *hclsyntax.ObjectConsExpr:
		v.keys(e)
	}
	return nil
}

func (v *vetting) Exit(node hclsyntax.Node) hcl.Diagnostics {
	if _, ok := node.(*hclsyntax.ForExpr); ok {
		v.loops--
	}
	return nil
}

func (v *vetting) call(e *hclsyntax.FunctionCallExpr) {
	if e.Name == "keyring" {
		v.stored(e)
		return
	}
	if _, known := functions[e.Name]; !known {
		// Not by name: see reference.
		v.wrong(e.NameRange, nearHint(e.Name, functionNames), "there is no function of this name")
	}
}

// keys refuses an object that sets a key twice: HCL would take the last.
func (v *vetting) keys(e *hclsyntax.ObjectConsExpr) {
	seen := map[string]bool{}
	for _, item := range e.Items {
		key, ok := literal(item.KeyExpr)
		if !ok {
			continue
		}
		if seen[key] {
			v.wrong(item.KeyExpr.Range(), "", "%q is set twice in the same object", key)
		}
		seen[key] = true
	}
}

// literal returns the text of a key or string that stands there as such.
func literal(e hclsyntax.Expression) (string, bool) {
	if key, ok := e.(*hclsyntax.ObjectConsKeyExpr); ok {
		if !key.ForceNonLiteral {
			if word := hcl.ExprAsKeyword(key.Wrapped); word != "" {
				return word, true
			}
		}
		e = key.Wrapped
	}
	t, ok := plain(e).(*hclsyntax.TemplateExpr)
	if !ok || !t.IsStringLiteral() {
		return "", false
	}
	text, _ := t.Value(nil)
	return text.AsString(), true
}
