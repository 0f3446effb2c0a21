package config

import (
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/junctor-mcp/junctor/host/config/source"
)

// With Options.AbsentInputs, env() and file() return a placeholder for an input that is not
// there, like that of a stored secret: it may be passed on and not inspected, and a connection
// that needs it fails.

// absentPrefix begins the name in a placeholder of an absent input. No secret has such a name.
const absentPrefix = "!"

// absent is the result of env() or file() for an input that is not there: an error, or a
// placeholder while ev.deferring is set.
func (ev *evaluator) absent(e *source.InputError) (cty.Value, error) {
	if !ev.deferring {
		return cty.NilVal, e
	}
	ev.keyring.absent = append(ev.keyring.absent, e)
	return cty.StringVal(ev.keyring.placeholder(absentPrefix + strconv.Itoa(len(ev.keyring.absent)-1))).Mark(sensitive), nil
}

// withoutInputs evaluates an expression again that failed for the want of inputs, with
// placeholders in their place, and warns of each. It returns false if the expression needs
// more than to pass them on.
func (h evaluation) withoutInputs(in string, e hclsyntax.Expression, failed hcl.Diagnostics) (cty.Value, bool) {
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
	before := h.ev.files.Count()
	for _, d := range failed {
		h.ev.files.Problem(source.ProblemOf(in, d))
	}
	h.reportInputs(in, e)
	made := h.ev.files.Since(before)
	for i := range made {
		p := &made[i]
		p.Warning, p.Hint = true, "a server that needs it is not started here; its lists are those that it sent last"
	}
	return v, true
}

// absentInput returns the input that a placeholder stands for; nil for a stored secret.
func (k *keyring) absentInput(name string) *source.InputError {
	number, found := strings.CutPrefix(name, absentPrefix)
	i, err := strconv.Atoi(number)
	if !found || err != nil || i < 0 || i >= len(k.absent) {
		return nil
	}
	return k.absent[i]
}

// absentIn returns the first absent input that a text needs, or nil.
func (k *keyring) absentIn(text string) *source.InputError {
	for {
		_, name, after, found := k.next(text)
		if !found {
			return nil
		}
		if e := k.absentInput(name); e != nil {
			return e
		}
		text = after
	}
}

// absentInValue is absentIn for all texts in a value.
func (k *keyring) absentInValue(v cty.Value) (missing *source.InputError) {
	if len(k.absent) == 0 {
		return nil
	}
	v, _ = v.UnmarkDeep()
	_ = cty.Walk(v, func(_ cty.Path, v cty.Value) (bool, error) {
		if missing == nil {
			missing = k.absentIn(stringOf(v))
		}
		return missing == nil, nil
	})
	return missing
}
