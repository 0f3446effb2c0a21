package expression

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/junctor-mcp/junctor/host/config/language"
	"github.com/junctor-mcp/junctor/host/config/source"
)

// A Host is the [language.Host] of a block: it evaluates expressions in the scope of the block. It
// is a small value that the readers of blocks copy.
type Host struct {
	ev    *Evaluator
	names *Names
	each  cty.Value // of for_each; NilVal: none
}

// Report implements [language.Host].
func (h Host) Report(p language.Problem) { h.ev.Files.Problem(p) }

// Settled implements [language.Host]. It reports placeholders of keyring() and of absent inputs in a
// value that the host needs when it reads the configuration.
func (h Host) Settled(in string, a *hclsyntax.Attribute, value cty.Value) bool {
	if h.RejectAbsent(in, a, value) {
		return false
	}
	steps, found := h.ev.Keyring.Find(value)
	if found {
		h.ev.Files.Problem(language.Problem{In: in, At: language.Locate(a.Expr, steps),
			Summary: fmt.Sprintf("%q is needed when the configuration is read, so it cannot come from keyring()",
				a.Name),
			Hint: "keyring() is for settings of transports and auth that are secret, " +
				"such as env and headers, and for tokens"})
	}
	return !found
}

// RejectAbsent reports an absent input in a value that the host needs when it reads the
// configuration, in place of the warnings about inputs of servers. It returns whether there is one.
func (h Host) RejectAbsent(in string, a *hclsyntax.Attribute, value cty.Value) bool {
	e := h.ev.Keyring.AbsentInValue(value)
	if e != nil {
		kept := slices.DeleteFunc(h.ev.Files.Since(0), func(p language.Problem) bool {
			return p.Input && p.Warning && p.At.Filename == a.Expr.Range().Filename && a.Expr.Range().Overlaps(p.At)
		})
		h.ev.Files.Forget(len(kept))
		h.ev.Files.Problem(language.Problem{
			In:      in,
			At:      a.Expr.Range(),
			Summary: fmt.Sprintf("%s, and %q is needed here", e.Message, a.Name),
			Hint:    e.Hint,
			Input:   true,
		})
	}
	return e != nil
}

// IsSkipped implements [language.Host].
func (h Host) IsSkipped(e hclsyntax.Expression) bool { return h.ev.inputs.Static && !isStatic(e) }

// IsLate implements [language.Host].
func (h Host) IsLate(text string) bool { return h.ev.Keyring.Contains(text) }

// Path implements [language.Host]. A relative path starts at the directory of the file.
// The path is one of [Evaluator.Named], which no wrapped program may change.
func (h Host) Path(file, path string) string {
	if !filepath.IsAbs(path) {
		path = filepath.Join(h.ev.Files.DirOf(file), path)
	}
	path = filepath.Clean(path)
	h.ev.named = append(h.ev.named, path)
	return path
}

// Reveal implements [language.Host].
func (h Host) Reveal(a *hclsyntax.Attribute) { h.ev.Files.Reveal(a) }

// Conceal implements [language.Host].
func (h Host) Conceal(text string) { h.ev.Files.Conceal(text) }

// Foreign implements [language.Host].
func (h Host) Foreign(block, name string, known []string) string {
	return h.ev.inputs.Foreign(block, name, known)
}

// At returns the host of blocks whose expressions use these names. each is the element of
// for_each; NilVal: there is none.
func (ev *Evaluator) At(n *Names, each cty.Value) Host { return Host{ev, n, each} }

// context returns the functions and variables of an expression in a file.
func (h Host) context(file string) *hcl.EvalContext {
	parent := &hcl.EvalContext{Functions: h.ev.functions,
		Variables: map[string]cty.Value{"local": h.names.localValues, "var": h.names.variableValues}}
	if h.each != cty.NilVal {
		parent.Variables["each"] = h.each
	}
	child := parent.NewChild()
	if s := h.ev.Files.File(file); s != nil {
		child.Functions = h.ev.fileFunctions(s.Dir)
	}
	return child
}

// valueOf returns e.Value. A panic in HCL fails this expression only and does
// not end the host.
func valueOf(e hclsyntax.Expression, ctx *hcl.EvalContext) (v cty.Value, diags hcl.Diagnostics) {
	defer source.CatchPanic(&diags, e.Range(), "the expression cannot be computed",
		"This is a mistake in Junctor or in the HCL library. Please report it.")
	return e.Value(ctx)
}
