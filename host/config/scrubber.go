package config

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
)

const (
	// minSecretLine is the length of a line of a secret that is masked on its own.
	minSecretLine = 8

	minEncoded = 6   // bytes of the part of a secret that is masked in base64; shorter ones occur by chance
	maxEncoded = 256 // bytes of a secret that is masked in base64
)

// inBase64 marks base64 with a secret, until all of the base64 is masked.
const inBase64 = "\x00base64\x00"

// A Scrubber masks secrets in texts. A nil Scrubber changes nothing.
type Scrubber struct {
	replacer *strings.Replacer
	begin    map[string][]string // the forms of the secrets by their first minCut bytes
	mask     map[string]string   // what replaces a form
	longest  int                 // bytes of the longest form, at most maxCut

	long func() *strings.Replacer // of the secrets with at least longSecret bytes
}

// A text may have been cut within a secret. The beginning of a secret at the end of a text is
// masked too, if it has at least minCut bytes and at most maxCut.
const (
	minCut = 8
	maxCut = 1024
)

// scrub masks the secrets in a text.
func scrub(text string, secrets []string) string { return NewScrubber(secrets).Replace(text) }

// NewScrubber returns a Scrubber for secrets. It masks them as they are, in the notation of Go
// and JSON strings, in URLs, and within base64 such as that of HTTP's basic authentication. It
// masks the longest secret first, because one may be a prefix of another. It masks the plain
// secrets only as they are and in quotes, which takes a tenth of the memory.
func NewScrubber(secrets []string, plain ...string) *Scrubber {
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
	s := &Scrubber{begin: map[string][]string{}, mask: map[string]string{}}
	var pairs []string
	ofLong := 0 // pairs
	add := func(form, mask string) {
		if s.mask[form] != "" {
			return
		}
		pairs = append(pairs, form, mask)
		s.mask[form] = mask
		if len(form) > minCut {
			s.begin[form[:minCut]] = append(s.begin[form[:minCut]], form)
			s.longest = max(s.longest, min(len(form), maxCut))
		}
	}
	for _, w := range longest {
		if len(w) <= tooShort {
			break
		}
		add(w, masked)
		if isPlain[w] {
			for _, form := range quotedForms(w) {
				add(form, masked)
			}
		} else {
			for _, form := range escapedForms(w) {
				add(form, masked)
			}
			for _, form := range base64Forms(w) {
				add(form, inBase64)
			}
		}
		if len(w) >= longSecret {
			ofLong = len(pairs)
		}
	}
	s.long = sync.OnceValue(func() *strings.Replacer { return strings.NewReplacer(pairs[:ofLong]...) })
	s.replacer = strings.NewReplacer(pairs...)
	return s
}

// Replace returns a text without the secrets.
func (s *Scrubber) Replace(text string) string {
	if s == nil {
		return text
	}
	return maskBase64(s.maskCut(s.replacer.Replace(text)))
}

// longSecret is the least length, in bytes, of a secret that Finds looks for. A shorter one may
// be a word, because every value of a sensitive setting is a secret.
const longSecret = 16

// Finds reports whether a text has a long secret.
func (s *Scrubber) Finds(text string) bool {
	return s != nil && s.long().Replace(text) != text
}

// maskCut masks the beginning of a secret at the end of a text.
func (s *Scrubber) maskCut(text string) string {
	whole := strings.TrimRight(text, " .…")
	for i := max(0, len(whole)-s.longest); i+minCut <= len(whole); i++ {
		for _, form := range s.begin[whole[i:i+minCut]] {
			if strings.HasPrefix(form, whole[i:]) {
				return whole[:i] + s.mask[form] + text[len(whole):]
			}
		}
	}
	return text
}

// escapedForms returns the notations of a secret with escapes that differ from the secret.
func escapedForms(secret string) (all []string) {
	forms := []string{secret, url.QueryEscape(secret), url.PathEscape(secret), strings.ReplaceAll(url.QueryEscape(secret), "+", "%20")}
	forms = append(forms, (&url.URL{Path: secret}).EscapedPath(), url.UserPassword("", secret).String()[1:])
	for _, one := range slices.Clone(forms) { // some programs write the digits in lower case
		forms = append(forms, lowerEscapes(one))
	}
	for range 2 { // a text with JSON may be quoted once more
		for _, one := range slices.Clone(forms) {
			forms = append(forms, quotedForms(one)...)
		}
		slices.Sort(forms)
		forms = slices.Compact(forms)
	}
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

// maskBase64 masks the base64 around each part that is marked: its first and last characters
// have bits of the secret.
func maskBase64(text string) string {
	before, rest, found := strings.Cut(text, inBase64)
	if !found {
		return text
	}
	var b strings.Builder
	for found {
		b.WriteString(strings.TrimRightFunc(before, isBase64))
		b.WriteString(masked)
		before, rest, found = strings.Cut(strings.TrimLeft(strings.TrimLeftFunc(rest, isBase64), "="), inBase64)
		for found && before == "" { // one run of base64 with several secrets
			before, rest, found = strings.Cut(strings.TrimLeft(strings.TrimLeftFunc(rest, isBase64), "="), inBase64)
		}
	}
	return b.String() + before
}

func isBase64(r rune) bool {
	return r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || strings.ContainsRune("+/-_", r)
}
