package language

import (
	"fmt"
	"math/big"
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

// Value evaluates an attribute and converts it to a type. It rejects keyring().
func (r Reader) Value(name string, want cty.Type) (v cty.Value, a *hclsyntax.Attribute, set bool) {
	v, a, set = r.RawValue(name)
	if set && !r.Host.Settled(r.In, a, v) {
		set = false
		if r.state != nil {
			r.state.read[name] = false
		}
	}
	if !set {
		return cty.NilVal, a, false
	}
	v, ok := r.Convert(a, v, want)
	return v, a, ok
}

// RawValue evaluates an attribute, or its default. The value may contain
// placeholders of keyring().
func (r Reader) RawValue(name string) (v cty.Value, a *hclsyntax.Attribute, set bool) {
	a = r.Body.Attributes[name]
	if a != nil {
		if v, ok := r.Host.Eval(r.In, a.Expr); !ok || !v.IsNull() {
			if r.state != nil {
				r.state.read[name] = ok
			}
			return v, a, ok
		}
	}
	inherited := r.Inherited(name)
	if inherited == nil {
		return cty.NilVal, a, false
	}
	v, ok := r.Host.Eval(r.In, inherited.Expr)
	return v, inherited, ok && !v.IsNull()
}

// IsSet reports whether an attribute is present and not null. An attribute with a
// wrong value is set.
func (r Reader) IsSet(name string) bool {
	a := r.Body.Attributes[name]
	if a == nil {
		return false
	}
	v, ok := r.Host.Eval(r.In, a.Expr)
	return !ok || !v.IsNull()
}

// PublicValue is Value for an attribute that is printed, such as a name. It
// rejects values from env() and file(), which are never printed.
func (r Reader) PublicValue(name string, want cty.Type) (cty.Value, *hclsyntax.Attribute, bool) {
	v, a, set := r.Value(name, want)
	if set && v.ContainsMarked() {
		r.ErrorAt(a.Expr.Range(),
			"write it out; env() and file() are for tokens, settings of a transport, pin and default",
			"%q is shown to people, so it cannot come from env() or file()", name)
		return cty.NilVal, a, false
	}
	return v, a, set
}

// Text reads a string that is printed.
func (r Reader) Text(name string) (string, *hclsyntax.Attribute, bool) {
	v, a, set := r.PublicValue(name, cty.String)
	if !set {
		return "", a, false
	}
	return v.AsString(), a, true
}

// Path reads the path of a file and makes it absolute. It returns "" if unset.
func (r Reader) Path(name string) string {
	text, a, set := r.Text(name)
	switch {
	case !set:
		return ""
	case text == "":
		r.ErrorAt(a.Expr.Range(), "", "%q is empty", name)
		return ""
	}
	return r.Absolute(a, text)
}

// Absolute resolves a path in an attribute. A relative path starts at the
// directory of the configuration file with the attribute.
func (r Reader) Absolute(a *hclsyntax.Attribute, path string) string {
	if strings.HasPrefix(path, "~/") {
		r.ErrorAt(a.Expr.Range(), "write the whole path", `only a shell knows "~"`)
	}
	return r.Host.Path(a.SrcRange.Filename, path)
}

// Boolean reads true or false.
func (r Reader) Boolean(name string, unset bool) bool {
	v, _, set := r.Value(name, cty.Bool)
	if !set {
		return unset
	}
	v, _ = v.Unmark()
	return v.True()
}

// Choice reads one of several words. The first word is the default.
func (r Reader) Choice(name string, allowed ...string) string {
	v, a, set := r.Value(name, cty.String)
	if !set {
		return allowed[0]
	}
	word, marks := v.Unmark()
	if slices.Contains(allowed, word.AsString()) {
		return word.AsString()
	}
	hint := ""
	if len(marks) == 0 {
		hint = NearHint(word.AsString(), allowed)
	}
	got := GotText(word.AsString(), len(marks) > 0)
	r.ErrorAt(a.Expr.Range(), hint, "%q must be one of %s%s", name, Quoted(allowed), got)
	return allowed[0]
}

// Duration reads a duration of more than zero and at most longest.
func (r Reader) Duration(name string, unset, longest time.Duration) time.Duration {
	v, a, set := r.Value(name, cty.String)
	if !set {
		return unset
	}
	word, marks := v.Unmark()
	d, err := time.ParseDuration(word.AsString())
	switch {
	case err != nil:
		hint, got := UnlessSecret(marks, DurationHint(name, word.AsString())), GotText(word.AsString(), len(marks) > 0)
		r.ErrorAt(a.Expr.Range(), hint, `%q must be a duration such as "30s" or "1m30s"%s`, name, got)
	case d <= 0:
		r.ErrorAt(a.Expr.Range(), "", "%q must be more than zero", name)
	case d > longest:
		r.ErrorAt(a.Expr.Range(), "", "%q must be at most %s", name, ShortDuration(longest))
	default:
		return d
	}
	return unset
}

// sizeRule is the grammar of a number of bytes with its unit.
var sizeRule = lazyregexp.New(`^([1-9][0-9]{0,5}) ?(KiB|MiB)$`)

// size reads a number of bytes from least to most.
func (r Reader) size(name string, unset, least, most int) int {
	v, a, set := r.Value(name, cty.String)
	if !set {
		return unset
	}
	word, marks := v.Unmark()
	m := sizeRule.FindStringSubmatch(word.AsString())
	if m == nil {
		hint, got := UnlessSecret(marks, SizeHint(name, word.AsString())), GotText(word.AsString(), len(marks) > 0)
		r.ErrorAt(a.Expr.Range(), hint, `%q must be a size such as "512KiB" or "64MiB"%s`, name, got)
		return unset
	}
	n, _ := strconv.Atoi(m[1]) // at most six digits
	n <<= map[string]int{"KiB": 10, "MiB": 20}[m[2]]
	if n < least || n > most {
		r.ErrorAt(a.Expr.Range(), "", "%q must be at least %s and at most %s", name, SizeText(least), SizeText(most))
		return unset
	}
	return n
}

// SizeText formats a number of bytes as in a configuration.
func SizeText(n int) string {
	if n%(1<<20) == 0 {
		return fmt.Sprintf("%dMiB", n>>20)
	}
	return fmt.Sprintf("%dKiB", n>>10)
}

// integer reads a whole number from least to most.
func (r Reader) integer(name string, unset, least, most int) int {
	v, a, set := r.Value(name, cty.Number)
	if !set {
		return unset
	}
	v, _ = v.Unmark()
	n, accuracy := v.AsBigFloat().Int64()
	if accuracy != big.Exact || n < int64(least) || n > int64(most) {
		r.ErrorAt(a.Expr.Range(), "", "%q must be a whole number from %d to %d", name, least, most)
		return unset
	}
	return int(n)
}

// Number reads a number from 0 to most.
func (r Reader) Number(name string, unset, most float64) float64 {
	v, a, set := r.Value(name, cty.Number)
	if !set {
		return unset
	}
	v, _ = v.Unmark()
	n, _ := v.AsBigFloat().Float64()
	if n < 0 || n > most {
		r.ErrorAt(a.Expr.Range(), "", "%q must be a number from 0 to %.0f", name, most)
		return unset
	}
	return n
}

// ShortDuration formats a duration without units that are zero: 10m, not 10m0s.
func ShortDuration(d time.Duration) string {
	text := d.String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(text, zero) {
			text = text[:len(text)-2]
		}
	}
	return text
}

// An Item is one string of a list, with its place.
type Item struct {
	Text string
	At   hcl.Range
}

// Texts reads a list of strings that are printed. It returns nil if the
// attribute is unset.
func (r Reader) Texts(name string) []Item {
	v, a, set := r.PublicValue(name, cty.List(cty.String))
	if !set {
		return nil
	}
	items := []Item{} // not nil: the list is set
	for i, e := range v.AsValueSlice() {
		at := Locate(a.Expr, []Step{{Index: i}})
		if e.IsNull() {
			r.ErrorAt(at, "", "%s[%d] is null", name, i)
			continue
		}
		items = append(items, Item{Text: e.AsString(), At: at})
	}
	return items
}

// days reads a duration that may have the unit d.
func (r Reader) days(name string, unset, least, most time.Duration) time.Duration {
	text, a, set := r.Text(name)
	if !set {
		return unset
	}
	d, err := parseDays(text)
	switch {
	case err != nil:
		r.ErrorAt(a.Expr.Range(), "", `%q must be a duration such as "90d" or "12h"%s`, name, GotText(text, false))
	case d < least || d > most:
		r.ErrorAt(a.Expr.Range(), "", "%q must be at least %s and at most %s", name, daysText(least), daysText(most))
	default:
		return d
	}
	return unset
}

const Day = 24 * time.Hour

// parseDays parses a number of days such as "90d", or a duration of Go.
func parseDays(text string) (time.Duration, error) {
	number, ok := strings.CutSuffix(text, "d")
	if !ok {
		return time.ParseDuration(text)
	}
	n, err := strconv.ParseUint(number, 10, 16)
	if strings.HasPrefix(number, "+") {
		err = strconv.ErrSyntax
	}
	return time.Duration(n) * Day, err
}

// daysText formats a duration as in a configuration.
func daysText(d time.Duration) string {
	if d%Day == 0 {
		return fmt.Sprintf("%dd", d/Day)
	}
	return ShortDuration(d)
}

// isZeroDuration reports whether an attribute is a duration of zero.
func isZeroDuration(r Reader, name string) bool {
	text, _, set := r.Text(name)
	d, err := time.ParseDuration(text)
	return set && err == nil && d == 0
}

// IsSkipped reports whether an attribute is set to a value that is not evaluated.
func (r Reader) IsSkipped(name string) bool {
	a := r.Body.Attributes[name]
	return a != nil && r.Host.IsSkipped(a.Expr)
}
