package redact

import (
	"cmp"
	"hash/maphash"
	"slices"
	"strings"
)

const (
	// minSecretLine is the length of a line of a secret that is masked on its own.
	minSecretLine = 8

	minEncoded = 6   // bytes of the part of a secret that is masked in base64; shorter ones occur by chance
	maxEncoded = 256 // bytes of a secret that is masked in base64

	// maxEscaped is how often a text is unescaped in the search for secrets. A page that shows
	// a result as JSON adds one to the three that the result itself may have.
	maxEscaped = 4
)

// A text may have been cut within a secret. The beginning of a secret at the end of a text is
// masked too, if it has at least minCut bytes and at most maxCut.
const (
	minCut = 8
	maxCut = 1024
)

// A Scrubber masks secrets in texts. A nil Scrubber changes nothing. Several goroutines may use one
// at once.
type Scrubber struct{ forms *secretForms }

// Scrub masks the secrets in a text.
func Scrub(text string, secrets []string) string { return New(secrets).Replace(text) }

// New returns a Scrubber for secrets. It masks them as they are, with the escapes of JSON, Go, URLs
// and HTML, which may be nested up to four times, and within base64 such as that of HTTP's basic
// authentication. It masks the longest secret first, because one may be a prefix of another. It
// leaves secrets of at most three bytes, which occur in ordinary words. It does not look for the
// plain secrets in base64, which saves most of the memory.
func New(secrets []string, plain ...string) *Scrubber {
	isPlain := map[string]bool{}
	for _, w := range plain {
		isPlain[w] = !slices.Contains(secrets, w)
	}
	secrets = slices.Concat(secrets, plain)
	// A program may print a key of several lines line by line.
	for _, w := range slices.Clone(secrets) {
		if strings.Contains(w, "\n") {
			for line := range strings.Lines(w) {
				if line = strings.TrimSpace(line); len(line) >= minSecretLine {
					secrets = append(secrets, line)
				}
			}
		}
	}
	longest := slices.SortedFunc(slices.Values(secrets), func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	var forms []secretForm
	for _, w := range longest {
		if len(w) <= tooShort {
			break
		}
		long := len(w) >= longSecret
		forms = append(forms, secretForm{text: w, long: long})
		if strings.Contains(w, " ") { // as the query of a URL has it, when its other escapes are removed
			forms = append(forms, secretForm{text: strings.ReplaceAll(w, " ", "+"), long: long})
		}
		if isPlain[w] {
			for _, form := range quotedForms(w) {
				forms = append(forms, secretForm{text: form, long: long})
			}
			continue
		}
		for _, form := range escapedForms(w) {
			forms = append(forms, secretForm{text: form, long: long})
		}
		for _, form := range base64Forms(w) {
			forms = append(forms, secretForm{text: form, base64: true, long: long})
		}
	}
	return &Scrubber{newSecretForms(forms)}
}

// Replace returns a text with [Mask] in place of the secrets. Its time is at most that of some dozen
// searches of the text, and that of one if the text has no escapes.
func (s *Scrubber) Replace(text string) string {
	if s == nil {
		return text
	}
	x := scrubbing{forms: s.forms}
	x.search(layer{text: text}, 0)
	if len(x.found) == 0 {
		return text
	}
	slices.SortFunc(x.found,
		func(a, b span) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(b.to, a.to)) })
	var b strings.Builder
	done, end := 0, -1 // what is written of the text, and the end of the mask that is open
	for _, one := range x.found {
		if one.from < end { // it overlaps with the one before
			end = max(end, one.to)
			done = end
			continue
		}
		b.WriteString(text[done:one.from])
		b.WriteString(Mask)
		done, end = one.to, one.to
	}
	b.WriteString(text[done:])
	return b.String()
}

// longSecret is the least length, in bytes, of a secret that Finds looks for. A shorter one may
// be a word, because every value of a sensitive setting is a secret.
const longSecret = 16

// Finds reports whether a text has a secret of at least 16 bytes.
func (s *Scrubber) Finds(text string) bool {
	if s == nil || !s.forms.long {
		return false
	}
	x := scrubbing{forms: s.forms, long: true}
	x.search(layer{text: text}, 0)
	return len(x.found) > 0
}

// A scrubbing is one search of a text.
type scrubbing struct {
	forms *secretForms
	long  bool   // look for long secrets, and only until the first is found
	found []span // in the text; they may overlap
	seed  maphash.Seed
	seen  map[uint64]bool // the digests of the layers that were searched
}

// A span is a part of a text.
type span struct{ from, to int }

// search looks for secrets in a layer, and in it with fewer escapes. escaped is how many were
// removed.
func (x *scrubbing) search(l layer, escaped int) {
	x.searchLayer(l)
	if escaped == maxEscaped {
		return
	}
	for _, e := range escapes {
		if x.long && len(x.found) > 0 {
			return
		}
		if next, ok := l.unescape(e); ok && x.isNew(next.text) {
			x.search(next, escaped+1)
		}
	}
}

// isNew reports whether a layer has another text than those before: the order in which
// different escapes are removed seldom matters.
func (x *scrubbing) isNew(text string) bool {
	if x.seen == nil {
		x.seed, x.seen = maphash.MakeSeed(), map[uint64]bool{}
	}
	sum := maphash.String(x.seed, text)
	known := x.seen[sum]
	x.seen[sum] = true
	return !known
}

// searchLayer adds the secrets in the text of a layer.
func (x *scrubbing) searchLayer(l layer) {
	text, last := l.text, 0
	for i := 0; i+leastForm <= len(text); i++ {
		n, form := x.forms.at(text, i, x.long)
		if form == nil {
			continue
		}
		found := span{i, i + n}
		if form.base64 {
			found = aroundBase64(text, found, last)
		}
		x.add(l, found)
		if x.long {
			return
		}
		last = found.to
		i = last - 1
	}
	if x.long {
		return
	}
	if cut, form := x.forms.cut(text); form != nil {
		if form.base64 {
			cut = aroundBase64(text, cut, last)
		}
		x.add(l, cut)
	}
}

// add adds a part of a layer, as a part of the text.
func (x *scrubbing) add(l layer, found span) { x.found = append(x.found, l.origin(found)) }
