package config

import (
	"fmt"
	"math/big"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// The methods here read one attribute each. An attribute that is absent or
// null is unset. What is wrong is reported, and counts as unset.

// value evaluates an attribute and makes it fit a type.
func (s blockReader) value(name string, want cty.Type) (v cty.Value, a *hclsyntax.Attribute, set bool) {
	v, a, set = s.raw(name)
	if !set || s.early(a, v) {
		return cty.NilVal, a, false
	}
	v, ok := s.convert(a, v, want)
	return v, a, ok
}

// raw evaluates an attribute, which may hold secrets that are read later.
func (s blockReader) raw(name string) (v cty.Value, a *hclsyntax.Attribute, set bool) {
	a = s.body.Attributes[name]
	if a != nil {
		if v, ok := s.eval(s.in, a.Expr); !ok || !v.IsNull() {
			return v, a, ok
		}
	}
	inherited := s.fallback[name]
	if inherited == nil {
		return cty.NilVal, a, false
	}
	v, ok := s.eval(s.in, inherited.Expr)
	return v, inherited, ok && !v.IsNull()
}

// early refuses a secret that is read later, for what is needed now.
func (s blockReader) early(a *hclsyntax.Attribute, v cty.Value) bool {
	steps, found := s.keyring.in(v)
	if found {
		s.wrong(locate(a.Expr, steps), "keyring() is for settings of transports and auth that are secret, such as env and headers, and for tokens",
			"%q is needed when the configuration is read, so it cannot come from keyring()", a.Name)
	}
	return found
}

// stands reports whether an attribute is there and not null, whatever else is
// wrong with it.
func (s blockReader) stands(name string) bool {
	a := s.body.Attributes[name]
	if a == nil {
		return false
	}
	v, ok := s.eval(s.in, a.Expr)
	return !ok || !v.IsNull()
}

// public is value for what people will see, such as a name. It refuses what
// came from outside, which is never printed.
func (s blockReader) public(name string, want cty.Type) (cty.Value, *hclsyntax.Attribute, bool) {
	v, a, set := s.value(name, want)
	if set && v.ContainsMarked() {
		s.wrong(a.Expr.Range(), "write it out; env() and file() are for tokens, settings of a transport, pin and default",
			"%q is shown to people, so it cannot come from env() or file()", name)
		return cty.NilVal, a, false
	}
	return v, a, set
}

// text reads a string that people will see.
func (s blockReader) text(name string) (string, *hclsyntax.Attribute, bool) {
	v, a, set := s.public(name, cty.String)
	if !set {
		return "", a, false
	}
	return v.AsString(), a, true
}

// path reads the path of a file, which starts at the directory of the file that
// says so.
func (s blockReader) path(name string) string {
	text, a, set := s.text(name)
	switch {
	case !set:
		return ""
	case text == "":
		s.wrong(a.Expr.Range(), "", "%q is empty", name)
		return ""
	}
	return s.absolute(a, text)
}

// absolute is a path that stands in an attribute.
func (s blockReader) absolute(a *hclsyntax.Attribute, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(s.byName[a.SrcRange.Filename].dir, path)
}

func (s blockReader) flag(name string, unset bool) bool {
	v, _, set := s.value(name, cty.Bool)
	if !set {
		return unset
	}
	v, _ = v.Unmark()
	return v.True()
}

// choice reads one of several words; the first is what unset means.
func (s blockReader) choice(name string, allowed ...string) string {
	v, a, set := s.value(name, cty.String)
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
	s.wrong(a.Expr.Range(), hint, "%q must be one of %s%s", name, quoted(allowed), notThat(word.AsString(), len(marks) > 0))
	return allowed[0]
}

// quoted lists words for a message.
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

// notThat quotes a value that is no secret.
func notThat(value string, secret bool) string {
	if secret || len(value) > 64 {
		return ""
	}
	return fmt.Sprintf(", not %q", value)
}

// duration reads a length of time of at most longest.
func (s blockReader) duration(name string, unset, longest time.Duration) time.Duration {
	v, a, set := s.value(name, cty.String)
	if !set {
		return unset
	}
	word, marks := v.Unmark()
	d, err := time.ParseDuration(word.AsString())
	switch {
	case err != nil:
		s.wrong(a.Expr.Range(), "", `%q must be a duration such as "30s" or "1m30s"%s`, name, notThat(word.AsString(), len(marks) > 0))
	case d <= 0:
		s.wrong(a.Expr.Range(), "", "%q must be more than zero", name)
	case d > longest:
		s.wrong(a.Expr.Range(), "", "%q must be at most %s", name, short(longest))
	default:
		return d
	}
	return unset
}

// sizeRule is a number of bytes with its unit.
var sizeRule = regexp.MustCompile(`^([1-9][0-9]{0,5}) ?(KiB|MiB)$`)

// size reads a number of bytes.
func (s blockReader) size(name string, unset, least, most int) int {
	v, a, set := s.value(name, cty.String)
	if !set {
		return unset
	}
	word, marks := v.Unmark()
	m := sizeRule.FindStringSubmatch(word.AsString())
	if m == nil {
		s.wrong(a.Expr.Range(), "", `%q must be a size such as "512KiB" or "64MiB"%s`, name, notThat(word.AsString(), len(marks) > 0))
		return unset
	}
	n, _ := strconv.Atoi(m[1]) // at most six digits
	n <<= map[string]int{"KiB": 10, "MiB": 20}[m[2]]
	if n < least || n > most {
		s.wrong(a.Expr.Range(), "", "%q must be at least %s and at most %s", name, sizeText(least), sizeText(most))
		return unset
	}
	return n
}

// sizeText writes a number of bytes as the configuration does.
func sizeText(n int) string {
	if n%(1<<20) == 0 {
		return fmt.Sprintf("%dMiB", n>>20)
	}
	return fmt.Sprintf("%dKiB", n>>10)
}

// whole reads a whole number.
func (s blockReader) whole(name string, unset, least, most int) int {
	v, a, set := s.value(name, cty.Number)
	if !set {
		return unset
	}
	v, _ = v.Unmark()
	n, accuracy := v.AsBigFloat().Int64()
	if accuracy != big.Exact || n < int64(least) || n > int64(most) {
		s.wrong(a.Expr.Range(), "", "%q must be a whole number from %d to %d", name, least, most)
		return unset
	}
	return int(n)
}

// number reads a number that is not negative.
func (s blockReader) number(name string, unset, most float64) float64 {
	v, a, set := s.value(name, cty.Number)
	if !set {
		return unset
	}
	v, _ = v.Unmark()
	n, _ := v.AsBigFloat().Float64()
	if n < 0 || n > most {
		s.wrong(a.Expr.Range(), "", "%q must be a number from 0 to %.0f", name, most)
		return unset
	}
	return n
}

// short is a duration without the units that are zero: 10m instead of 10m0s.
func short(d time.Duration) string {
	text := d.String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(text, zero) {
			text = text[:len(text)-2]
		}
	}
	return text
}

// An item is one string of a list, and where it stands.
type item struct {
	text string
	at   hcl.Range
}

// texts reads a list of strings that people will see.
func (s blockReader) texts(name string) []item {
	v, a, set := s.public(name, cty.List(cty.String))
	if !set {
		return nil
	}
	items := []item{} // an empty list is not the same as none
	for i, e := range v.AsValueSlice() {
		at := locate(a.Expr, []step{{index: i}})
		if e.IsNull() {
			s.wrong(at, "", "%s[%d] is null", name, i)
			continue
		}
		items = append(items, item{text: e.AsString(), at: at})
	}
	return items
}
