package console

import (
	"html"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/console/consoletest"
)

const canary = "canary-0123456789"

// oddNames are names that a page does not show as they are.
var oddNames = map[string]string{
	"a secret": "get_" + canary + "_now", "a secret alone": canary,
	"an invisible character": "read\u200b_all", "a blank letter": "\u3164",
	"a long name": strings.Repeat("long", 300),
}

// linkTo returns the link of a page that begins with a text.
func linkTo(t *testing.T, page, beginning string) string {
	t.Helper()
	found := regexp.MustCompile(`href="(` + regexp.QuoteMeta(html.EscapeString(beginning)) + `[^"]*)"`).
		FindStringSubmatch(page)
	if found == nil {
		t.Fatalf("no link %s in:\n%s", beginning, consoletest.Said(page))
	}
	return html.UnescapeString(found[1])
}

// field returns the value of the hidden field of a form.
func field(t *testing.T, page, name string) string {
	t.Helper()
	found := regexp.MustCompile(`name="` + name + `" value="([^"]*)"`).FindStringSubmatch(page)
	if found == nil {
		t.Fatalf("no field %s in:\n%s", name, consoletest.Said(page))
	}
	return html.UnescapeString(found[1])
}

// siteWithSecret returns a browser of an admin, for whom the canary is a secret.
func siteWithSecret(t *testing.T, f *fake) *browser {
	return newSite(t, f,
		func(o *Options) { o.Hide = strings.NewReplacer(canary, "***").Replace }).browser(t).signInByLink()
}

// TestToolsWithOddNamesHavePages: each link to the page of a tool leads there, although the name
// is not part of it, and the tool can be called there.
func TestToolsWithOddNamesHavePages(t *testing.T) {
	for what, name := range oddNames {
		t.Run(what, func(t *testing.T) {
			f := newFake()
			f.tools = []*catalog.Tool{
				{Item: catalog.Item{Server: "files", Name: name, Exposed: name, Description: "It is the one."}},
				f.tools[0],
			}
			f.result = Result{JSON: []byte(`{"content":[]}`)}
			b := siteWithSecret(t, f)
			for _, list := range []string{"tools", "policy"} {
				_, text := b.get(list)
				status, page := b.get(linkTo(t, text, "tool?name=masked"))
				if status != http.StatusOK || !strings.Contains(page, "It is the one.") ||
					strings.Contains(page, canary) || strings.Contains(text, canary) {
					t.Fatalf("%s: %d\n%s", list, status, consoletest.Said(page))
				}
				status, access := b.get(linkTo(t, page, "access?tool=masked"))
				if status != http.StatusOK || strings.Contains(access, canary) {
					t.Errorf("%d\n%s", status, access)
				}
				b.post("access", "subject", "alice", "tool", field(t, access, "tool"))
				b.post("tool", "tool", field(t, page, "tool"), "arguments", "{}")
				if did := f.done(); !slices.Contains(did, "explain "+name+" for alice [known] [] ") ||
					!slices.Contains(did, "call "+name+" {} as local at 127.0.0.1") {
					t.Errorf("%q", did)
				}
			}
		})
	}
}

// TestItemsWithOddNamesHavePages: each link to the page of a resource, a template or a prompt leads
// there.
func TestItemsWithOddNamesHavePages(t *testing.T) {
	for what, name := range oddNames {
		t.Run(what, func(t *testing.T) {
			f := newFake()
			item := catalog.Item{Server: "files", Name: "file:///" + name, Exposed: "file:///" + name,
				Description: "It is the one."}
			f.items = Items{Resources: []*catalog.Item{&item}, Templates: []*catalog.Template{{Item: item}},
				Prompts: []*catalog.Prompt{{Item: item}}}
			f.result = Result{JSON: []byte(`{"contents":[]}`)}
			b := siteWithSecret(t, f)
			for _, kind := range itemKinds {
				_, text := b.get("items?kind=" + kind)
				status, page := b.get(linkTo(t, text, "item?kind="+kind+"&name=masked"))
				if status != http.StatusOK || !strings.Contains(page, "It is the one.") ||
					strings.Contains(page, canary) || strings.Contains(text, canary) {
					t.Fatalf("%s: %d\n%s", kind, status, consoletest.Said(page))
				}
				if resp, page := b.post("item", "kind", kind, "server", "files", "name",
					field(t, page, "name")); resp.StatusCode != http.StatusOK || strings.Contains(page, canary) {
					t.Errorf("%s: %s\n%s", kind, resp.Status, consoletest.Said(page))
				}
			}
			if did := f.done(); !slices.Equal(did, []string{"read " + item.Exposed + " of files as local at 127.0.0.1",
				"read " + item.Exposed + " of files as local at 127.0.0.1",
				"get " + item.Exposed + " map[] as local at 127.0.0.1"}) {
				t.Errorf("%q", did)
			}
		})
	}
}

// TestTemplatesKeepTheirSecret: a person completes the masked form of a template.
func TestTemplatesKeepTheirSecret(t *testing.T) {
	for name, c := range map[string]struct{ template, sent, read string }{
		"completed": {"db://u:" + canary + "@h/{table}",
			"db://u:***@h/users", "db://u:" + canary + "@h/users"},
		"another host": {"db://u:" + canary + "@h/{table}",
			"db://u:***@other/users", "db://u:" + canary + "@other/users"},
		"without a secret":      {"file:///{path}", "file:///***", "file:///***"},
		"a secret at the end":   {"db://{h}/" + canary, "db://h/***", "db://h/" + canary},
		"the mask is gone":      {"db://u:" + canary + "@h/{table}", "db://h/users", ""},
		"the mask is there":     {"db://u:" + canary + "@h/{table}", "db://u:***@h/***", ""},
		"two secrets":           {"db://" + canary + "/{t}/" + canary, "db://***/a/***", ""},
		"braces are left":       {"db://u:" + canary + "@h/{table}", "db://u:***@h/{table}", ""},
		"an invisible variable": {"db://\u200b{h}\u200b", "db://\uFFFDh\uFFFD", ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			f.items.Templates = []*catalog.Template{
				{Item: catalog.Item{Server: "files", Name: c.template, Exposed: c.template}},
			}
			f.result = Result{JSON: []byte(`{"contents":[]}`)}
			b := siteWithSecret(t, f)
			_, text := b.get("items?kind=template")
			_, page := b.get(linkTo(t, text, "item?kind=template"))
			resp, text := b.post("item", "kind", "template", "server", "files", "name", field(t, page, "name"),
				"uri", c.sent)
			var want []string
			if c.read != "" {
				want = []string{"read " + c.read + " of files as local at 127.0.0.1"}
			}
			if did := f.done(); !slices.Equal(did, want) || (resp.StatusCode == http.StatusOK) != (c.read != "") ||
				strings.Contains(text, canary) {
				t.Errorf("%s, did %q\n%s", resp.Status, did, consoletest.Said(text))
			}
		})
	}
}

// TestReferencesOfOthersLeadNowhere has digests that name nothing.
func TestReferencesOfOthersLeadNowhere(t *testing.T) {
	f := newFake()
	f.tools = []*catalog.Tool{{Item: catalog.Item{Server: "files", Name: canary, Exposed: canary}}}
	b := siteWithSecret(t, f)
	other := newReferences(texts{func(string) string { return "***" }})
	again := other.of(canary)
	if other.of(canary) != again || again == newReferences(other.texts).of(canary) ||
		other.of(canary) == other.of(canary+"1") {
		t.Error("a digest does not depend on the name and the process alone")
	}
	for _, name := range []string{"masked:", "masked:***", "***", other.of(canary), other.of(canary)[len("masked:"):]} {
		if status, text := b.get("tool" + query("name", name)); status != http.StatusNotFound ||
			strings.Contains(text, canary) {
			t.Errorf("%s: %d\n%s", name, status, consoletest.Said(text))
		}
		if status, _ := b.get("item" + query("kind", "resource", "server", "files", "name",
			name)); status != http.StatusNotFound {
			t.Errorf("%s: %d", name, status)
		}
	}
}
