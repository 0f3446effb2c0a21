package config

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/junctor-mcp/junctor/host/config/language"
	"github.com/junctor-mcp/junctor/host/suggest"
)

// An evaluation is the host of a block: it evaluates expressions in the scope of the block.
type evaluation struct {
	*loader
	home *scope
	each cty.Value // of for_each; NilVal: none
}

// Eval implements [language.Host].
func (v evaluation) Eval(in string, e hclsyntax.Expression) (cty.Value, bool) {
	defer v.enter(v.home, v.each)()
	return v.eval(in, e)
}

// Report implements [language.Host].
func (v evaluation) Report(p language.Problem) { v.files.Problem(p) }

// Settled implements [language.Host]. It reports placeholders of keyring() and of absent inputs in a
// value that the host needs when it reads the configuration.
func (v evaluation) Settled(in string, a *hclsyntax.Attribute, value cty.Value) bool {
	if v.rejectAbsent(in, a, value) {
		return false
	}
	steps, found := v.keyring.find(value)
	if found {
		v.files.Problem(language.Problem{In: in, At: language.Locate(a.Expr, steps),
			Summary: fmt.Sprintf("%q is needed when the configuration is read, so it cannot come from keyring()", a.Name),
			Hint: "keyring() is for settings of transports and auth that are secret, " +
				"such as env and headers, and for tokens"})
	}
	return !found
}

// rejectAbsent reports an absent input in a value that the host needs when it reads the
// configuration. It returns whether there is one.
func (l *loader) rejectAbsent(in string, a *hclsyntax.Attribute, v cty.Value) bool {
	e := l.keyring.absentInValue(v)
	if e != nil {
		l.files.Problem(language.Problem{
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
func (v evaluation) IsSkipped(e hclsyntax.Expression) bool { return v.Static && !isStatic(e) }

// IsLate implements [language.Host].
func (v evaluation) IsLate(text string) bool { return v.keyring.contains(text) }

// Path implements [language.Host]. A relative path starts at the directory of the file.
// The path is one of those that no wrapped program may change; see [Config.Used].
func (v evaluation) Path(file, path string) string {
	if !filepath.IsAbs(path) {
		path = filepath.Join(v.files.DirOf(file), path)
	}
	path = filepath.Clean(path)
	v.named = append(v.named, path)
	return path
}

// Reveal implements [language.Host].
func (v evaluation) Reveal(a *hclsyntax.Attribute) { v.files.Reveal(a) }

// Conceal implements [language.Host].
func (v evaluation) Conceal(text string) { v.files.Conceal(text) }

// Foreign implements [language.Host].
func (evaluation) Foreign(block, name string, known []string) string {
	names := foreignIndex()[block]
	for _, f := range names[foldName(name)] {
		if f.needs == "" || slices.Contains(known, f.needs) {
			return f.hint
		}
	}
	if rest := names["*"]; len(rest) > 0 && suggest.Nearest(name, known) == "" {
		return rest[0].hint
	}
	return ""
}
