package console

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/console/consoletest"
	"github.com/junctor-mcp/junctor/host/pins"
)

// changedTools has a tool of each kind.
func changedTools() Pinned {
	return Pinned{Definitions: "first_use", Differences: []pins.Difference{
		{Tool: "drop", Digest: "digest of drop",
			Members: []catalog.MemberChange{{Name: "description", After: []byte(`"drops a table"`)}}},
		{Tool: "read", Pinned: "p", Digest: "digest of read", Unknown: true, More: 3,
			Members: []catalog.MemberChange{{Name: "inputSchema", After: []byte(`{"type":"object"}`), Cut: true}}},
		{Tool: "write", Pinned: "p", Digest: "digest of write", Members: []catalog.MemberChange{
			{Name: "description", Before: []byte(`"writes"`), After: []byte("\"writes and\u200b sends\"")},
			{Name: "annotations", Before: []byte(`{"readOnlyHint":true}`)},
		}},
		{Tool: "list", Pinned: "p"},
	}}
}

// TestHeldToolsAreShown looks for what a person needs to decide about a tool.
func TestHeldToolsAreShown(t *testing.T) {
	f := newFake()
	f.pinned = changedTools()
	s := newSite(t, f, nil)
	for token, buttons := range map[string]int{"token-of-bob": 0, "token-of-alice": 3} {
		b := s.browser(t).signIn(token)
		_, text := b.get("server?name=files")
		_, section, ok := strings.Cut(text, "Held back</h2>")
		if !ok {
			t.Fatal(text)
		}
		for _, want := range []string{
			"<code><bdi>first_use</bdi></code>", "drops a table", "new", "changed", "&#34;writes&#34;",
			`writes and<span class="hidden-character">\u200b</span> sends`, "It is absent.",
			"was not kept on this machine", "Only the part around the first difference is shown",
			"3 further parts of the definition differ.", "gone", "junctor lock <bdi>files</bdi>",
		} {
			if !strings.Contains(text, want) {
				t.Errorf("%s does not see %q\n%s", token, want, section)
			}
		}
		if got := strings.Count(text, `>Accept</button>`); got != buttons ||
			strings.Contains(text, "Accept all 3") != (buttons > 0) {
			t.Errorf("%s gets %d buttons\n%s", token, got, section)
		}
		if strings.Contains(section, "digest of") != (buttons > 0) {
			t.Errorf("%s and the digests:\n%s", token, section)
		}
		if _, text := b.get("servers"); !strings.Contains(text, `href="server?name=files#held">3 held back</a>`) {
			t.Errorf("the page of all servers does not count:\n%s", consoletest.Said(text))
		}
		if _, text := b.get("server?name=github"); strings.Contains(text, "Held back") ||
			!strings.Contains(text, "<code><bdi>any</bdi></code>") {
			t.Errorf("a server whose tools may change:\n%s", consoletest.Said(text))
		}
	}
}

// TestAcceptingTools accepts what was shown, and nothing else.
func TestAcceptingTools(t *testing.T) {
	f := newFake()
	f.pinned = changedTools()
	s := newSite(t, f, nil)
	b, viewer := s.browser(t).signIn("token-of-alice"), s.browser(t).signIn("token-of-bob")
	seen := []string{"server", "files", "tool", "write", "digest", "digest of write"}
	if resp, text := viewer.post("accept", seen...); resp.StatusCode != http.StatusForbidden {
		t.Errorf("a viewer: %s\n%s", resp.Status, consoletest.Said(text))
	}
	form := url.Values{"server": {"files"}, "tool": {"write"}, "digest": {"digest of write"}}
	for name, token := range map[string]string{"no token": "", "another token": viewer.csrf()} {
		if form.Del("csrf"); token != "" {
			form.Set("csrf", token)
		}
		if resp, text := b.do(http.MethodPost, b.base+"accept", form, nil); resp.StatusCode != http.StatusForbidden {
			t.Errorf("%s: %s\n%s", name, resp.Status, consoletest.Said(text))
		}
	}
	if status, _ := b.get("accept?server=files&tool=write&digest=digest+of+write"); status !=
		http.StatusMethodNotAllowed {
		t.Errorf("a link: %d", status)
	}
	token := b.csrf()
	for name, form := range map[string]url.Values{
		"no tool": {}, "a tool without a digest": {"tool": {"write"}},
		"an empty digest": {"tool": {"list"}, "digest": {""}}, "an empty tool": {"tool": {""}, "digest": {"x"}},
		"more tools than digests": {"tool": {"write", "drop"}, "digest": {"digest of write"}}, "too many": {
			"tool": slices.Repeat([]string{"write"}, 51), "digest": slices.Repeat([]string{"digest of write"}, 51),
		},
	} {
		form.Set("server", "files")
		form.Set("csrf", token)
		if resp, text := b.do(http.MethodPost, b.base+"accept", form, nil); resp.StatusCode != http.StatusForbidden {
			t.Errorf("%s: %s\n%s", name, resp.Status, consoletest.Said(text))
		}
	}
	for name, form := range map[string][]string{
		"another digest":      {"server", "files", "tool", "write", "digest", "digest of drop"},
		"a tool that is gone": {"server", "files", "tool", "list", "digest", "p"},
		"an unknown server":   {"server", "nothing", "tool", "write", "digest", "x"},
	} {
		resp, _ := b.post("accept", form...)
		if _, text := b.do(http.MethodGet, resp.Header.Get("Location"), nil,
			nil); !strings.Contains(text, "changed again") || !strings.Contains(text, `role="alert"`) {
			t.Errorf("%s: %s\n%s", name, resp.Status, consoletest.Said(text))
		}
	}
	if did := s.done(); len(did) > 0 {
		t.Fatalf("done: %q", did)
	}
	resp, _ := b.post("accept", seen...)
	if _, text := b.do(http.MethodGet, resp.Header.Get("Location"), nil, nil); !strings.Contains(text,
		"Accepted: tool write of files.") ||
		strings.Contains(text, "digest of write") || !strings.Contains(text, "digest of drop") {
		t.Errorf("%s\n%s", resp.Status, consoletest.Said(text))
	}
	all := url.Values{"csrf": {token}, "server": {"files"}, "tool": {"drop", "read"},
		"digest": {"digest of drop", "digest of read"}}
	if resp, text := b.do(http.MethodPost, b.base+"accept", all, nil); resp.StatusCode != http.StatusSeeOther {
		t.Errorf("all: %s\n%s", resp.Status, consoletest.Said(text))
	}
	if _, text := b.get("server?name=files"); !strings.Contains(text, "Accepted: 2 tools of files.") ||
		strings.Contains(text, `action="accept"`) {
		t.Error(text)
	}
	want := []string{"accept write digest of write of files by alice, in the console",
		"accept drop digest of drop of files by alice, in the console",
		"accept read digest of read of files by alice, in the console"}
	if did := s.done(); !slices.Equal(did, want) {
		t.Errorf("done: %q", did)
	}
}

// TestHeldToolsOfAPageAreBounded: a server that changes thousands of tools, or a few large ones,
// makes no large page. The form for all of them can be sent.
func TestHeldToolsOfAPageAreBounded(t *testing.T) {
	f := newFake()
	large := []catalog.MemberChange{{Name: "description", After: []byte(strings.Repeat("x", 200<<10))}}
	for name, c := range map[string]struct {
		members []catalog.MemberChange
		shown   int
	}{"many": {nil, 50}, "large": {large, 2}} {
		f.pinned.Differences = nil
		for i := range 5000 {
			f.pinned.Differences = append(f.pinned.Differences,
				pins.Difference{Tool: fmt.Sprintf("%01024d", i), Digest: fmt.Sprintf("%064d", i), Members: c.members})
		}
		b := newSite(t, f, nil).browser(t).signIn("token-of-alice")
		_, text := b.get("server?name=files")
		more := fmt.Sprintf("%s further tools differ.", number(int64(5000-c.shown)))
		if got := strings.Count(text, ">Accept</button>"); got != c.shown || !strings.Contains(text, more) ||
			len(text) > 1<<20 {
			t.Errorf("%s: %d tools, %d bytes", name, got, len(text))
		}
		form := url.Values{"csrf": {b.csrf()}, "server": {"files"}}
		for _, d := range f.pinned.Differences[:c.shown] {
			form["tool"], form["digest"] = append(form["tool"], d.Tool), append(form["digest"], d.Digest)
		}
		if resp, text := b.do(http.MethodPost, b.base+"accept", form, nil); resp.StatusCode != http.StatusSeeOther ||
			len(f.done()) != c.shown {
			t.Errorf("%s: %s\n%s", name, resp.Status, consoletest.Said(text))
		}
		f.did = nil
	}
}

// TestAcceptingPrograms accepts the program of a plugin that is on disk, and no other one.
func TestAcceptingPrograms(t *testing.T) {
	f := newFake()
	was, is := strings.Repeat("ab", 32), strings.Repeat("cd", 32)
	f.programs = append(f.programs, Program{Plugin: "acme", Source: "/opt/acme", Version: "1.0.0", Path: "/opt/acme",
		SHA256: was, Pinned: true, Lockable: true, Pin: was, OnDisk: is})
	s := newSite(t, f, nil)
	b, viewer := s.browser(t).signIn("token-of-alice"), s.browser(t).signIn("token-of-bob")
	if _, text := viewer.get("plugins"); !strings.Contains(text, "The file has") || !strings.Contains(text, is) ||
		strings.Contains(text, `value="`+is+`"`) {
		t.Errorf("as a viewer:\n%s", consoletest.Said(text))
	}
	if _, text := b.get("plugins"); !strings.Contains(text, `aria-label="Accept the program of acme"`) ||
		strings.Contains(text, "program of stdio") {
		t.Errorf("as an admin:\n%s", consoletest.Said(text))
	}
	if resp, text := viewer.post("plugins", "plugin", "acme", "digest", is); resp.StatusCode != http.StatusForbidden {
		t.Errorf("a viewer: %s\n%s", resp.Status, consoletest.Said(text))
	}
	if resp, _ := b.post("plugins", "plugin", "acme"); resp.StatusCode != http.StatusForbidden {
		t.Errorf("no digest: %s", resp.Status)
	}
	for _, form := range [][]string{{"plugin", "acme", "digest", was}, {"plugin", "stdio", "digest", is}} {
		resp, _ := b.post("plugins", form...)
		if _, text := b.do(http.MethodGet, resp.Header.Get("Location"), nil, nil); !strings.Contains(text,
			"changed again") {
			t.Errorf("%q: %s", form, consoletest.Said(text))
		}
	}
	if did := s.done(); len(did) > 0 {
		t.Fatalf("done: %q", did)
	}
	resp, _ := b.post("plugins", "plugin", "acme", "digest", is)
	if _, text := b.do(http.MethodGet, resp.Header.Get("Location"), nil,
		nil); !strings.Contains(text, "Accepted: the program of acme.") || strings.Contains(text, `value="`+is+`"`) {
		t.Errorf("%s\n%s", resp.Status, consoletest.Said(text))
	}
	if did := s.done(); !slices.Equal(did, []string{"accept program acme " + is + " by alice, in the console"}) {
		t.Errorf("done: %q", did)
	}
}
