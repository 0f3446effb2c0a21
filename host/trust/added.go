package trust

import (
	"github.com/junctor-mcp/junctor/host/config"

	"github.com/junctor-mcp/junctor/host/config/source"
)

// Added returns the items that a review of the file at path would show for one text and not
// for another. It evaluates nothing. The diagnostics say why a text cannot be read. The verbs
// import and add call it before they write.
func Added(path string, before, after []byte, lookup func(string) (string, bool)) ([]string, source.Diagnostics) {
	var items [2][]string
	for i, text := range [][]byte{before, after} {
		content, diags := config.ReadContentText(path, text, lookup)
		if content == nil {
			return nil, diags
		}
		items[i] = (&Review{Content: content}).Items()
	}
	return missing(items[1], items[0]), nil
}
