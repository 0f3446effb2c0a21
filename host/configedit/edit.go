// Package configedit adds server blocks to the text of a configuration file, and removes
// them. Every other byte stays as it is. Nothing is evaluated. All functions are pure.
//
// edit.go adds and removes blocks, disable.go turns servers off, format.go is for the verb fmt, and
// registered.go reads and replaces where a block came from. Verbs call it and write the result
// themselves, after a check by package config. What users wrote, with comments and layout, must
// survive.
package configedit

import (
	"bytes"
	"errors"
	"slices"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/junctor-mcp/junctor/host/hcltext"
)

// ErrNoServer is the error of [Remove] if the file has no server of the name.
var ErrNoServer = errors.New("no server of this name")

// Servers returns the names of the servers in a file. path is for errors only.
func Servers(text []byte, path string) ([]string, error) {
	blocks, err := serverBlocks(text, path)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, b := range blocks {
		names = append(names, b.Labels[0])
	}
	return names, nil
}

// Types returns the types of the top-level blocks in a file, each once. path is for errors
// only.
func Types(text []byte, path string) (types []string, err error) {
	blocks, err := topBlocks(text, path)
	for _, b := range blocks {
		if !slices.Contains(types, b.Type) {
			types = append(types, b.Type)
		}
	}
	return types, err
}

func serverBlocks(text []byte, path string) (servers []*hclsyntax.Block, err error) {
	blocks, err := topBlocks(text, path)
	for _, b := range blocks {
		if b.Type == "server" && len(b.Labels) == 1 {
			servers = append(servers, b)
		}
	}
	return servers, err
}

func topBlocks(text []byte, path string) ([]*hclsyntax.Block, error) {
	body, err := hcltext.Parse(path, text)
	if err != nil {
		return nil, err
	}
	return body.Blocks, nil
}

// Append adds blocks at the end of a file, after an empty line, with the line breaks of the
// file.
func Append(text, blocks []byte) []byte {
	after := bytes.Clone(text)
	newline := []byte("\n")
	if bytes.Contains(text, []byte("\r\n")) {
		newline = []byte("\r\n")
		blocks = bytes.ReplaceAll(blocks, []byte("\n"), newline)
	}
	if len(after) > 0 && !bytes.HasSuffix(after, []byte("\n")) {
		after = append(after, newline...)
	}
	if len(bytes.TrimSpace(after)) > 0 && !bytes.HasSuffix(after, append([]byte("\n"), newline...)) {
		after = append(after, newline...)
	}
	return append(after, blocks...)
}

// Remove removes the server of a name, with the empty line before it or else after it. A
// comment above the block stays. The error is [ErrNoServer], or one of the syntax.
func Remove(text []byte, path, name string) ([]byte, error) {
	blocks, err := serverBlocks(text, path)
	if err != nil {
		return nil, err
	}
	for _, b := range blocks {
		if b.Labels[0] == name {
			return cut(text, b.TypeRange.Start.Byte, b.CloseBraceRange.End.Byte), nil
		}
	}
	return nil, ErrNoServer
}

// cut removes the lines of a range of bytes. If more than white space or a comment stands
// on them, it removes the range only.
func cut(text []byte, start, end int) []byte {
	first, last := bytes.LastIndexByte(text[:start], '\n')+1, len(text)
	if n := bytes.IndexByte(text[end:], '\n'); n >= 0 {
		last = end + n + 1
	}
	rest := bytes.TrimSpace(text[end:last])
	if len(bytes.TrimSpace(text[first:start])) > 0 || len(rest) > 0 {
		return append(bytes.Clone(text[:start]), text[end:]...)
	}
	before, after := text[:first], text[last:]
	switch {
	case len(before) == 0:
		after = withoutEmptyLine(after)
	case bytes.HasSuffix(before, []byte("\n\n")):
		before = before[:len(before)-1]
	case bytes.HasSuffix(before, []byte("\n\r\n")):
		before = before[:len(before)-2]
	}
	return append(bytes.Clone(before), after...)
}

func withoutEmptyLine(text []byte) []byte {
	if rest, ok := bytes.CutPrefix(text, []byte("\r\n")); ok {
		return rest
	}
	return bytes.TrimPrefix(text, []byte("\n"))
}

// Has reports whether a file has a block of a type at its top level. path is for errors only.
func Has(text []byte, path, blockType string) (bool, error) {
	types, err := Types(text, path)
	return slices.Contains(types, blockType), err
}
