package clientimport

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"github.com/junctor-mcp/junctor/host/lazyregexp"
	"github.com/junctor-mcp/junctor/host/secretname"
)

func isShown(r rune) bool { return unicode.IsPrint(r) }

// knownSecret matches secrets that their form gives away.
var knownSecret = lazyregexp.New(`^(gh[pousr]_|github_pat_|glpat-|sk-|xox[abprs]-|AKIA|ya29\.|eyJ[A-Za-z0-9_-]{10}|Bearer |Basic |[A-Za-z0-9+/_-]{40,}=*$)`)

// containedSecret matches texts with a secret in them: a header, a member of JSON, a flag with
// its value, the password of a URL, or a token with a known beginning.
var containedSecret = lazyregexp.New(`(?i)\b(?:bearer|basic)\s+[a-z0-9._~+/=-]{8,}` +
	`|"[^"]*(?:token|secret|passw|key|auth|credential|cookie)[^"]*"\s*:\s*"[^"]` +
	`|-[a-z-]*(?:token|secret|passw|key|credential)[a-z-]*[= ]\S` +
	`|://[^/@:\s]*:[^/@\s]+@` +
	`|\b(?:gh[pousr]_|github_pat_|glpat-|sk-|xox[abprs]-)[a-z0-9]{4,}` +
	`|\b(?:password|passwd|pwd|accountkey|sharedaccesskey)\s*=\s*[^;\s]` +
	`|://[^/@:\s]{8,}@` +
	`|hooks\.slack\.com/|discord(?:app)?\.com/api/webhooks/|webhook\.office\.com/`)

// secretWords are words of names of secrets beside those of package secretname, which are
// parts of words.
var secretWords = []string{"pat", "passphrase", "pass", "pwd", "pin", "session", "signing", "signature", "sig", "license", "licence", "dsn", "tok", "code", "otp", "sas"}

// sounds reports whether a name is that of a kind of secret.
func sounds(name string) bool {
	if secretname.Sounds(name) {
		return true
	}
	return slices.ContainsFunc(strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return r == '_' || r == '-' || r == '.' }), func(word string) bool {
		return slices.Contains(secretWords, word)
	})
}

// isSecret reports whether a value with a name may be a secret. A text with a reference
// is none: its secret is elsewhere.
func isSecret(name, value string) bool {
	return value != "" && !reference.MatchString(value) && (sounds(name) || knownSecret.MatchString(value) || containedSecret.MatchString(value))
}

// plainValue matches values that are no secrets, whatever their name sounds like.
var plainValue = lazyregexp.New(`^(?i:true|false|yes|no|on|off|none|null|[0-9]{1,6}|https?://[^/@?#]*/?[A-Za-z0-9/_.-]*|/[^:?]*)$`)

// value writes the value of a variable or a header.
func (c *converter) value(where, name, value string) string {
	if !isSecret(name, value) || plainValue.MatchString(value) {
		return c.expression(value)
	}
	if scheme, rest, ok := strings.Cut(value, " "); ok && slices.Contains([]string{"bearer", "basic", "token"}, strings.ToLower(scheme)) && rest != "" {
		return join([]part{{text: scheme + " "}, {text: c.secret(name, where, rest), expression: true}})
	}
	return c.secret(name, where, value)
}

// notSecretName matches what a generated name of a secret does not contain.
var notSecretName = lazyregexp.New(`[^a-z0-9]+`)

// secret leaves a value out and returns the expression in its place. The value is empty if
// the client asks for it.
func (c *converter) secret(name, where, value string) string {
	stored := strings.Trim(notSecretName.ReplaceAllString(strings.ToLower(name), "-"), "-")
	if !strings.HasPrefix(stored, strings.ToLower(c.name)+"-") {
		stored = c.name + "-" + stored
	}
	stored = strings.Trim(stored[:min(len(stored), 100)], "-")
	found := Secret{Name: stored, Server: c.name, Where: where, Value: value, Asked: value == ""}
	for n := 2; ; n++ {
		other, taken := c.named[found.Name]
		if !taken {
			break
		}
		if other == found.identity() {
			return c.secretExpression(found.Name)
		}
		found.Name = fmt.Sprintf("%s-%d", stored, n)
	}
	if c.named == nil {
		c.named = map[string]Secret{}
	}
	c.named[found.Name] = found.identity()
	name = found.Name
	if c.visible {
		found.Name, found.Variable = "", variableOf(name)
	}
	c.Secrets = append(c.Secrets, found)
	return c.secretExpression(name)
}

// identity returns what makes two secrets one.
func (s Secret) identity() Secret { return Secret{Server: s.Server, Where: s.Where, Value: s.Value} }

// secretExpression returns what stands in the place of a secret.
func (c *converter) secretExpression(name string) string {
	if c.visible {
		return c.variable(variableOf(name))
	}
	return fmt.Sprintf("keyring(%s)", quote(name))
}

// variableOf returns the environment variable for a secret that the store cannot hold.
func variableOf(name string) string {
	return strings.ToUpper(strings.Trim(notVariable.ReplaceAllString(name, "_"), "_"))
}

// userPassword matches a name and a password, but not the numbers of a user and a group.
var userPassword = lazyregexp.New(`^[^:/\s]+:[^:/\s]*[^0-9:/\s][^:/\s]*$`)

// isKey reports whether a part of a path is a key: a token with a known beginning, or a long
// text with digits.
func isKey(segment string) bool {
	return containedSecret.MatchString(segment) || knownSecret.MatchString(segment) || len(segment) >= 24 && strings.ContainsAny(segment, "0123456789")
}

// argument writes an argument of a program. One after a flag whose name is that of a
// secret is one, as is the value in --token=VALUE and in TOKEN=VALUE after -e.
func (c *converter) argument(command []string, i int, word string) string {
	if i == 0 {
		return c.expression(word)
	}
	if name, value, ok := strings.Cut(word, "="); ok && identifier.MatchString(strings.TrimLeft(name, "-")) {
		if isSecret(strings.TrimLeft(name, "-"), value) && !plainValue.MatchString(value) && !strings.ContainsAny(value, " \t\n") {
			return join([]part{{text: name + "="}, {text: c.secret(strings.TrimLeft(name, "-"), "args."+name, value), expression: true}})
		}
	}
	if name, value, ok := strings.Cut(word, ":"); ok && identifier.MatchString(name) && isSecret(name, strings.TrimSpace(value)) && !strings.HasPrefix(value, "//") {
		return join([]part{{text: name + ":"}, {text: c.secret(name, "args."+name, value), expression: true}})
	}
	before := command[i-1]
	if (before == "-u" || before == "--user") && userPassword.MatchString(word) && !reference.MatchString(word) {
		return c.secret("user", "args."+before, word)
	}
	if flag := strings.TrimLeft(before, "-"); i > 1 && flag != before && !strings.HasPrefix(word, "-") && !strings.Contains(before, "=") {
		return c.value("args."+before, flag, word)
	}
	if u, err := url.Parse(word); err == nil && u.Scheme != "" && u.Host != "" {
		return c.address(word)
	}
	return c.value(fmt.Sprintf("args.%d", i), "arg", word)
}

// address writes a URL. A password, keys in its path and values of secret names in its query
// are secrets.
func (c *converter) address(text string) string {
	u, err := url.Parse(text)
	if err != nil || reference.MatchString(text) {
		return c.expression(text)
	}
	var all []part
	rest := text
	leaveOut := func(name, where, value string) {
		before, after, ok := strings.Cut(rest, value)
		if ok && value != "" {
			all = append(all, part{text: before}, part{text: c.secret(name, where, value), expression: true})
			rest = after
		}
	}
	if u.User != nil {
		if _, has := u.User.Password(); !has && len(u.User.Username()) >= 8 {
			_, raw, _ := strings.Cut(rest, "://")
			token, _, _ := strings.Cut(raw, "@")
			leaveOut("token", "url", token)
		} else if has {
			_, raw, _ := strings.Cut(rest, "://")
			info, _, _ := strings.Cut(raw, "@")
			_, password, _ := strings.Cut(info, ":")
			leaveOut("password", "url", password)
		}
	}
	for segment := range strings.SplitSeq(strings.Trim(u.EscapedPath(), "/"), "/") {
		if isKey(segment) {
			leaveOut("key", "url", segment)
		}
	}
	for pair := range strings.SplitSeq(u.RawQuery, "&") {
		if name, value, ok := strings.Cut(pair, "="); ok && isSecret(name, value) && !plainValue.MatchString(value) {
			leaveOut(name, "url."+name, value)
		}
	}
	if rest != "" {
		all = append(all, part{text: rest})
	}
	return join(all)
}
