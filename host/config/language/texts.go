package language

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// textOr reads a string that is printed.
func textOr(r Reader, name, unset string) string {
	if text, _, set := r.Text(name); set {
		return text
	}
	return unset
}

// pathOr reads the path of a file.
func pathOr(r Reader, name, unset string) string {
	if path := r.Path(name); path != "" {
		return path
	}
	return unset
}

// inputPath reads the path of a file that may come from env() and file().
func inputPath(r Reader, name, unset string) string {
	v, a, set := r.Value(name, cty.String)
	if !set {
		return unset
	}
	v, _ = v.Unmark()
	if v.AsString() == "" {
		r.ErrorAt(a.Expr.Range(), "", "%q is empty", name)
		return unset
	}
	return r.Absolute(a, v.AsString())
}

// secretText reads a string that may come from env() and file(). No message shows one that does.
func secretText(r Reader, name, unset string) string {
	v, _, set := r.Value(name, cty.String)
	if !set {
		return unset
	}
	return conceal(r, v, false)
}

// lateText is secretText for a string that may come from keyring() too.
func lateText(r Reader, name, unset string) string {
	v, a, set := r.RawValue(name)
	if set {
		v, set = r.Convert(a, v, cty.String)
	}
	if !set {
		return unset
	}
	v, _ = v.Unmark()
	if text := v.AsString(); !r.Host.IsLate(text) {
		r.Host.Conceal(text)
	}
	return v.AsString()
}

// secretTexts is secretText for a list.
func secretTexts(r Reader, name string) []string {
	v, a, set := r.Value(name, cty.List(cty.String))
	if !set {
		return nil
	}
	v, marks := v.Unmark()
	texts := []string{}
	for i, e := range v.AsValueSlice() {
		if bare, _ := e.Unmark(); bare.IsNull() {
			r.ErrorAt(Locate(a.Expr, []Step{{Index: i}}), "", "%s[%d] is null", name, i)
			continue
		}
		texts = append(texts, conceal(r, e, len(marks) > 0))
	}
	return texts
}

// conceal returns a text, which is a secret if it is marked.
func conceal(r Reader, v cty.Value, marked bool) string {
	v, marks := v.Unmark()
	if marked || len(marks) > 0 {
		r.Host.Conceal(v.AsString())
	}
	return v.AsString()
}

// IsMarked reports whether a part of an attribute comes from env() or file().
func (r Reader) IsMarked(name string) bool {
	v, _, set := r.RawValue(name)
	return set && v.ContainsMarked()
}

// ItemAt returns the place of an element of a list. It is that of the whole value if the element
// is written elsewhere.
func (r Reader) ItemAt(name string, i int) hcl.Range {
	return Locate(r.Body.Attributes[name].Expr, []Step{{Index: i}})
}

// MemberAt is ItemAt for a member of a map.
func (r Reader) MemberAt(name, member string) hcl.Range {
	return Locate(r.Body.Attributes[name].Expr, []Step{{Name: member}})
}

// NameAt returns the place of the name of an attribute, which is present.
func (r Reader) NameAt(name string) hcl.Range { return r.Body.Attributes[name].NameRange }

// wordList reads a list of different words.
func wordList(r Reader, name string, allowed []string) (list []string) {
	for _, e := range r.Texts(name) {
		switch {
		case !slices.Contains(allowed, e.Text):
			hint := NearHint(e.Text, allowed)
			r.ErrorAt(e.At, hint, "%q may list %s%s", name, Quoted(allowed), GotText(e.Text, false))
		case slices.Contains(list, e.Text):
			r.ErrorAt(e.At, "", "%q lists %q twice", name, e.Text)
		default:
			list = append(list, e.Text)
		}
	}
	return list
}
