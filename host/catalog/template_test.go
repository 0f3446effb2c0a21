package catalog

import (
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/host/mcp"
)

// TestLocateSpellings reads resources under the spellings that clients make of their URIs.
func TestLocateSpellings(t *testing.T) {
	servers := []*Server{{Name: "docs"}, {Name: "other"}}
	s := build(servers, map[string]*lists{
		"docs": {
			Resources: listing(`{"uri":"file:///docs/café/a.txt"}`, `{"uri":"note://日本語/メモ"}`,
				`{"uri":"KBInfo://summary"}`, `{"uri":"file:///my docs/b c.txt"}`,
				`{"uri":"x://h/é"}`, `{"uri":"x://h/%c3%a9"}`, `{"uri":"x://h/%C3%A9"}`, `{"uri":"x://h/ü"}`,
				`{"uri":"listed://é/1"}`, `{"uri":"x://h/%7e"}`),
			Templates: listing(`{"uriTemplate":"file:///docs/café/{name}"}`, `{"uriTemplate":"file:///my docs/{name}"}`,
				`{"uriTemplate":"KBInfo://{path}"}`,
				`{"uriTemplate":"db://Tenant é/{+row}"}`, `{"uriTemplate":"q://{Host}{?a,b}"}`,
				`{"uriTemplate":"http://{host}"}`, `{"uriTemplate":"seg://{x}.É/{y}"}`,
				`{"uriTemplate":"judgment://{slug*}"}`, `{"uriTemplate":"file:///wiki/{path*}/raw"}`,
				`{"uriTemplate":"opt://{a,b*}"}`, `{"uriTemplate":"dir://d{/p*}"}`),
		},
		"other": {
			Resources: listing(`{"uri":"x://h/%C3%BC"}`, `{"uri":"file:///docs/caf%C3%A9/b.txt"}`),
			Templates: listing(`{"uriTemplate":"listed://{+all}"}`, `{"uriTemplate":"file:///my%20docs/{name}"}`),
		},
	})
	for _, c := range []struct{ asked, server, own string }{
		{"file:///docs/caf%C3%A9/a.txt", "docs", "file:///docs/café/a.txt"},
		{"FILE:///docs/caf%c3%a9/%61.txt", "docs", "file:///docs/café/a.txt"},
		{"file:///docs/café/a.txt", "docs", "file:///docs/café/a.txt"},
		{"note://%E6%97%A5%E6%9C%AC%E8%AA%9E/%E3%83%A1%E3%83%A2", "docs", "note://日本語/メモ"},
		{"kbinfo://summary", "docs", "KBInfo://summary"},
		{"kbinfo://summary/", "docs", "KBInfo://summary"},
		{"file:///my%20docs/b%20c.txt", "docs", "file:///my docs/b c.txt"},
		// The template of the other server fits exactly.
		{"file:///my docs/x y", "docs", "file:///my docs/x%20y"},
		{"file:///my%20docs/x", "other", "file:///my%20docs/x"},
		{"x://H/%7E", "docs", "x://h/%7e"},

		// The exact spelling of any server comes first, then the first in the list.
		{"x://h/é", "docs", "x://h/é"}, {"x://h/%c3%a9", "docs", "x://h/%c3%a9"},
		{"x://h/%C3%A9", "docs", "x://h/%C3%A9"}, {"x://H/é", "docs", "x://h/é"},
		{"x://h/ü", "docs", "x://h/ü"}, {"x://h/%C3%BC", "other", "x://h/%C3%BC"}, {"x://h/%c3%bc", "docs", "x://h/ü"},
		{"junctor://other/x://h/ü", "other", "x://h/%C3%BC"}, {"junctor://docs/x://h/%C3%BC", "docs", "x://h/ü"},
		{"junctor://docs/kbinfo%3A%2F%2Fsummary", "docs", "KBInfo://summary"},
		// A listed resource comes before a template.
		{"listed://%C3%A9/1", "docs", "listed://é/1"}, {"listed://%C3%A9/2", "other", "listed://%C3%A9/2"},
		{"file:///docs/caf%C3%A9/b.txt", "other", "file:///docs/caf%C3%A9/b.txt"},

		// The literals of templates have the server's spelling. Values are encoded.
		{"file:///docs/caf%C3%A9/x%20y.txt", "docs", "file:///docs/café/x%20y.txt"},
		{"file:///docs/café/é.txt", "docs", "file:///docs/café/%C3%A9.txt"},
		{"file:///docs/café/%2e%2e%2fa", "docs", "file:///docs/café/%2e%2e%2fa"},
		{"kbinfo://Some%20Path", "docs", "KBInfo://Some%20Path"},
		{"DB://tenant%20%c3%a9/Rows/a:1", "docs", "db://Tenant é/Rows/a:1"},
		{"Q://Some/?a=1&b=%C3%A9", "docs", "q://Some?a=1&b=%C3%A9"}, {"q://Some?a=1", "docs", "q://Some?a=1"},
		{"http://example.com/", "docs", "http://example.com"},
		{"seg://A.%c3%89/B", "docs", "seg://A.É/B"},
		{"junctor://docs/file:///docs/caf%C3%A9/x", "docs", "file:///docs/café/x"},

		// {name*} is a path.
		{"judgment://uksc", "docs", "judgment://uksc"}, {"judgment://uksc/2024/12", "docs", "judgment://uksc/2024/12"},
		{"JUDGMENT://UKSC/2024/12", "docs", "judgment://UKSC/2024/12"}, {"judgment://a,b", "docs", "judgment://a,b"},
		{"judgment://a/b:c@d/é", "docs", "judgment://a/b:c@d/%C3%A9"},
		{"file:///wiki/a/b/raw", "docs", "file:///wiki/a/b/raw"}, {"dir://d/a/b", "docs", "dir://d/a/b"},

		{"judgment://a//b", "", ""}, {"judgment:///a", "", ""}, {"judgment://a/", "", ""}, {"judgment://a/b/?", "", ""},
		{"judgment://a/../b", "", ""}, {"judgment://a/%2e%2E/b", "", ""}, {"judgment://a/./b", "", ""},
		{"judgment://..//b", "", ""}, {"judgment://a/.%2e", "", ""},
		{"judgment://a/b?c", "", ""}, {"judgment://a/b#c", "", ""}, {"judgment:a/b", "", ""},
		{"judgments://a/b", "", ""},
		{"file:///wiki/../raw", "docs", "file:///wiki/../raw"}, {"file:///wiki/a/../raw", "", ""},
		{"file:///wiki/a/b/raw/x", "", ""}, {"file:///wiki/a/b", "", ""},
		{"opt://a/b", "", ""},

		{"file:///docs/cafe/a.txt", "", ""}, {"file:///docs/caf%C3%A8/a.txt", "", ""},
		{"file:///docs/CAF%C3%89/a.txt", "", ""}, {"file:///docs/caf%25C3%25A9/a.txt", "", ""},
		{"file:///docs/caf%E9/a.txt", "", ""}, {"file:///docs/cafe%CC%81/a.txt", "", ""},
		{"file:///docs%2Fcaf%C3%A9/a.txt", "", ""}, {"file:///docs/caf%C3%A9/../a.txt", "", ""},
		{"file:///docs/caf%C3%A9/a/b", "", ""}, {"file:///docs/x/../caf%C3%A9/a.txt", "", ""},
		{"file://docs/caf%C3%A9/a.txt", "", ""}, {"file:////docs/caf%C3%A9/a.txt", "", ""},
		{"file:///my+docs/b+c.txt", "", ""}, {"file:///my%2520docs/b", "", ""}, {"kbinfo://summary/x", "", ""},
		{"kb-info://summary", "", ""}, {"note://%E6%97%A5%E6%9C%AC%E8%AA%9E", "", ""}, {"x://h:80/%7E", "", ""},
		{"x://u@h/%7E", "", ""}, {"x://h/%7E?", "", ""}, {"x://h/%7E#", "", ""}, {"db://tenant%20/1", "", ""},
		{"seg://A.%c3%a9/B", "", ""}, {"junctor://other/kbinfo://summary", "", ""},
		{"junctor://Docs/KBInfo://summary", "", ""}, {"kbinfo://" + strings.Repeat("a", maxURI), "", ""},
		{"kbinfo://summary" + strings.Repeat("%", maxURI), "", ""}, {"%", "", ""}, {":", "", ""},
	} {
		at, ok := s.Locate(c.asked)
		if !ok {
			at = Location{}
		}
		if at != (Location{c.server, c.own}) {
			t.Errorf("%.60q: %q of %q, want %q of %q", c.asked, at.URI, at.Server, c.own, c.server)
		}
	}
	for text, want := range map[string]string{
		"file:///docs/café/{name}": "docs", "file:///docs/caf%C3%A9/{name}": "docs",
		"file:///docs/caf%c3%a9/%7Bname%7D": "docs", "kbinfo://{path}": "docs",
		"file:///my%20docs/{name}": "other", "FILE:///my docs/{name}": "docs",
		"junctor://other/file:///my docs/{name}": "other",
		"file:///docs/cafe/{name}":               "", "file:///docs/café/{other}": "",
		"junctor://other/kbinfo://{path}": "", "kbinfo://{path}/x": "", "": "",
	} {
		got := ""
		if tm, ok := s.Template(text); ok {
			got = tm.Server
		}
		if got != want {
			t.Errorf("the template %q belongs to %q, want %q", text, got, want)
		}
	}
}

// FuzzRespell checks that what a template makes of a URI is one of its expansions with the
// same meaning.
func FuzzRespell(f *testing.F) {
	for _, seed := range [][2]string{{"file:///docs/café/{name}", "file:///docs/caf%C3%A9/x"}, {"KB://{p}", "kb://A/"},
		{"q://{H}x{?a*}", "Q://aX/?a=1"}, {"j://{s*}/é{#f}", "j://a/b/%C3%A9#x"}, {"x:/{+y}", "x:///a"},
		{"x:{+y}", "x://" + strings.Repeat("\xc5", maxURI/2) + "/a"}} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, template, uri string) {
		tm, _ := newTemplate(&Server{Name: "s"},
			mcp.SetMember([]byte("{}"), "uriTemplate", mcp.AppendText(nil, template)))
		if tm == nil || tm.match == nil || len(template) > 1000 {
			return
		}
		own, ok := tm.respell(newSpellings(uri))
		if ok && !Same(own, uri) {
			t.Errorf("%q with %q: %q", template, uri, own)
		}
	})
}

// TestInvalidTemplatesMatchNothing matches with templates that have no meaning.
func TestInvalidTemplatesMatchNothing(t *testing.T) {
	for _, template := range []string{"x:{", "x:}", "x:{}", "x:a}{b}", "x:{a}}", "x:{{a}}", "x:{a b}", "x:{=a}",
		"x:{a**}", "x:{*}", "x:{a", "{a}x:{b}", "x{a}:b", "x:{a}{", "x:{a:b}"} {
		tm, _ := newTemplate(&Server{Name: "s"},
			mcp.SetMember([]byte("{}"), "uriTemplate", mcp.AppendText(nil, template)))
		for _, uri := range []string{"x:", "x:a", "x:{a}", "x:{", "x:}", template, "x:a}b"} {
			if _, ok := tm.respell(newSpellings(uri)); ok || tm.Matches(uri) {
				t.Errorf("%q matches %q", template, uri)
			}
		}
	}
}
