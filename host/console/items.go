package console

import (
	"net/http"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/mcp"
)

// itemKinds are the kinds of items that the page of resources and prompts can show alone.
var itemKinds = []string{"resource", "template", "prompt"}

// An itemsView is the content of the page of resources and prompts. The page items lists them;
// item.go shows one.
type itemsView struct {
	Query, Server, Kind string
	Servers, Kinds      []string
	Rows                []itemRow
	Found, All          int
	pager
}

// An itemRow is a resource, a template of resources or a prompt.
type itemRow struct {
	*catalog.Item
	Kind      string
	Arguments []catalog.Argument // of a prompt
	prompt    *catalog.Prompt
}

// Type returns the media type that the server says a resource has.
func (i itemRow) Type() string {
	kind, _ := mcp.TextMember(i.Raw, "mimeType")
	return kind
}

// showItems writes the page. The goroutine of the request runs it; it keeps no state.
func showItems(w http.ResponseWriter, r *http.Request, q *request) error {
	get := func(name string) string { return cutBytes(strings.TrimSpace(r.URL.Query().Get(name)), maxQuery) }
	v := itemsView{Query: get("q"), Server: get("server"), Kind: get("kind"), Kinds: itemKinds}
	words := strings.Fields(strings.ToLower(v.Query))
	var found []itemRow
	for _, one := range rowsOfItems(q.sources.Items.Items()) {
		v.All++
		if !slices.Contains(v.Servers, one.Server) {
			v.Servers = append(v.Servers, one.Server)
		}
		if (v.Server == "" || v.Server == one.Server) && (v.Kind == "" || v.Kind == one.Kind) &&
			itemHas(one.Item, words) {
			found = append(found, one)
		}
	}
	v.Found, v.pager = len(found), pagerOf(pageNumber(r), len(found))
	v.Rows = found[max(v.From-1, 0):v.To]
	q.show(w, http.StatusOK, "items", "Resources and prompts", v)
	return nil
}

// rowsOfItems returns the items in the order of the catalog, resources first.
func rowsOfItems(all Items) (rows []itemRow) {
	for _, it := range all.Resources {
		rows = append(rows, itemRow{Item: it, Kind: "resource"})
	}
	for _, t := range all.Templates {
		rows = append(rows, itemRow{Item: &t.Item, Kind: "template"})
	}
	for _, p := range all.Prompts {
		rows = append(rows, itemRow{Item: &p.Item, Kind: "prompt", Arguments: p.Arguments, prompt: p})
	}
	return rows
}

// itemHas reports whether each word is part of the name, the title or the description of an
// item. The words are in lower case.
func itemHas(it *catalog.Item, words []string) bool {
	text := strings.ToLower(it.Exposed + "\n" + it.Name + "\n" + it.Title + "\n" +
		cutBytes(it.Description, maxSearched))
	return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) })
}
