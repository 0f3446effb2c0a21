package configedit

import (
	"slices"

	"github.com/hashicorp/hcl/v2/hclwrite"

	"github.com/junctor-mcp/junctor/host/hcltext"
)

// Disable returns the text of server blocks with enabled = false in each. An attribute that a
// block has already stays if it is false.
func Disable(text []byte) ([]byte, error) {
	const path = "blocks"
	body, err := hcltext.Parse(path, text)
	if err != nil {
		return nil, err
	}
	blocks := slices.Clone(body.Blocks)
	slices.Reverse(blocks) // edits keep the offsets of what is before them
	for _, b := range blocks {
		if b.Type != "server" {
			continue
		}
		if a := b.Body.Attributes["enabled"]; a != nil {
			text = slices.Concat(text[:a.Expr.Range().Start.Byte], []byte("false"), text[a.Expr.Range().End.Byte:])
			continue
		}
		at := b.OpenBraceRange.End.Byte
		text = slices.Concat(text[:at], []byte("\n  enabled = false"), text[at:])
	}
	return hclwrite.Format(text), nil
}
