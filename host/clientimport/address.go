package clientimport

import (
	"strings"

	"github.com/junctor-mcp/junctor/host/lazyregexp"
)

// urlRule matches a text that is a URL as a whole, also with references.
var urlRule = lazyregexp.New(`^[A-Za-z][A-Za-z0-9+.-]*://[^\s/]`)

func isURL(text string) bool {
	return urlRule.MatchString(text) && !strings.ContainsAny(text, " \t\r\n")
}

// address writes a URL. A password, keys in its path and values of secret names in its query
// are secrets.
func (c *converter) address(text string) string {
	c.where = "url"
	s := c.scan(text)
	if !isURL(s.text) {
		return c.write(s, c.inText(s.text), "url")
	}
	return c.write(s, inURL(s.text), "url")
}

// inURL returns the secrets in a URL.
func inURL(text string) (all []span) {
	from := strings.Index(text, "://") + len("://")
	host := from + upTo(text[from:], "/?#")
	if at := strings.LastIndexByte(text[from:host], '@'); at >= 0 {
		all = append(all, inUser(text[from:from+at], from)...)
	}
	path := host + upTo(text[host:], "?#")
	for at := host; at < path; {
		end := at + 1 + upTo(text[at+1:path], "/")
		if isKey(text[at+1 : end]) {
			all = append(all, span{from: at + 1, to: end, name: "key"})
		}
		at = end
	}
	query, fragment := path, path+upTo(text[path:], "#")
	for query < fragment {
		end := query + 1 + upTo(text[query+1:fragment], "&")
		if name, value, ok := strings.Cut(text[query+1:end], "="); ok && isSecret(name, value) {
			all = append(all, span{end - len(value), end, name, "url." + name})
		}
		query = end
	}
	if len(all) == 0 {
		return secretsIn(text)
	}
	return all
}

// inUser returns the secret in the user information of a URL that begins at an offset: the
// password, or a long text in the place of the name.
func inUser(info string, at int) []span {
	name, password, has := strings.Cut(info, ":")
	switch {
	case has && password != "" && !strings.Contains(password, mark):
		return []span{{from: at + len(name) + 1, to: at + len(info), name: "password"}}
	case !has && len(name) >= 8 && !strings.Contains(name, mark):
		return []span{{from: at, to: at + len(name), name: "token"}}
	}
	return nil
}

// upTo returns the offset of the first of some bytes, or the length of the text.
func upTo(text, bytes string) int {
	if i := strings.IndexAny(text, bytes); i >= 0 {
		return i
	}
	return len(text)
}

// isKey reports whether a part of a path is a key: a token with a known beginning, or a long
// text with digits.
func isKey(segment string) bool {
	if segment == "" || strings.Contains(segment, mark) {
		return false
	}
	return len(secretsIn(segment)) > 0 || knownSecret.MatchString(segment) ||
		len(segment) >= 24 && strings.ContainsAny(segment, "0123456789")
}
