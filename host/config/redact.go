package config

import (
	"cmp"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/zclconf/go-cty/cty"
)

// Words of others are of two kinds. What HCL and its functions say is fixed
// but for what stands in quotes: hushed looks at that and leaves the rest
// alone. What a plugin says may hold its settings anywhere: scrubbed takes
// out what is known to be a secret. Neither is for words of ours.

// quoteRule finds the texts in a message that are quoted as Go does it.
var quoteRule = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)

// redactQuotes masks the quotes in a message that could be a secret: what came from
// outside, and the literals that the source's snippets mask.
func (l *loader) redactQuotes(s *source, message string) string {
	return quoteRule.ReplaceAllStringFunc(message, func(quote string) string {
		text := unescaped(quote[1 : len(quote)-1])
		if l.tells(s, text) {
			return `"` + masked + `"`
		}
		return quote
	})
}

// tells reports whether a quoted text could be a secret, or part of one.
func (l *loader) tells(s *source, text string) bool {
	switch {
	case fixedWords[text]:
		return false
	case holds(text, l.secrets):
		return true
	case s == nil:
		return partOf(text, l.secrets)
	}
	snip := s.prepare()
	return !snip.readable[text] && (holds(text, snip.literals) || partOf(text, snip.literals) || partOf(text, l.secrets))
}

// fixedWords stand in quotes in messages of HCL and its functions: names of
// parameters, and what a text must be.
var fixedWords = func() map[string]bool {
	words := map[string]bool{"true": true, "false": true, "if": true, "for": true, "name": true, "fallback": true, "path": true}
	for name, f := range functions {
		if name == "env" || name == "file" || name == "keyring" {
			continue // they say "name", "fallback" and "path", and are made later
		}
		if f.VarParam() != nil {
			words[f.VarParam().Name] = true
		}
		for _, p := range f.Params() {
			words[p.Name] = true
		}
	}
	return words
}()

// tooShort is the length of texts that are no secrets and would be found in
// ordinary words.
const tooShort = 3

// tellingLine is how long a line of a secret is that tells something.
const tellingLine = 8

// holds reports whether a text is one of the words or has one in it.
func holds(text string, words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool {
		return w == text && w != "" || len(w) > tooShort && strings.Contains(text, w)
	})
}

// partOf reports whether a text stands in one of the words.
func partOf(text string, words []string) bool {
	return len(text) > tooShort && slices.ContainsFunc(words, func(w string) bool { return strings.Contains(w, text) })
}

// unescaped is what stands between quotes in HCL or in a message of Go. HCL's
// escapes are Go's, and one for what would begin an interpolation.
func unescaped(text string) string {
	if plain, err := strconv.Unquote(`"` + text + `"`); err == nil {
		text = plain
	}
	return strings.NewReplacer("$${", "${", "%%{", "%{").Replace(text)
}

// scrubbed replaces every one of the secrets in text.
func scrubbed(text string, secrets []string) string { return Scrubber(secrets).Replace(text) }

// Scrubber replaces secrets, also where they stand as Go or JSON quote them; the
// longest first, because one may be the beginning of another.
func Scrubber(secrets []string) *strings.Replacer {
	// Who prints a key of many lines prints many lines, and not the last line break.
	for _, w := range slices.Clone(secrets) {
		if strings.Contains(w, "\n") {
			for line := range strings.Lines(w) {
				if line = strings.TrimSpace(line); len(line) >= tellingLine {
					secrets = append(secrets, line)
				}
			}
		}
	}
	longest := slices.SortedFunc(slices.Values(secrets), func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	var pairs []string
	for _, w := range longest {
		if len(w) <= tooShort {
			break
		}
		pairs = append(pairs, w, masked)
		inGo := strconv.Quote(w)
		inJSON, err := json.Marshal(w)
		if err != nil {
			continue
		}
		for _, quote := range []string{inGo, string(inJSON)} {
			if len(quote) != len(w)+2 {
				pairs = append(pairs, quote[1:len(quote)-1], masked)
			}
		}
	}
	return strings.NewReplacer(pairs...)
}

// Conceal replaces in a text of others, such as a plugin's log, every secret of
// the configuration: what env() and file() returned, tokens, and the values of
// settings that their plugins call sensitive.
func (c *Config) Conceal(text string) string { return c.secrets.Replace(text) }

// stringOf returns the text of a known string, and "" for any other value. v
// must not be marked.
func stringOf(v cty.Value) string {
	if v.Type() != cty.String || v.IsNull() || !v.IsKnown() {
		return ""
	}
	return v.AsString()
}

// textsIn lists every text in the values.
func textsIn(values ...cty.Value) []string {
	var texts []string
	for _, v := range values {
		v, _ = v.UnmarkDeep()
		_ = cty.Walk(v, func(_ cty.Path, v cty.Value) (bool, error) {
			if text := stringOf(v); text != "" {
				texts = append(texts, text)
			}
			return true, nil
		})
	}
	return texts
}
