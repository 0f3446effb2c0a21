package results

import (
	"encoding/base64"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/cmd/host/invocation"
	"github.com/junctor-mcp/junctor/cmd/host/terminal"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/mcp"
)

// A block is one part of a result.
type block struct {
	bytes  []byte // nil: nothing to save
	binary bool
	said   string // its text for people
}

// Save writes a result to a file: its only binary part, such as an image, or all of its text.
// The other parts go to standard error. If one file is not enough it prints the result
// before the error, because a second call could have side effects.
func Save(inv *invocation.Invocation, result []byte, path string, full bool) error {
	content, rest, err := savable(result)
	if err == nil {
		if werr := os.WriteFile(path, content, 0o644); werr != nil {
			err = terminal.WriteFault(path, werr)
		}
	}
	if err != nil {
		if perr := Print(inv, result, Options{Full: full}); perr != nil {
			return perr
		}
		return err
	}
	for _, said := range rest {
		fmt.Fprintln(inv.Stderr, terminal.Safe(said))
	}
	inv.Remark("%s in %s", terminal.Count(len(content), "byte"), path)
	return nil
}

// formatWords are words that other programs take as a format behind -o.
var formatWords = []string{"json", "jsonl", "ndjson", "yaml", "yml", "text", "table", "wide", "raw", "markdown", "csv"}

// CheckOutput returns an error for a path that was probably meant as a format.
func CheckOutput(path string) error {
	if !slices.Contains(formatWords, strings.ToLower(path)) {
		return nil
	}
	return fault.New(fault.Usage, "--output takes a file, and %s is a format", path).
		WithHint("print JSON with --json and text with --text, or write -o ./%s for a file of this name", path)
}

// savable returns the content for the file and the text of the other parts.
func savable(result []byte) (content []byte, rest []string, err error) {
	blocks, err := blocksOf(result)
	if err != nil {
		return nil, nil, err
	}
	binaries, texts := 0, 0
	for _, b := range blocks {
		switch {
		case b.binary:
			binaries++
		case b.bytes != nil:
			texts++
		}
	}
	switch {
	case binaries > 1:
		return nil, nil, fault.New(fault.Output,
			"the result has %d binary parts, but there is only one file", binaries).
			WithHint("--json prints all of them, in base64")
	case binaries+texts == 0:
		return nil, nil, fault.New(fault.Output, "the result has nothing to save").
			WithHint("omit --output to print the result")
	}
	for _, b := range blocks {
		switch {
		case b.bytes == nil || binaries == 1 && !b.binary:
			rest = append(rest, b.said)
		case content != nil:
			content = append(append(content, '\n'), b.bytes...)
		default:
			content = b.bytes
		}
	}
	return content, rest, nil
}

// blocksOf splits a result into blocks. A result with only structured content is one block.
func blocksOf(result []byte) (blocks []block, err error) {
	for c := range mcp.Elements(mcp.Member(result, "content")) {
		b := block{said: contentText(c, "")}
		switch kind, _ := mcp.TextMember(c, "type"); kind {
		case "text":
			b.bytes = []byte(b.said)
		case "image", "audio":
			data, _ := mcp.TextMember(c, "data")
			b.binary = true
			b.bytes, err = decoded(data)
		case "resource":
			b, err = resourceBlock(mcp.Member(c, "resource"))
		}
		if err != nil {
			return nil, err
		}
		blocks = append(blocks, b)
	}
	for c := range mcp.Elements(mcp.Member(result, "contents")) {
		b, err := resourceBlock(c)
		if err != nil {
			return nil, err
		}
		blocks = append(blocks, b)
	}
	if structured := mcp.Member(result, "structuredContent"); structured != nil && blocks == nil {
		blocks = []block{{bytes: structured}}
	}
	return blocks, nil
}

func resourceBlock(c []byte) (b block, err error) {
	b.said = resourceText(c, "")
	if text, ok := mcp.TextMember(c, "text"); ok {
		b.bytes = []byte(text)
		return b, nil
	}
	blob, ok := mcp.TextMember(c, "blob")
	if !ok {
		return b, nil
	}
	b.binary = true
	b.bytes, err = decoded(blob)
	return b, err
}

// decoded decodes base64 with or without padding, which some servers omit.
func decoded(text string) ([]byte, error) {
	b, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(text, "=\r\n"))
	if err != nil {
		return nil, fault.New(fault.UpstreamBadMessage, "the server sent invalid base64")
	}
	return b, nil
}
