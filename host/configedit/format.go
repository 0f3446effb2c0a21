package configedit

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"

	"github.com/junctor-mcp/junctor/host/hcltext"
)

var byteOrderMark = []byte("\xef\xbb\xbf")

// maxRounds bounds how often the formatter is applied to its own result.
const maxRounds = 4

// Format returns a file with the usual spaces: two for each level, and aligned = in
// neighbouring lines. Only spaces and tabs differ from text, and never inside of a string or
// a comment. The result of Format stays the same when it is formatted again. path is for
// errors only.
func Format(text []byte, path string) ([]byte, error) {
	body, mark := bytes.CutPrefix(text, byteOrderMark)
	if _, err := hcltext.Parse(path, body); err != nil {
		return nil, err
	}
	after := body
	for range maxRounds {
		next := hclwrite.Format(after)
		if bytes.Equal(next, after) {
			if !sameTokens(body, after, path) {
				return nil, errors.New("formatting would change more than spaces")
			}
			if mark {
				after = slices.Concat(byteOrderMark, after)
			}
			return after, nil
		}
		after = next
	}
	return nil, fmt.Errorf("formatting does not end after %d rounds", maxRounds)
}

// sameTokens reports whether two texts differ only in the spaces between their tokens.
func sameTokens(a, b []byte, path string) bool {
	one, _ := hclsyntax.LexConfig(a, path, hcl.InitialPos)
	two, _ := hclsyntax.LexConfig(b, path, hcl.InitialPos)
	return slices.EqualFunc(one, two, func(x, y hclsyntax.Token) bool {
		return x.Type == y.Type && bytes.Equal(x.Bytes, y.Bytes)
	})
}
