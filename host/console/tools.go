package console

import (
	"cmp"
	"net/http"
	"strconv"
	"strings"

	"github.com/junctor-mcp/junctor/host/catalog"
)

const (
	pageSize    = 100
	maxSearched = 4 << 10 // bytes of a description that a search looks at
	maxQuery    = 200     // bytes
)

// A toolsView is the content of the page of all tools. The page tools lists them, and the page
// tool shows one; pager is for all pages with lists.
type toolsView struct {
	Query, Server string
	Servers       []string
	Tools         []*catalog.Tool
	Found, All    int
	pager
}

// A pager is the place of a page in a list.
type pager struct {
	From, To       int // from 1 on
	Before, Behind int // numbers of the pages; 0: none
	Page, Pages    int
}

// pagerOf returns the place of a page, which is moved to the last one.
func pagerOf(number, length int) (p pager) {
	p.Pages = max(1, (length+pageSize-1)/pageSize)
	p.Page = min(max(number, 1), p.Pages)
	p.From, p.To = min((p.Page-1)*pageSize+1, length), min(p.Page*pageSize, length)
	if p.Before = p.Page - 1; p.Page < p.Pages {
		p.Behind = p.Page + 1
	}
	return p
}

func pageNumber(r *http.Request) int {
	n, err := strconv.Atoi(r.URL.Query().Get("page"))
	if err != nil {
		return 1
	}
	return n
}

// showTools writes the page of all tools. The goroutine of the request runs it and showTool,
// which keep no state.
func showTools(w http.ResponseWriter, r *http.Request, q *request) error {
	all := q.sources.Tools.List()
	v := toolsView{Query: cutBytes(strings.TrimSpace(r.URL.Query().Get("q")), maxQuery),
		Server: r.URL.Query().Get("server"), All: len(all)}
	var found []*catalog.Tool
	found, v.Servers = findTools(all, v.Query, v.Server)
	v.Found, v.pager = len(found), pagerOf(pageNumber(r), len(found))
	if len(found) > 0 {
		v.Tools = found[v.From-1 : v.To]
	}
	q.show(w, http.StatusOK, "tools", "Tools", v)
	return nil
}

// findTools returns the tools of a server, or of all for "", that have each word of a text,
// and the servers of all tools.
func findTools(all []*catalog.Tool, text, server string) (found []*catalog.Tool, servers []string) {
	words := strings.Fields(strings.ToLower(text))
	for _, t := range all {
		if len(servers) == 0 || servers[len(servers)-1] != t.Server { // the catalog has the tools of a server together
			servers = append(servers, t.Server)
		}
		if (server == "" || server == t.Server) && hasWords(t, words) {
			found = append(found, t)
		}
	}
	return found, servers
}

// hasWords reports whether each word is part of the name, the title or the description of
// a tool. The words are in lower case.
func hasWords(t *catalog.Tool, words []string) bool {
	if len(words) == 0 {
		return true
	}
	text := strings.ToLower(t.Exposed + "\n" + t.Name + "\n" + t.Title + "\n" + cutBytes(t.Description, maxSearched))
	for _, w := range words {
		if !strings.Contains(text, w) {
			return false
		}
	}
	return true
}

// A toolView is the content of the page of a tool.
type toolView struct {
	*catalog.Tool
	Input, Output string // schemas
	Form          *toolForm
	Arguments     string // in the form for JSON
	Written       bool   // that form was sent
	Tried         *tried
}

func newToolView(t *catalog.Tool) toolView {
	v := toolView{Tool: t, Form: formOf(t)}
	v.Arguments = v.Form.skeleton()
	return v
}

// hints returns what the server says about its tool.
func (v toolView) Hints() string {
	var all []string
	for _, h := range []struct {
		set     *bool
		yes, no string
	}{{v.ReadOnly, "reads only", "does not only read"}, {v.Destructive, "may destroy", "does not destroy"}} {
		switch {
		case h.set == nil:
		case *h.set:
			all = append(all, h.yes)
		default:
			all = append(all, h.no)
		}
	}
	return cmp.Or(strings.Join(all, ", "), "nothing")
}

// toolOf returns the tool that a request names, as [references] do.
func (q *request) toolOf(name string) (*catalog.Tool, error) {
	if t, ok := q.sources.Tools.Find(name); ok {
		return t, nil
	}
	if isDigest(name) {
		for _, t := range q.sources.Tools.List() {
			if q.views.names.means(name, t.Exposed) {
				return t, nil
			}
		}
	}
	return nil, errNoPage
}

func showTool(w http.ResponseWriter, r *http.Request, q *request) error {
	t, err := q.toolOf(r.URL.Query().Get("name"))
	if err != nil {
		return err
	}
	q.showToolView(w, http.StatusOK, newToolView(t))
	return nil
}

func (q *request) showToolView(w http.ResponseWriter, status int, v toolView) {
	v.Input, v.Output = indented(v.Tool.Input), indented(v.Tool.Output)
	if v.Tried != nil && v.Tried.Result.hasMedia() {
		w.Header().Set("Content-Security-Policy", mediaPolicy)
	}
	q.show(w, status, "tool", "Tool "+v.Exposed, v)
}
