package doctor

import (
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/junctor-mcp/junctor/host/lazyregexp"
)

// A Mask removes from a text what a report must not tell.
type Mask struct {
	Home  string              // directory of the user
	Users []string            // names of users
	Hosts []string            // names of machines and servers
	Hide  func(string) string // masks secrets; may be nil
}

var (
	urlHost  = lazyregexp.New(`(?i)\b(https?|socks5h?|wss?)://[^/\s"'` + "`" + `<>]+`)
	urlRest  = lazyregexp.New(`(?i)(\b(?:https?|socks5h?|wss?)://HOST)/[^\s"'` + "`" + `<>]*`)
	mail     = lazyregexp.New(`[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+\.[A-Za-z]{2,}`)
	address4 = lazyregexp.New(`\b\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}\b`)
	address6 = lazyregexp.New(`(?i)\b[0-9a-f]{1,4}(:[0-9a-f]{0,4}){3,7}\b`)
	homes    = lazyregexp.New(`(/home/|/Users/|(?i:C:\\Users\\))[^/\\\s"'` + "`" + `:]+`)
	token    = lazyregexp.New(`\b[A-Za-z0-9_-]{24,}\b`)
)

// Text returns a text without names of users and machines, addresses, the paths of URLs,
// and long words that could be secrets.
func (m Mask) Text(text string) string {
	if m.Hide != nil {
		text = m.Hide(text)
	}
	if len(m.Home) > 1 {
		text = strings.ReplaceAll(text, m.Home, "~")
	}
	text = homes.ReplaceAllString(text, "${1}USER")
	text = urlHost.ReplaceAllString(text, "${1}://HOST")
	text = urlRest.ReplaceAllString(text, "${1}/…")
	text = mail.ReplaceAllString(text, "PERSON")
	text = address4.ReplaceAllStringFunc(text, func(a string) string {
		if strings.HasPrefix(a, "127.") || a == "0.0.0.0" {
			return a
		}
		return "ADDRESS"
	})
	text = address6.ReplaceAllString(text, "ADDRESS")
	for _, host := range m.Hosts {
		text = replaceWord(text, host, "HOST")
	}
	for _, user := range m.Users {
		text = replaceWord(text, user, "USER")
	}
	return token.ReplaceAllStringFunc(text, func(word string) string {
		if strings.ContainsAny(word, "0123456789") {
			return "***"
		}
		return word
	})
}

// leastName is the shortest name that is masked: shorter ones are parts of other words.
const leastName = 3

// replaceWord replaces a name, in any case, where it is not part of a longer word.
func replaceWord(text, name, by string) string {
	if len(name) < leastName || name == "localhost" || name == "root" {
		return text
	}
	folded, word := strings.ToLower(text), strings.ToLower(name)
	if len(folded) != len(text) || len(word) != len(name) {
		folded, word = text, name // the offsets in both would differ
	}
	var b strings.Builder
	done := 0
	for {
		i := strings.Index(folded[done:], word)
		if i < 0 {
			b.WriteString(text[done:])
			return b.String()
		}
		start, end := done+i, done+i+len(word)
		b.WriteString(text[done:start])
		if start > 0 && letter(text[start-1]) || end < len(text) && letter(text[end]) {
			b.WriteString(text[start:end])
		} else {
			b.WriteString(by)
		}
		done = end
	}
}

func letter(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_'
}

// A Fact is a line of a report, such as the version of Junctor.
type Fact struct{ Name, Value string }

// Report writes findings for an issue: text without secrets, and without names of users and
// machines. The verb doctor calls it once.
func Report(w io.Writer, facts []Fact, found []Finding, checks int, m Mask) error {
	var b strings.Builder
	b.WriteString("junctor doctor\n\n")
	for _, f := range facts {
		fmt.Fprintf(&b, "%s: %s\n", f.Name, m.Text(f.Value))
	}
	fmt.Fprintf(&b, "checks: %d\n\n", checks)
	if len(found) == 0 {
		b.WriteString("nothing is wrong\n")
	}
	for _, f := range found {
		fmt.Fprintf(&b, "%s [%s] %s\n", f.Severity, f.Check, m.Text(f.Message))
		if f.At != "" {
			fmt.Fprintf(&b, "  at %s\n", m.Text(path.Base(strings.ReplaceAll(f.At, `\`, "/"))))
		}
		fmt.Fprintf(&b, "  fix: %s\n", m.Text(f.Remedy))
		if f.Mended != "" {
			fmt.Fprintf(&b, "  done: %s\n", m.Text(f.Mended))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
