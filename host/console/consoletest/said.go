// Package consoletest shortens pages of the console for messages of tests.
package consoletest

import (
	"strings"

	"golang.org/x/net/html"

	"github.com/junctor-mcp/junctor/host/truncate"
)

// maxSaid bounds what a failed test prints of a page, in bytes.
const maxSaid = 1500

// Said returns the texts of a page from its main element on, without markup.
func Said(page string) string {
	if _, main, found := strings.Cut(page, "<main"); found {
		page = "<main" + main
	}
	var words []string
	for z := html.NewTokenizer(strings.NewReader(page)); ; {
		switch z.Next() {
		case html.ErrorToken:
			return truncate.Bytes(strings.Join(words, " "), maxSaid)
		case html.TextToken:
			words = append(words, strings.Fields(z.Token().Data)...)
		}
	}
}
