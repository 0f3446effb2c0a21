package redact

import (
	"encoding/base64"
	"encoding/json"
	"html"
	"net/url"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// leastForm is the length in bytes of the shortest form of a secret.
const leastForm = tooShort + 1

// A secretForm is a text that is masked: a secret, as it is or escaped, or the base64 of a part of
// one.
type secretForm struct {
	text   string
	base64 bool // all of the base64 around it is masked
	long   bool // the secret has at least longSecret bytes
	rank   int  // the smallest one counts where several forms begin
}

// secretForms finds forms of secrets at a place of a text. Its forms are sorted, so those with
// a common beginning are a range. This takes a fraction of the memory of a [strings.Replacer],
// and tells where it has found something. They do not change once made.
type secretForms struct {
	all     []secretForm
	starts  map[[leastForm]byte]formRange // by their first bytes
	begins  [1 << 16 / 64]uint64          // a bit for each pair of bytes that begins a form
	longest int                           // bytes of the longest form, at most maxCut
	long    bool                          // there are long secrets
}

// A formRange is a range of forms.
type formRange struct{ from, to int }

// newSecretForms returns the index of forms. Where several begin at one place, the first one in
// the slice counts.
func newSecretForms(all []secretForm) *secretForms {
	f := &secretForms{starts: map[[leastForm]byte]formRange{}}
	for i := range all {
		all[i].rank = i
	}
	slices.SortStableFunc(all, func(a, b secretForm) int { return strings.Compare(a.text, b.text) })
	f.all = slices.CompactFunc(all, func(a, b secretForm) bool { return a.text == b.text })
	for i, one := range f.all {
		key := [leastForm]byte([]byte(one.text[:leastForm]))
		r, known := f.starts[key]
		if !known {
			r.from = i
		}
		r.to = i + 1
		f.starts[key] = r
		pair := pairAt(one.text, 0)
		f.begins[pair/64] |= 1 << (pair % 64)
		f.long = f.long || one.long
		if len(one.text) > minCut {
			f.longest = max(f.longest, min(len(one.text), maxCut))
		}
	}
	return f
}

// pairAt returns two bytes of a text as a number.
func pairAt(text string, i int) int { return int(text[i])<<8 | int(text[i+1]) }

// at returns the form that begins at a place of a text and its length, or nil. The text has
// at least leastForm bytes there.
func (f *secretForms) at(text string, i int, long bool) (n int, form *secretForm) {
	r, known := f.beginning(text, i)
	if !known {
		return 0, nil
	}
	consider := func(one *secretForm) {
		if (form == nil || one.rank < form.rank) && (one.long || !long) {
			n, form = len(one.text), one
		}
	}
	rest := text[i:]
	for depth := leastForm; ; depth++ {
		if len(f.all[r.from].text) == depth { // the shortest one of a range comes first
			consider(&f.all[r.from])
			r.from++
		}
		switch {
		case r.from == r.to || depth == len(rest):
			return n, form
		case r.from+1 == r.to:
			if one := &f.all[r.from]; strings.HasPrefix(rest, one.text) {
				consider(one)
			}
			return n, form
		}
		c := rest[depth]
		from := r.from
		r.from += sort.Search(r.to-from, func(k int) bool { return f.all[from+k].text[depth] >= c })
		from = r.from
		r.to = from + sort.Search(r.to-from, func(k int) bool { return f.all[from+k].text[depth] > c })
		if r.from == r.to {
			return n, form
		}
	}
}

// beginning returns the forms that begin with the first bytes at a place of a text.
func (f *secretForms) beginning(text string, i int) (r formRange, known bool) {
	pair := pairAt(text, i)
	if f.begins[pair/64]&(1<<(pair%64)) == 0 {
		return r, false
	}
	r, known = f.starts[[leastForm]byte([]byte(text[i:i+leastForm]))]
	return r, known
}

// cut returns the beginning of a form at the end of a text, and the form, or nil.
func (f *secretForms) cut(text string) (cut span, form *secretForm) {
	whole := beforeDots(text)
	for i := max(0, len(whole)-f.longest); i+minCut <= len(whole); i++ {
		r, known := f.beginning(whole, i)
		if !known {
			continue
		}
		rest := whole[i:]
		k := r.from + sort.Search(r.to-r.from, func(k int) bool { return f.all[r.from+k].text >= rest })
		if k < r.to && len(f.all[k].text) > minCut && strings.HasPrefix(f.all[k].text, rest) {
			return span{i, len(whole)}, &f.all[k]
		}
	}
	return cut, nil
}

// beforeDots returns a text without the dots that say where it was cut.
func beforeDots(text string) string { return strings.TrimRight(text, " .…") }

// escapedForms returns the usual notations of a secret with escapes that differ from the secret. They
// are found also where the text before them looks like the beginning of an escape.
func escapedForms(secret string) (all []string) {
	forms := []string{secret, url.QueryEscape(secret), url.PathEscape(secret),
		strings.ReplaceAll(url.QueryEscape(secret), "+", "%20")}
	forms = append(forms, (&url.URL{Path: secret}).EscapedPath(), url.UserPassword("", secret).String()[1:],
		html.EscapeString(secret))
	for _, one := range slices.Clone(forms) { // some programs write the digits in lower case
		forms = append(forms, lowerEscapes(one))
	}
	quoted := quotedForms(secret)
	for _, one := range slices.Clone(quoted) { // a text with JSON may be quoted once more
		if one != secret {
			quoted = append(quoted, quotedForms(one)...)
		}
	}
	forms = append(forms, quoted...)
	slices.Sort(forms)
	forms = slices.Compact(forms)
	return slices.DeleteFunc(forms, func(one string) bool { return one == secret })
}

// quotedForms returns a text as Go and JSON write it in quotes, with slashes as they are and
// escaped, as PHP does.
func quotedForms(text string) (all []string) {
	inGo := strconv.Quote(text)
	all = append(all, inGo[1:len(inGo)-1])
	if inJSON, err := json.Marshal(text); err == nil {
		all = append(all, string(inJSON[1:len(inJSON)-1]))
	}
	if strings.Contains(text, "/") {
		for _, one := range slices.Clone(all) {
			all = append(all, strings.ReplaceAll(one, "/", `\/`))
		}
	}
	return all
}

// lowerEscapes returns a text of a URL with the digits of its escapes in lower case.
func lowerEscapes(text string) string {
	b := []byte(text)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			copy(b[i:], strings.ToLower(text[i:i+3]))
		}
	}
	return string(b)
}

// base64Forms returns the base64 of a secret, as it is part of the base64 of a longer text:
// three alignments, without the characters that depend on the text around it.
func base64Forms(secret string) (all []string) {
	if len(secret) > maxEncoded {
		return nil
	}
	for skip := range 3 {
		whole := len(secret) - skip
		if whole -= whole % 3; whole < minEncoded {
			continue
		}
		for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			if one := encoding.EncodeToString([]byte(secret[skip : skip+whole])); !slices.Contains(all, one) {
				all = append(all, one)
			}
		}
	}
	return all
}

// aroundBase64 returns all of the base64 around a part of a text, from a place on: its first and
// last characters have bits of the secret.
func aroundBase64(text string, part span, from int) span {
	for part.from > from && isBase64(text[part.from-1]) {
		part.from--
	}
	for part.to < len(text) && isBase64(text[part.to]) {
		part.to++
	}
	for part.to < len(text) && text[part.to] == '=' {
		part.to++
	}
	return part
}

func isBase64(c byte) bool {
	return c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || strings.IndexByte("+/-_", c) >= 0
}
