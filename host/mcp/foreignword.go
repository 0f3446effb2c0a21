package mcp

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/junctor-mcp/junctor/host/truncate"
)

// Limits of the description of a word that is not JSON.
const (
	maxForeignWord = 24  // bytes of the word
	maxForeignPath = 120 // bytes of the path
	maxPathLevels  = 8   // levels of the path
)

// foreignWord returns the error for a value that begins at i and is a word which JSON
// does not have, such as NaN or None. It returns errSyntax for any other text. The scanner
// calls it once the text has failed, so it need not be fast.
func foreignWord(b []byte, i int) error {
	word := b[min(i, len(b)):min(i+maxForeignWord, len(b))]
	sign := len(word) - len(bytes.TrimPrefix(word, []byte("-")))
	end := bytes.IndexFunc(word[sign:], func(r rune) bool { return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') })
	if end < 0 {
		end = len(word) - sign
	}
	if end == 0 {
		return errSyntax
	}
	where := pathTo(b[:i])
	if where != "" {
		where = ", the value of " + where
	}
	return fmt.Errorf("%w: %s at byte %d%s", errSyntax, word[:sign+end], i, where)
}

// pathTo returns the names and indexes that lead to the value which begins at the end
// of a text, such as result.content[0].text. It is pure, as the rest of this file.
func pathTo(prefix []byte) string {
	var path strings.Builder
	for range maxPathLevels {
		i := skipSpace(prefix, 0)
		if i == len(prefix) {
			break
		}
		if prefix[i] == '[' {
			var n int
			n, prefix = lastElement(prefix, i+1)
			fmt.Fprintf(&path, "[%d]", n)
			continue
		}
		var name string
		for n, value := range Members(prefix) {
			name, prefix = n, value
		}
		if path.Len() > 0 {
			path.WriteByte('.')
		}
		path.WriteString(strings.Trim(strconv.QuoteToGraphic(name), `"`))
	}
	return truncate.Bytes(path.String(), maxForeignPath)
}

// lastElement returns the index and the text of the last element of a truncated array,
// whose elements begin at i.
func lastElement(array []byte, i int) (index int, element []byte) {
	for {
		i = skipSpace(array, i)
		end := skipValue(array, i)
		if end == len(array) || end == i {
			return index, array[i:]
		}
		if i = skipSpace(array, end); i < len(array) && array[i] == ',' {
			i++
		}
		index++
	}
}
