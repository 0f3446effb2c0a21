package main

import (
	"encoding/base64"
	"fmt"
	"os"
	"strings"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/mcp"
)

// A block is one piece of a result.
type block struct {
	bytes  []byte // nil: there is nothing to save, only something to say
	binary bool
	said   string // what people read of it
}

// save writes what a result holds to a file: the one piece that is not text,
// such as an image beside which its caption goes to standard error, or else
// all the text. A result that one file cannot take is printed as without a
// file, before the error: asking again could do something twice.
func (e *env) save(result []byte, path string, full bool) error {
	content, rest, err := savable(result)
	if err == nil {
		if werr := os.WriteFile(path, content, 0o644); werr != nil {
			err = unwritten(path, werr)
		}
	}
	if err != nil {
		if perr := e.printResult(result, shown{full: full}); perr != nil {
			return perr
		}
		return err
	}
	for _, said := range rest {
		fmt.Fprintln(e.stderr, safe(said))
	}
	if e.errTTY {
		fmt.Fprintf(e.stderr, "%d bytes in %s\n", len(content), path)
	}
	return nil
}

// savable is what of a result goes to a file, and what people read of the rest.
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
		return nil, nil, fault.New(fault.Output, "the result has %d pieces that are not text, and one file was named", binaries).
			WithHint("--json prints all of them, in base64")
	case binaries+texts == 0:
		return nil, nil, fault.New(fault.Output, "the result has nothing to save")
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

// blocksOf takes a result apart. What is only structured is one piece of text.
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

// decoded is what a base64 text stands for. Some servers leave out the end of
// it, which says nothing.
func decoded(text string) ([]byte, error) {
	b, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(text, "=\r\n"))
	if err != nil {
		return nil, fault.New(fault.UpstreamBadMessage, "what the server sent is not valid base64")
	}
	return b, nil
}
