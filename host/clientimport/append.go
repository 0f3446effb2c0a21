package clientimport

import (
	"bytes"
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclwrite"
)

// Names returns the names of the servers in a configuration file, without evaluating it.
func Names(text []byte, path string) ([]string, error) {
	f, diags := hclwrite.ParseConfig(text, path, hcl.InitialPos)
	if diags.HasErrors() {
		first := diags[0]
		return nil, fmt.Errorf("%s: %s", first.Subject, first.Summary)
	}
	var names []string
	for _, b := range f.Body().Blocks() {
		if labels := b.Labels(); b.Type() == "server" && len(labels) == 1 {
			names = append(names, labels[0])
		}
	}
	return names, nil
}

// Append adds blocks at the end of a file, after an empty line. All other bytes stay as
// they are.
func Append(text, blocks []byte) []byte {
	after := bytes.Clone(text)
	newline := "\n"
	if bytes.Contains(text, []byte("\r\n")) {
		newline = "\r\n"
		blocks = bytes.ReplaceAll(blocks, []byte("\n"), []byte("\r\n"))
	}
	if len(after) > 0 && !bytes.HasSuffix(after, []byte("\n")) {
		after = append(after, newline...)
	}
	if len(bytes.TrimSpace(after)) > 0 && !bytes.HasSuffix(after, []byte("\n"+newline)) {
		after = append(after, newline...)
	}
	return append(after, blocks...)
}
