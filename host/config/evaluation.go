package config

import (
	"fmt"
	"path/filepath"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/junctor-mcp/junctor/host/config/language"
)

// An evaluation is the host of a block: it evaluates expressions in the scope of the block.
type evaluation struct {
	ev    *evaluator
	names *nameTable
	each  cty.Value // of for_each; NilVal: none
}

// Report implements [language.Host].
func (h evaluation) Report(p language.Problem) { h.ev.files.Problem(p) }

// Settled implements [language.Host]. It reports placeholders of keyring() and of absent inputs in a
// value that the host needs when it reads the configuration.
func (h evaluation) Settled(in string, a *hclsyntax.Attribute, value cty.Value) bool {
	if h.rejectAbsent(in, a, value) {
		return false
	}
	steps, found := h.ev.keyring.find(value)
	if found {
		h.ev.files.Problem(language.Problem{In: in, At: language.Locate(a.Expr, steps),
			Summary: fmt.Sprintf("%q is needed when the configuration is read, so it cannot come from keyring()", a.Name),
			Hint: "keyring() is for settings of transports and auth that are secret, " +
				"such as env and headers, and for tokens"})
	}
	return !found
}

// rejectAbsent reports an absent input in a value that the host needs when it reads the
// configuration. It returns whether there is one.
func (h evaluation) rejectAbsent(in string, a *hclsyntax.Attribute, value cty.Value) bool {
	e := h.ev.keyring.absentInValue(value)
	if e != nil {
		h.ev.files.Problem(language.Problem{
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
func (h evaluation) IsSkipped(e hclsyntax.Expression) bool { return h.ev.inputs.static && !isStatic(e) }

// IsLate implements [language.Host].
func (h evaluation) IsLate(text string) bool { return h.ev.keyring.contains(text) }

// Path implements [language.Host]. A relative path starts at the directory of the file.
// The path is one of those that no wrapped program may change; see [Config.Used].
func (h evaluation) Path(file, path string) string {
	if !filepath.IsAbs(path) {
		path = filepath.Join(h.ev.files.DirOf(file), path)
	}
	path = filepath.Clean(path)
	h.ev.named = append(h.ev.named, path)
	return path
}

// Reveal implements [language.Host].
func (h evaluation) Reveal(a *hclsyntax.Attribute) { h.ev.files.Reveal(a) }

// Conceal implements [language.Host].
func (h evaluation) Conceal(text string) { h.ev.files.Conceal(text) }

// Foreign implements [language.Host].
func (h evaluation) Foreign(block, name string, known []string) string {
	return h.ev.inputs.foreign(block, name, known)
}
