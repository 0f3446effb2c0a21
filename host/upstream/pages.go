package upstream

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"slices"
	"strconv"

	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/truncate"
)

// Limits of a list, over all of its pages.
const (
	listPages   = 1000
	listItems   = 10_000
	listBytes   = 16 << 20
	samePages   = 2  // pages with only known items, above which a list ends
	shownCursor = 40 // bytes of a cursor in a note
)

// A pageReader collects the pages of one list. The zero value expects the first page. The
// goroutine of List owns it. The limits protect the host: they hold for every server.
type pageReader struct {
	Listing
	cursor []byte // of the next page, as JSON; nil for the first

	pages int
	size  int // bytes of all items and cursors
	same  int // successive pages without a new item
	seen  map[string]bool
	known map[[sha256.Size]byte]bool // digests of the items, once there are two pages
}

// add adds the items of a page. It returns false after the last page, and if the list
// cannot go on: Degraded then says why.
func (r *pageReader) add(result []byte, member string) (more bool) {
	r.pages++
	if !r.addItems(result, member) {
		return false
	}
	r.TTL = ttl(result)
	if u := unfinished(result); u != nil {
		r.Unfinished = u
	}
	r.cursor = mcp.Member(result, "nextCursor")
	switch {
	case r.cursor == nil || string(r.cursor) == "null" || string(r.cursor) == `""`:
		return false
	case r.cursor[0] != '"':
		r.Degraded = fmt.Sprintf("the server sent a nextCursor that is not a text: %s",
			truncate.Bytes(string(r.cursor), shownCursor))
	case r.seen[string(r.cursor)]:
		r.Degraded = fmt.Sprintf("the server sent the cursor %s again", truncate.Bytes(string(r.cursor), shownCursor))
	case r.same >= samePages:
		r.Degraded = "the server sent the same items again with each page"
	case r.pages >= listPages:
		r.Degraded = fmt.Sprintf("it has more than %d pages", listPages)
	case r.size+len(r.cursor) > listBytes:
		r.Degraded = fmt.Sprintf("its cursors have more than %d bytes", listBytes)
	}
	if r.seen == nil {
		r.seen = map[string]bool{}
	}
	r.size += len(r.cursor)
	r.seen[string(r.cursor)] = true
	return r.Degraded == ""
}

// addItems adds the items of a page. A later page without any new item adds none.
func (r *pageReader) addItems(result []byte, member string) (fits bool) {
	before := len(r.Items)
	if list := mcp.Member(result, member); len(list) > 0 && list[0] != '[' && string(list) != "null" ||
		len(result) > 0 && result[0] == '[' {
		r.Degraded = "the server's answer has no list " + strconv.Quote(member)
		return false
	}
	for item := range mcp.Elements(mcp.Member(result, member)) {
		if r.size += len(item); len(r.Items) >= listItems || r.size > listBytes {
			r.Degraded = fmt.Sprintf("it has more than %d items or %d bytes", listItems, listBytes)
			return false
		}
		// Copy the item, so that one tool does not retain a whole page.
		r.Items = append(r.Items, bytes.Clone(item))
	}
	if r.pages == 1 || len(r.Items) == before {
		return true
	}
	if r.repeats(before) {
		r.Items = slices.Clip(r.Items[:before])
		r.same++
	} else {
		r.same = 0
	}
	return true
}

// repeats reports whether all items from the given index on are among the items before
// it. It needs no digest of the items of a list with one page.
func (r *pageReader) repeats(from int) bool {
	if r.known == nil {
		r.known = map[[sha256.Size]byte]bool{}
		for _, item := range r.Items[:from] {
			r.known[sha256.Sum256(item)] = true
		}
	}
	all := true
	for _, item := range r.Items[from:] {
		digest := sha256.Sum256(item)
		all = all && r.known[digest]
		r.known[digest] = true
	}
	return all
}
