package console

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/host/console/consoletest"
)

// TestItemsAreRead reads a resource, one of a template, and gets a prompt.
func TestItemsAreRead(t *testing.T) {
	const contents = `{"contents":[{"uri":"file:///srv/plan.md","mimeType":"text/markdown","text":"# The plan"},{"uri":"file:///b","blob":"AAAA"}]}`
	for name, c := range map[string]struct {
		form   []string
		result string
		did    string
		shows  []string
	}{
		"a resource": {[]string{"kind", "resource", "server", "files", "name", "file:///srv/plan.md"}, contents,
			"read file:///srv/plan.md of files as local at 127.0.0.1",
			[]string{"Resource file:///srv/plan.md", "# The plan", "Resource 2", "Browsers show no such data here"}},
		"one of a template": {
			[]string{"kind", "template", "server", "files", "name", "file:///{path}", "uri", " file:///srv/a "},
			contents, "read file:///srv/a of files as local at 127.0.0.1", []string{"Resource template", "# The plan"},
		},
		"a prompt": {[]string{"kind", "prompt", "server", "github", "name", "github__review", "arg0", "7", "arg1", ""},
			`{"messages":[{"role":"user","content":{"type":"text","text":"Review 7."}}]}`,
			"get github__review map[change:7] as local at 127.0.0.1",
			[]string{"Prompt github__review", "Text 1, <bdi>user</bdi>", "Review 7.", ">\n7</textarea>"}},
		"a result of another form": {[]string{"kind", "resource", "server", "files", "name", "file:///srv/plan.md"},
			`{"contents":{"text":"odd"}}`, "read ", []string{"The whole result", "odd"}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			f.result = Result{JSON: []byte(c.result)}
			resp, text := newSite(t, f, nil).browser(t).signInByLink().post("item", c.form...)
			if resp.StatusCode != http.StatusOK ||
				!slices.ContainsFunc(f.done(), func(did string) bool { return strings.HasPrefix(did, c.did) }) {
				t.Errorf("%s, did %q", resp.Status, f.done())
			}
			for _, want := range c.shows {
				if !strings.Contains(text, want) {
					t.Errorf("no %q in:\n%s", want, consoletest.Said(text))
				}
			}
		})
	}
}

// TestItemsAreNotRead has forms that reach no server.
func TestItemsAreNotRead(t *testing.T) {
	for name, c := range map[string]struct {
		form   []string
		status int
		shows  string
	}{
		"a required argument": {[]string{"kind", "prompt", "server", "github", "name", "github__review", "arg1", "x"},
			http.StatusUnprocessableEntity, "The argument change is required."},
		"a name in braces": {[]string{"kind", "template", "server", "files", "name", "file:///{path}"},
			http.StatusUnprocessableEntity, "The URI has braces"},
		"another kind": {[]string{"kind", "prompt", "server", "files", "name", "file:///srv/plan.md"},
			http.StatusNotFound, ""},
		"another server": {[]string{"kind", "resource", "server", "github", "name", "file:///srv/plan.md"},
			http.StatusNotFound, ""},
		"a resource that is unknown": {[]string{"kind", "resource", "server", "files", "name", "file:///etc/shadow",
			"uri", "file:///srv/plan.md"}, http.StatusNotFound, ""},
		"nothing": {nil, http.StatusNotFound, ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			resp, text := newSite(t, f, nil).browser(t).signInByLink().post("item", c.form...)
			if resp.StatusCode != c.status || !strings.Contains(text, c.shows) {
				t.Errorf("%s, want %d and %q in:\n%s", resp.Status, c.status, c.shows, consoletest.Said(text))
			}
			if did := f.done(); len(did) > 0 {
				t.Errorf("did %q", did)
			}
		})
	}
}
