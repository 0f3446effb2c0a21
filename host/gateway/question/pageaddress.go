package question

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"unicode"

	"golang.org/x/net/idna"

	"github.com/junctor-mcp/junctor/host/loopback"
	"github.com/junctor-mcp/junctor/host/mcp"
)

// A server may ask to send the user to a page. Clients show the address to a
// person and open it, so an address that deceives, or that a browser does not
// open as a page, goes to no client.

// maxPageURL bounds the address of a page, in bytes. The functions of this file are pure. A
// Filter and the gateway check with them all pages that servers send users to.
const maxPageURL = 8 << 10

// checkPageURL returns an error if an address must not be shown to a user.
func checkPageURL(address string) error {
	if len(address) > maxPageURL {
		return fmt.Errorf("the address has more than %d bytes", maxPageURL)
	}
	if strings.ContainsFunc(address, func(r rune) bool { return r <= ' ' || r > '~' || r == '\\' }) {
		return errors.New("the address has characters that must be encoded")
	}
	u, err := url.Parse(address)
	if err != nil {
		return errors.New("the address is not a URL")
	}
	host := u.Hostname()
	switch {
	case u.Scheme != "https" && u.Scheme != "http":
		return fmt.Errorf("the address has the scheme %q, which is not https", clip(u.Scheme))
	case host == "":
		return errors.New("the address has no host")
	case u.Scheme == "http" && !loopback.Is(host):
		return errors.New("the address is not https, and its host is not this machine")
	case u.User != nil:
		return errors.New("the address has a user name")
	}
	return checkHost(host)
}

// checkHost returns an error if the name of a host could be mistaken for another one.
// Names are ASCII; the decoded form of a punycode label must not mix scripts.
func checkHost(host string) error {
	if strings.Contains(host, "%") || strings.Contains(host, "..") || strings.HasPrefix(host, ".") {
		return errors.New("the host is not a name or an address")
	}
	for label := range strings.SplitSeq(strings.ToLower(host), ".") {
		if !strings.HasPrefix(label, "xn--") {
			continue
		}
		text, err := idna.Punycode.ToUnicode(label)
		if err != nil || text == label {
			return fmt.Errorf("the label %q of the host cannot be decoded", clip(label))
		}
		if back, err := idna.Lookup.ToASCII(text); err != nil || back != label {
			return fmt.Errorf("the label %q of the host is not one that names are written with", clip(label))
		}
		if mixesScripts(text) {
			return fmt.Errorf("the label %q of the host mixes scripts", clip(label))
		}
	}
	return nil
}

// scriptSets lists sets of scripts that one language uses together.
var scriptSets = [][]*unicode.RangeTable{
	{unicode.Latin, unicode.Han, unicode.Hiragana, unicode.Katakana},
	{unicode.Latin, unicode.Han, unicode.Bopomofo},
	{unicode.Latin, unicode.Han, unicode.Hangul},
}

// mixesScripts reports whether the letters of a label are of scripts that no
// language is written in together (UTS 39, highly restrictive).
func mixesScripts(label string) bool {
	for _, scripts := range scriptSets {
		if onlyScripts(label, scripts) {
			return false
		}
	}
	for name, script := range unicode.Scripts {
		if name != "Common" && name != "Inherited" && onlyScripts(label, []*unicode.RangeTable{script}) {
			return false
		}
	}
	return true
}

// onlyScripts reports whether every rune is of one of the scripts, or of none.
func onlyScripts(text string, scripts []*unicode.RangeTable) bool {
	return !strings.ContainsFunc(text, func(r rune) bool {
		return !unicode.In(r, scripts...) && !unicode.In(r, unicode.Common, unicode.Inherited)
	})
}

// checkElicitation returns an error if a question would send the user to an address
// that checkPageURL rejects.
func checkElicitation(params []byte) error {
	mode, _ := mcp.TextMember(params, "mode")
	raw := mcp.Member(params, "url")
	if mode != "url" && raw == nil {
		return nil
	}
	address, ok := mcp.Text(raw)
	if !ok {
		return errors.New("the question has no address")
	}
	return checkPageURL(address)
}

// CheckError is checkElicitation for the pages of an error that asks for visits.
func CheckError(rpcErr []byte) error {
	for page := range mcp.Elements(mcp.Member(rpcErr, "data", "elicitations")) {
		if err := checkElicitation(page); err != nil {
			return err
		}
	}
	return nil
}

// CheckResult is checkElicitation for the questions of a result.
func CheckResult(result []byte) error {
	for _, question := range mcp.Members(mcp.Member(result, "inputRequests")) {
		if method, _ := mcp.TextMember(question, "method"); method != mcp.MethodElicit {
			continue
		}
		if err := checkElicitation(mcp.Member(question, "params")); err != nil {
			return err
		}
	}
	return nil
}
