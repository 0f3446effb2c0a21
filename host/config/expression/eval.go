package expression

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/junctor-mcp/junctor/host/config/language"
	"github.com/junctor-mcp/junctor/host/config/source"
)

// Eval implements [language.Host]. It evaluates an expression of the block in. The returned value is wholly
// known. Eval reports what is wrong and returns false. It returns false without
// a report if the expression uses a local with a reported problem, or if Inputs.Static
// forbids to evaluate it.
//
// Evaluation is not bounded: only configurations that the user wrote, named or
// trusted are evaluated. See docs/decisions/0009-no-evaluation-budget.md.
func (h Host) Eval(in string, e hclsyntax.Expression) (cty.Value, bool) {
	vetted := h.vet(in, e)
	if h.ev.skips(e) {
		return cty.NilVal, false
	}
	if !vetted {
		h.reportInputs(in, e)
		return cty.NilVal, false
	}
	v, diags := valueOf(h.ev.instrument(e), h.context(e.Range().Filename))
	if found := h.ev.inspections; len(found) > 0 {
		// Report them even if try() hides the failure, and instead of the errors
		// that HCL derives from it.
		h.ev.inspections = nil
		for _, i := range found[:min(len(found), source.MaxDiagnostics)] {
			h.ev.Files.Problem(language.Problem{In: in,
				At: i.at, Hint: `use keyring() alone or in a text, without other functions: "Bearer ${keyring("NAME")}"`,
				Summary: fmt.Sprintf("a secret of keyring() is not read yet, so %s cannot use it", i.by)})
		}
		return cty.NilVal, false
	}
	if diags.HasErrors() && h.ev.inputs.Absent {
		if v, ok := h.withoutInputs(in, e, diags); ok {
			return v, true
		}
	}
	for _, d := range diags {
		h.ev.Files.Problem(source.ProblemOf(in, d))
	}
	if diags.HasErrors() {
		h.reportInputs(in, e) // HCL stops at the first failed argument of a call
		return cty.NilVal, false
	}
	if !v.IsWhollyKnown() {
		h.ev.Files.Problem(language.Problem{In: in, At: e.Range(),
			Summary: "the value is not known when the configuration is read"})
		return cty.NilVal, false
	}
	if err := checkNumbers(v); err != nil {
		h.ev.Files.Problem(language.Problem{In: in, At: e.Range(), Summary: err.Error()})
		return cty.NilVal, false
	}
	return v, true
}

// maxExponent bounds the binary exponent of a number in either direction. Every
// float64 is within it.
const maxExponent = 1100

// checkNumbers returns an error if a value contains an infinite number, which
// JSON cannot represent, or a number with a needlessly long decimal text.
func checkNumbers(v cty.Value) error {
	v, _ = v.UnmarkDeep()
	return cty.Walk(v, func(_ cty.Path, v cty.Value) (bool, error) {
		if v.Type() != cty.Number || !v.IsKnown() || v.IsNull() {
			return true, nil
		}
		if f := v.AsBigFloat(); f.IsInf() || f.MantExp(nil) > maxExponent || f.MantExp(nil) < -maxExponent {
			return false, errors.New("a number is too large or too small")
		}
		return true, nil
	})
}

// vet checks an expression without evaluating it, and reports what is wrong. It
// also finds unknown names inside try(), which hides errors of evaluation.
func (h Host) vet(in string, e hclsyntax.Expression) bool {
	v := vetter{host: h, in: in, ok: true}
	for _, t := range e.Variables() {
		v.reference(t)
	}
	_ = hclsyntax.Walk(e, &v)
	return v.ok
}

// A vetter is the visitor of vet.
type vetter struct {
	host Host
	in   string
	ok   bool
}

// errorAt reports an error in the expression.
func (v *vetter) errorAt(at hcl.Range, hint, format string, args ...any) {
	v.ok = false
	v.host.ev.Files.Problem(language.Problem{In: v.in, At: at, Summary: fmt.Sprintf(format, args...), Hint: hint})
}

// reference checks that a name in an expression is that of a local, of a variable, or of the
// element of for_each.
func (v *vetter) reference(t hcl.Traversal) {
	root := t.RootName()
	switch {
	case root == "var":
		v.variable(t)
		return
	case root == "each" && len(t) > 1:
		v.element(t)
		return
	case root != "local":
		// The word may be a secret without its quotes, so the message does not
		// repeat it. The snippet shows it where that is harmless.
		v.errorAt(t.SourceRange(), cmp.Or(v.host.ev.Files.ForeignReference(t),
			`write text in quotes, a value of locals as local.NAME, and an environment variable as env("NAME")`),
			"a word without quotes is no value")
		return
	}
	name, ok := memberName(t)
	if !ok {
		v.errorAt(t.SourceRange(), "", "local is used by name, as in local.NAME")
		return
	}
	known := v.host.names.locals[name]
	if known == nil {
		v.errorAt(t.SourceRange(), language.DidYouMean(name, v.host.names.localNames()), "there is no local %q", name)
		return
	}
	if known.state == failed {
		v.ok = false
	}
}

// variable checks a reference to a variable.
func (v *vetter) variable(t hcl.Traversal) {
	name, ok := memberName(t)
	switch x := v.host.names.variables[name]; {
	case !ok:
		v.errorAt(t.SourceRange(), "", "a variable is used by name, as in var.NAME")
	case x == nil:
		v.errorAt(t.SourceRange(), language.DidYouMean(name, v.host.names.VariableNames()),
			"there is no variable %q", name)
	case x.value == cty.NilVal:
		v.ok = false
	}
}

// element checks a reference to the element of for_each.
func (v *vetter) element(t hcl.Traversal) {
	name, _ := memberName(t)
	switch {
	case v.host.each == cty.NilVal:
		v.errorAt(t.SourceRange(), "write for_each in the server block",
			"each is known in a server block with for_each only")
	case name != "key" && name != "value":
		v.errorAt(t.SourceRange(), "write each.key or each.value", "each has no %q", name)
	}
}

// Enter implements [hclsyntax.Walker].
func (v *vetter) Enter(node hclsyntax.Node) hcl.Diagnostics {
	switch e := node.(type) {
	case *hclsyntax.LiteralValueExpr:
		if err := checkNumbers(e.Val); err != nil {
			v.errorAt(e.SrcRange, "", "%v", err)
		}
	case *hclsyntax.FunctionCallExpr:
		v.call(e)
	case *hclsyntax.ObjectConsExpr:
		v.keys(e)
	}
	return nil
}

// Exit implements [hclsyntax.Walker].
func (v *vetter) Exit(hclsyntax.Node) hcl.Diagnostics { return nil }

// call checks that a called function exists.
func (v *vetter) call(e *hclsyntax.FunctionCallExpr) {
	if e.Name == "keyring" {
		v.keyringCall(e)
		return
	}
	if _, known := functions[e.Name]; known {
		return
	}
	hint := cmp.Or(source.ForeignFunctions[e.Name], language.NearHint(e.Name, functionNames))
	if functionLike(e.Name) {
		v.errorAt(e.NameRange, hint, "there is no function %q", e.Name)
		return
	}
	// The word may be a secret without its quotes; see reference.
	v.errorAt(e.NameRange, hint, "there is no function of this name")
}

// keys reports keys that an object sets twice. HCL would use the last one.
func (v *vetter) keys(e *hclsyntax.ObjectConsExpr) {
	seen := map[string]bool{}
	for _, item := range e.Items {
		key, ok := language.Literal(item.KeyExpr)
		if !ok {
			continue
		}
		if seen[key] {
			v.errorAt(item.KeyExpr.Range(), "", "%q is set twice in the same object", key)
		}
		seen[key] = true
	}
}

// keyringCall registers a call of keyring(). Its argument must be a literal, so the
// secrets that a configuration uses are known without evaluation.
func (v *vetter) keyringCall(e *hclsyntax.FunctionCallExpr) {
	const hint = `write keyring("NAME")`
	if len(e.Args) != 1 || e.ExpandFinal {
		v.errorAt(e.Range(), hint, "keyring() takes the name of a secret and nothing else")
		return
	}
	name, ok := language.Literal(e.Args[0])
	switch {
	case !ok:
		v.errorAt(e.Args[0].Range(), hint, "the name of a secret is written out in keyring()")
	case !SecretName.MatchString(name):
		v.errorAt(e.Args[0].Range(), "run `junctor secret set NAME` to store a secret",
			"the name of a secret is %s", secretNameWords)
	case !v.host.ev.Keyring.seen[e.Range()]:
		v.host.ev.Keyring.seen[e.Range()] = true
		if !v.host.ev.Keyring.inUse() {
			v.host.ev.Files.Conceal(v.host.ev.Keyring.Nonce) // messages must not reveal it
		}
		v.host.ev.Keyring.uses = append(v.host.ev.Keyring.uses, SecretUse{Name: name, At: source.StartOf(e.Range())})
	}
}

// withoutInputs evaluates an expression again that failed for the want of inputs, with
// placeholders in their place, and warns of each. It returns false if the expression needs
// more than to pass them on.
func (h Host) withoutInputs(in string, e hclsyntax.Expression, failed hcl.Diagnostics) (cty.Value, bool) {
	for _, d := range failed {
		if p := source.ProblemOf(in, d); d.Severity == hcl.DiagError && !p.Input {
			return cty.NilVal, false
		}
	}
	h.ev.deferring = true
	v, diags := valueOf(e, h.context(e.Range().Filename))
	h.ev.deferring = false
	inspected := len(h.ev.inspections) > 0
	h.ev.inspections = nil
	if diags.HasErrors() || inspected {
		return cty.NilVal, false
	}
	before := h.ev.Files.Count()
	for _, d := range failed {
		h.ev.Files.Problem(source.ProblemOf(in, d))
	}
	h.reportInputs(in, e)
	made := h.ev.Files.Since(before)
	for i := range made {
		p := &made[i]
		p.Warning, p.Hint = true, "a server that needs it is not started here; its lists are those that it sent last"
	}
	return v, true
}
