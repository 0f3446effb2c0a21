// Package results prints and saves what tools, resources and prompts return.
//
// result.go prints, save.go saves. answered.go makes the error of a reply that is no result, and
// argumenterrors.go words the errors about arguments in it.
package results

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/junctor-mcp/junctor/cmd/host/invocation"
	"github.com/junctor-mcp/junctor/cmd/host/terminal"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/tokencount"
)

const (
	// Larger results displace other content in a model's context. Users get a
	// warning at the first limit and shortened text at the second.
	warnTokens = 10_000
	cutTokens  = 25_000
)

// Options are the options for printing a result.
type Options struct {
	Full  bool // print it in full
	Saves bool // the verb has --output
}

// Print prints the result of a call, a read or a prompt: unchanged for programs, as
// text for people.
func Print(inv *invocation.Invocation, result []byte, how Options) error {
	if inv.Machine() {
		warnSize(inv, len(result))
		return inv.PrintRawJSON(result)
	}
	advice := ""
	if how.Saves {
		advice = "; --output FILE saves it"
	}
	text := resultText(result, advice)
	if !how.Full {
		text = cut(inv, text)
	}
	_, err := fmt.Fprintln(inv.Stdout, terminal.Safe(strings.TrimRight(text, "\n")))
	return err
}

func warnSize(inv *invocation.Invocation, n int) {
	if about := tokencount.Estimate(n); about > warnTokens && inv.ErrTTY {
		inv.Warn(fmt.Sprintf("the result has about %d tokens", about), "")
	}
}

// cut shortens long text on a terminal. It warns about it everywhere.
func cut(inv *invocation.Invocation, text string) string {
	about := tokencount.Estimate(len(text))
	if about > warnTokens {
		inv.Warn(fmt.Sprintf("the result has about %d tokens", about), "")
	}
	if about <= cutTokens || !inv.OutTTY {
		return text
	}
	shown := tokencount.Bytes(cutTokens)
	for shown > 0 && !utf8.RuneStart(text[shown]) {
		shown--
	}
	return fmt.Sprintf(
		"%s\n\n... [truncated, %d bytes total, showing first %d; --full shows all, and a file or a pipe gets all]",
		text[:shown], len(text), shown,
	)
}

// resultText returns the text of a result. advice is added to binary content.
func resultText(result []byte, advice string) string {
	var parts []string
	failed := string(mcp.Member(result, "isError")) == "true"
	for c := range mcp.Elements(mcp.Member(result, "content")) {
		text := contentText(c, advice)
		if failed {
			text = byField(text)
		}
		parts = append(parts, text)
	}
	for c := range mcp.Elements(mcp.Member(result, "contents")) {
		parts = append(parts, resourceText(c, advice))
	}
	for m := range mcp.Elements(mcp.Member(result, "messages")) {
		role, _ := mcp.TextMember(m, "role")
		parts = append(parts, "["+role+"]\n"+contentText(mcp.Member(m, "content"), advice))
	}
	if structured := mcp.Member(result, "structuredContent"); structured != nil && len(parts) == 0 {
		parts = append(parts, string(structured))
	}
	if len(parts) == 0 {
		return "[no content]"
	}
	return strings.Join(parts, "\n")
}

// contentText returns the text of one content block.
func contentText(c []byte, advice string) string {
	switch kind, _ := mcp.TextMember(c, "type"); kind {
	case "text":
		text, _ := mcp.TextMember(c, "text")
		return text
	case "image", "audio":
		mime, _ := mcp.TextMember(c, "mimeType")
		data, _ := mcp.TextMember(c, "data")
		return fmt.Sprintf("[%s: %s, %d bytes%s]", kind, terminal.Flat(mime), decodedLen(data), advice)
	case "resource":
		return resourceText(mcp.Member(c, "resource"), advice)
	case "resource_link":
		uri, _ := mcp.TextMember(c, "uri")
		name, _ := mcp.TextMember(c, "name")
		return fmt.Sprintf("[resource: %s %s]", terminal.Flat(name), terminal.Flat(uri))
	default:
		return fmt.Sprintf("[%s: %s]", terminal.Flat(kind), terminal.Flat(string(c)))
	}
}

// resourceText returns the text of a resource's contents.
func resourceText(c []byte, advice string) string {
	if text, ok := mcp.TextMember(c, "text"); ok {
		return text
	}
	uri, _ := mcp.TextMember(c, "uri")
	mime, _ := mcp.TextMember(c, "mimeType")
	blob, _ := mcp.TextMember(c, "blob")
	return fmt.Sprintf("[binary: %s %s, %d bytes%s]", terminal.Flat(uri), terminal.Flat(mime), decodedLen(blob), advice)
}

// decodedLen returns the length of decoded base64.
func decodedLen(text string) int {
	return len(strings.TrimRight(text, "=")) * 3 / 4
}
