package config

import (
	"fmt"
	"math/big"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/junctor-mcp/junctor/host/lazyregexp"
)

// The methods in this file read one attribute each. An attribute that is absent
// or null is unset. A wrong value is reported and treated as unset.

// value evaluates an attribute and converts it to a type. It rejects keyring().
func (r blockReader) value(name string, want cty.Type) (v cty.Value, a *hclsyntax.Attribute, set bool) {
	v, a, set = r.rawValue(name)
	if !set || r.rejectKeyring(a, v) {
		return cty.NilVal, a, false
	}
	v, ok := r.convert(a, v, want)
	return v, a, ok
}

// rawValue evaluates an attribute, or its default. The value may contain
// placeholders of keyring().
func (r blockReader) rawValue(name string) (v cty.Value, a *hclsyntax.Attribute, set bool) {
	a = r.body.Attributes[name]
	if a != nil {
		if v, ok := r.eval(r.in, a.Expr); !ok || !v.IsNull() {
			return v, a, ok
		}
	}
	inherited := r.fallback[name]
	if inherited == nil {
		return cty.NilVal, a, false
	}
	v, ok := r.eval(r.in, inherited.Expr)
	return v, inherited, ok && !v.IsNull()
}

// rejectKeyring reports a placeholder of keyring() in a value that the host needs
// when it reads the configuration. It returns whether there is one.
func (r blockReader) rejectKeyring(a *hclsyntax.Attribute, v cty.Value) bool {
	if r.rejectAbsent(a, v) {
		return true
	}
	steps, found := r.keyring.find(v)
	if found {
		r.errorAt(locate(a.Expr, steps), "keyring() is for settings of transports and auth that are secret, such as env and headers, and for tokens",
			"%q is needed when the configuration is read, so it cannot come from keyring()", a.Name)
	}
	return found
}

// isSet reports whether an attribute is present and not null. An attribute with a
// wrong value is set.
func (r blockReader) isSet(name string) bool {
	a := r.body.Attributes[name]
	if a == nil {
		return false
	}
	v, ok := r.eval(r.in, a.Expr)
	return !ok || !v.IsNull()
}

// publicValue is value for an attribute that is printed, such as a name. It
// rejects values from env() and file(), which are never printed.
func (r blockReader) publicValue(name string, want cty.Type) (cty.Value, *hclsyntax.Attribute, bool) {
	v, a, set := r.value(name, want)
	if set && v.ContainsMarked() {
		r.errorAt(a.Expr.Range(), "write it out; env() and file() are for tokens, settings of a transport, pin and default",
			"%q is shown to people, so it cannot come from env() or file()", name)
		return cty.NilVal, a, false
	}
	return v, a, set
}

// publicString reads a string that is printed.
func (r blockReader) publicString(name string) (string, *hclsyntax.Attribute, bool) {
	v, a, set := r.publicValue(name, cty.String)
	if !set {
		return "", a, false
	}
	return v.AsString(), a, true
}

// path reads the path of a file and makes it absolute. It returns "" if unset.
func (r blockReader) path(name string) string {
	text, a, set := r.publicString(name)
	switch {
	case !set:
		return ""
	case text == "":
		r.errorAt(a.Expr.Range(), "", "%q is empty", name)
		return ""
	}
	return r.absolute(a, text)
}

// absolute resolves a path in an attribute. A relative path starts at the
// directory of the configuration file with the attribute.
// The path is one of those that no wrapped program may change; see [Config.Used].
func (r blockReader) absolute(a *hclsyntax.Attribute, path string) string {
	if !filepath.IsAbs(path) {
		if strings.HasPrefix(path, "~/") {
			r.errorAt(a.Expr.Range(), "write the whole path", `only a shell knows "~"`)
		}
		path = filepath.Join(r.byName[a.SrcRange.Filename].dir, path)
	}
	path = filepath.Clean(path)
	r.named = append(r.named, path)
	return path
}

// boolean reads true or false.
func (r blockReader) boolean(name string, unset bool) bool {
	v, _, set := r.value(name, cty.Bool)
	if !set {
		return unset
	}
	v, _ = v.Unmark()
	return v.True()
}

// choice reads one of several words. The first word is the default.
func (r blockReader) choice(name string, allowed ...string) string {
	v, a, set := r.value(name, cty.String)
	if !set {
		return allowed[0]
	}
	word, marks := v.Unmark()
	if slices.Contains(allowed, word.AsString()) {
		return word.AsString()
	}
	hint := ""
	if len(marks) == 0 {
		hint = nearHint(word.AsString(), allowed)
	}
	r.errorAt(a.Expr.Range(), hint, "%q must be one of %s%s", name, quoted(allowed), gotText(word.AsString(), len(marks) > 0))
	return allowed[0]
}

// quoted returns the words in quotes, separated by commas.
func quoted(words []string) string {
	var b strings.Builder
	for i, w := range words {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%q", w)
	}
	return b.String()
}

// unlessSecret returns a hint that repeats a value, or "" if the value is secret.
func unlessSecret(marks cty.ValueMarks, hint string) string {
	if len(marks) > 0 {
		return ""
	}
	return hint
}

// gotText returns the end of a message, `, not "VALUE"`. It returns "" for a
// secret and for a value of more than 64 bytes.
func gotText(value string, secret bool) string {
	if secret || len(value) > 64 {
		return ""
	}
	return fmt.Sprintf(", not %q", value)
}

// duration reads a duration of more than zero and at most longest.
func (r blockReader) duration(name string, unset, longest time.Duration) time.Duration {
	v, a, set := r.value(name, cty.String)
	if !set {
		return unset
	}
	word, marks := v.Unmark()
	d, err := time.ParseDuration(word.AsString())
	switch {
	case err != nil:
		r.errorAt(a.Expr.Range(), unlessSecret(marks, durationHint(name, word.AsString())), `%q must be a duration such as "30s" or "1m30s"%s`, name, gotText(word.AsString(), len(marks) > 0))
	case d <= 0:
		r.errorAt(a.Expr.Range(), "", "%q must be more than zero", name)
	case d > longest:
		r.errorAt(a.Expr.Range(), "", "%q must be at most %s", name, shortDuration(longest))
	default:
		return d
	}
	return unset
}

// sizeRule is the grammar of a number of bytes with its unit.
var sizeRule = lazyregexp.New(`^([1-9][0-9]{0,5}) ?(KiB|MiB)$`)

// size reads a number of bytes from least to most.
func (r blockReader) size(name string, unset, least, most int) int {
	v, a, set := r.value(name, cty.String)
	if !set {
		return unset
	}
	word, marks := v.Unmark()
	m := sizeRule.FindStringSubmatch(word.AsString())
	if m == nil {
		r.errorAt(a.Expr.Range(), unlessSecret(marks, sizeHint(name, word.AsString())), `%q must be a size such as "512KiB" or "64MiB"%s`, name, gotText(word.AsString(), len(marks) > 0))
		return unset
	}
	n, _ := strconv.Atoi(m[1]) // at most six digits
	n <<= map[string]int{"KiB": 10, "MiB": 20}[m[2]]
	if n < least || n > most {
		r.errorAt(a.Expr.Range(), "", "%q must be at least %s and at most %s", name, sizeText(least), sizeText(most))
		return unset
	}
	return n
}

// sizeText formats a number of bytes as in a configuration.
func sizeText(n int) string {
	if n%(1<<20) == 0 {
		return fmt.Sprintf("%dMiB", n>>20)
	}
	return fmt.Sprintf("%dKiB", n>>10)
}

// integer reads a whole number from least to most.
func (r blockReader) integer(name string, unset, least, most int) int {
	v, a, set := r.value(name, cty.Number)
	if !set {
		return unset
	}
	v, _ = v.Unmark()
	n, accuracy := v.AsBigFloat().Int64()
	if accuracy != big.Exact || n < int64(least) || n > int64(most) {
		r.errorAt(a.Expr.Range(), "", "%q must be a whole number from %d to %d", name, least, most)
		return unset
	}
	return int(n)
}

// number reads a number from 0 to most.
func (r blockReader) number(name string, unset, most float64) float64 {
	v, a, set := r.value(name, cty.Number)
	if !set {
		return unset
	}
	v, _ = v.Unmark()
	n, _ := v.AsBigFloat().Float64()
	if n < 0 || n > most {
		r.errorAt(a.Expr.Range(), "", "%q must be a number from 0 to %.0f", name, most)
		return unset
	}
	return n
}

// shortDuration formats a duration without units that are zero: 10m, not 10m0s.
func shortDuration(d time.Duration) string {
	text := d.String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(text, zero) {
			text = text[:len(text)-2]
		}
	}
	return text
}

// An item is one string of a list, with its place.
type item struct {
	text string
	at   hcl.Range
}

// publicStrings reads a list of strings that are printed. It returns nil if the
// attribute is unset.
func (r blockReader) publicStrings(name string) []item {
	v, a, set := r.publicValue(name, cty.List(cty.String))
	if !set {
		return nil
	}
	items := []item{} // not nil: the list is set
	for i, e := range v.AsValueSlice() {
		at := locate(a.Expr, []step{{index: i}})
		if e.IsNull() {
			r.errorAt(at, "", "%s[%d] is null", name, i)
			continue
		}
		items = append(items, item{text: e.AsString(), at: at})
	}
	return items
}
