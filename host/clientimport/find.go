package clientimport

import (
	"cmp"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/host/lazyregexp"
	"github.com/junctor-mcp/junctor/host/secretname"
)

// In the texts of this file a NUL is in the place of each reference.
const mark = "\x00"

// A span is a part of a text that is a secret.
type span struct {
	from, to int
	name     string // of the setting that it is the value of
	where    string // in the client's file; empty: where the text is
}

// secretWords are words of names of secrets beside those of package secretname, which are
// parts of words.
var secretWords = []string{"pat", "passphrase", "pass", "pwd", "pin", "session", "signing", "signature", "sig",
	"license", "licence", "dsn", "tok", "code", "otp", "sas"}

// All functions of this file are pure. A new kind of token goes into knownSecret (a whole value), forms
// (inside a text) and placeholder (its beginning in examples).

// sounds reports whether a name is that of a kind of secret.
func sounds(name string) bool {
	if secretname.Sounds(name) {
		return true
	}
	return slices.ContainsFunc(strings.FieldsFunc(strings.ToLower(name),
		func(r rune) bool { return r == '_' || r == '-' || r == '.' }), func(word string) bool {
		return slices.Contains(secretWords, word)
	})
}

// knownSecret matches secrets that their form gives away.
var knownSecret = lazyregexp.New(`^(gh[pousr]_|github_pat_|glpat-|sk-|xox[abprs]-|AKIA|ya29\.|eyJ[A-Za-z0-9_-]{10}|Bearer |Basic |[A-Za-z0-9+/_-]{40,}=*$)`)

// plainValue matches values that are no secrets, whatever their name sounds like.
var plainValue = lazyregexp.New(
	`^(?i:true|false|yes|no|on|off|none|null|[0-9]{1,6}|https?://[^/@?#]*/?[A-Za-z0-9/_.-]*|/[^:?]*)$`,
)

// placeholder matches what examples have in the place of a secret.
var placeholder = lazyregexp.New(`^(?i:(?:bearer |basic |token )?(?:sk-|gh[pousr]_|github_pat_|xox[abprs]-)?(?:` +
	`<[^<>]*>|\[[a-z][a-z _-]*\]|\{\{?[^{}"]*\}?\}|%[a-z_][a-z0-9_]*%|[*.x…]{3,}|_+` +
	`|(?:your|my|insert|enter|add|put|paste|replace|change)[ _-](?:[a-z0-9]+[ _-])*(?:api ?key|key|token|secret|password|pat|id|credentials?|value|here|me|this|it)s?(?:[ _-]here)?` +
	`|yourapikey|apikeyhere|changeme|placeholder|todo|fixme))$`)

// example matches what examples have in the place of a value of any kind, such as
// your-team-id.
var example = lazyregexp.New(`^(?i:your[ _-](?:[a-z0-9]+[ _-])*(?:id|name|email|ur[il]|host|domain|account|org|organi[sz]ation|project|user|username|profile|region|workspace|database|path|directory|key|token|secret|password|value|here)s?(?:[ _-]here)?)$`)

// leastPart is the number of characters beside a reference from which on they may be a part of a
// secret: "Bearer ${TOKEN}" and "sk-${REST}" have none.
const leastPart = 8

// besideReferences returns the parts of a value beside its references, for a setting whose name is
// that of a secret: "half-of-a-key${OTHER_HALF}", perhaps behind a scheme. A text with white space is
// a sentence or a script, and has none; neither has an address.
func besideReferences(name, value string) (all []span) {
	whole := wholeSecret(name, value)
	if !strings.Contains(value, mark) || !identifier.MatchString(name) || !sounds(name) ||
		strings.ContainsAny(value[whole.from:], " \t\r\n;&|") {
		return nil
	}
	at := whole.from
	for run := range strings.SplitSeq(value[at:], mark) {
		if len(run) >= leastPart && !plainValue.MatchString(run) && !placeholder.MatchString(run) &&
			!strings.Contains(run, "://") {
			all = append(all, span{from: at, to: at + len(run), name: name})
		}
		at += len(run) + len(mark)
	}
	return all
}

// isSecret reports whether the value of a setting may be a secret as a whole. A value with a
// reference is none: its secret is elsewhere, but for what besideReferences finds.
func isSecret(name, value string) bool {
	return value != "" && !strings.Contains(value, mark) && !plainValue.MatchString(value) &&
		(sounds(name) || knownSecret.MatchString(value) || len(secretsIn(value)) > 0)
}

// The forms of secrets in a longer text. The last group of each is the secret, and a group
// before it its name.
var forms = []struct {
	name  string // if the form has no name
	needs string // what every text of the form has; empty: nothing
	*lazyregexp.Regexp
}{
	// A member of JSON, also escaped.
	{"", `"`, lazyregexp.New(`\\*"([^"\\]*)\\*"\s*:\s*\\*"([^"\\]+)`)},
	// A flag with its value.
	{"", "-", lazyregexp.New(`(?:^|[\s"'])--?([A-Za-z][A-Za-z0-9_-]*)[ =]["']?([^\s"'-][^\s"']*)`)},
	// A header.
	{"", "", lazyregexp.New(
		`(?i)\b(authorization|proxy-authorization|x-[a-z0-9-]+|api-?key)\s*[:=]\s*["']?([^"'\s]+(?: [^"'\s]+)?)`,
	)},
	// A member of a connection string.
	{"", "=", lazyregexp.New(`(?i)\b(password|passwd|pwd|accountkey|sharedaccesskey)\s*=\s*([^;\s"'&|]+)`)},
	{"authorization", "", lazyregexp.New(`(?i)\b(?:bearer|basic)\s+([a-z0-9._~+/=-]{8,})`)},
	{"password", "://", lazyregexp.New(`://[^/?#@:\s"']*:([^/?#\s"']+)@`)},
	{"token", "://", lazyregexp.New(`://([^/?#@:\s"']{8,})@`)},
	{"token", "", lazyregexp.New(`\b((?:gh[pousr]_|github_pat_|glpat-|sk-|xox[abprs]-)[A-Za-z0-9_-]{4,}|AKIA[A-Z0-9]{12,}|eyJ[A-Za-z0-9_-]{10,}[A-Za-z0-9._-]*)`)},
	{"key", "PRIVATE KEY-----",
		lazyregexp.New(`(?s)(-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----.*?(?:-----END [A-Z0-9 ]*PRIVATE KEY-----|$))`)},
	{"webhook", "/",
		lazyregexp.New(`(?:hooks\.slack\.com|discord(?:app)?\.com/api/webhooks|webhook\.office\.com)/([^\s"'?#]+)`)},
}

// maxSpans is the maximum number of secrets in one text. A text with more is one as a whole.
const maxSpans = 500

// secretsIn returns the secrets in a text of any kind, in order, without overlap.
func secretsIn(text string) (all []span) {
	for _, f := range forms {
		if !strings.Contains(text, f.needs) {
			continue
		}
		for from := 0; from < len(text); {
			at := f.FindStringSubmatchIndex(text[from:])
			if at == nil {
				break
			}
			last := len(at) - 2
			s := span{from: from + at[last], to: from + at[last+1], name: f.name}
			if s.name == "" {
				s.name = text[from+at[2] : from+at[3]]
			}
			from += max(at[last], 1)
			if value := text[s.from:s.to]; found(s.name, value, f.name != "") {
				all, from = append(all, s), max(from, s.to)
			}
			if len(all) > maxSpans {
				return []span{{to: len(text), name: "text"}}
			}
		}
	}
	all = append(all, assignments(text)...)
	if len(all) > maxSpans {
		return []span{{to: len(text), name: "text"}}
	}
	return withoutOverlap(all)
}

// found reports whether the value of a form is a secret. certain says that its form is that of
// a secret, whatever its name.
func found(name, value string, certain bool) bool {
	switch {
	case value == "", strings.Contains(value, mark), plainValue.MatchString(value), strings.HasPrefix(value, "$"),
		placeholder.MatchString(value):
		return false
	}
	return certain || sounds(name) || knownSecret.MatchString(value)
}

// assignments returns the values of NAME=VALUE in a text whose names sound like those of
// secrets: of variables in a script, of nested options, and in the query of a URL.
func assignments(text string) (all []span) {
	for i := 1; i < len(text); i++ {
		if text[i] != '=' {
			continue
		}
		begin := i
		for begin > 0 && isWordByte(text[begin-1]) {
			begin--
		}
		name := strings.TrimLeft(text[begin:i], "-.")
		if name == "" || !sounds(name) {
			continue
		}
		from, to := valueAt(text, i+1)
		if found(name, text[from:to], false) {
			all = append(all, span{from: from, to: to, name: name})
		}
		i = max(i, to-1)
	}
	return all
}

func isWordByte(b byte) bool {
	return isLetter(b) || b >= '0' && b <= '9' || b == '_' || b == '-' || b == '.'
}

// valueAt returns the value that begins at an offset, without its quotes: up to the closing
// quote, or up to white space or an operator of a shell.
func valueAt(text string, at int) (from, to int) {
	rest := strings.TrimLeft(text[at:], `\`)
	if from = len(text) - len(rest); rest != "" && (rest[0] == '"' || rest[0] == '\'') {
		inner := rest[1:]
		end := strings.IndexByte(inner, rest[0])
		if end < 0 {
			end = len(inner)
		}
		value := strings.TrimRight(inner[:end], `\`)
		return from + 1, from + 1 + len(value)
	}
	end := strings.IndexAny(rest, " \t\r\n&|;<>\"'`,")
	if end < 0 {
		end = len(rest)
	}
	return from, from + end
}

// withoutOverlap returns the spans in order. Of two that overlap, the longer one stays.
func withoutOverlap(all []span) (kept []span) {
	slices.SortStableFunc(all, func(a, b span) int { return cmp.Compare(b.to-b.from, a.to-a.from) })
	for _, s := range all {
		if !slices.ContainsFunc(kept, func(k span) bool { return s.from < k.to && k.from < s.to }) {
			kept = append(kept, s)
		}
	}
	slices.SortFunc(kept, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	return kept
}
