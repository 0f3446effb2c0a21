package catalog

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/upstream"
)

func quoted(s string) []byte { return mcp.AppendText(nil, s) }

// listing returns a list with the given items.
func listing(items ...string) (l upstream.Listing) {
	for _, item := range items {
		l.Items = append(l.Items, []byte(item))
	}
	return l
}

func notesOf(s *Snapshot) string {
	var all []string
	for _, n := range s.Notes {
		all = append(all, n.Server+": "+n.String())
	}
	return strings.Join(all, "\n")
}

func toolsOf(s *Snapshot) string {
	var all []string
	for _, t := range s.Tools {
		all = append(all, t.Exposed+"="+t.Server+"/"+t.Name)
	}
	return strings.Join(all, " ")
}

// acceptsNothing are pins that hold back every tool.
type acceptsNothing struct{}

func (acceptsNothing) Digests() map[string]string { return nil }
func (acceptsNothing) Strict() bool               { return true }
func (acceptsNothing) Seen(map[string][]byte)     {}

func TestClashes(t *testing.T) {
	evil := &Server{Name: "evil"}
	for _, c := range []struct {
		name    string
		servers []*Server
		lists   map[string]*lists
		tools   string
		notes   string
	}{
		{
			"order of the configuration, not of arrival",
			[]*Server{{Name: "a", Prefix: "a"}, {Name: "b", Prefix: "b"}},
			map[string]*lists{"b": {Tools: listing(`{"name":"x"}`)}, "a": {Tools: listing(`{"name":"x"}`)}},
			"a__x=a/x b__x=b/x", "",
		},
		{
			"the name of a tool that is held back goes to no other server",
			[]*Server{{Name: "a", Pins: acceptsNothing{}}, {Name: "b"}},
			map[string]*lists{"a": {Tools: listing(`{"name":"x"}`)},
				"b": {Tools: listing(`{"name":"x"}`, `{"name":"y"}`)}},
			"y=b/y", "a: tool \"x\" is held back: its definition was not accepted yet; run `junctor diff a`, then `junctor lock --accept a/x`\n" +
				`b: tool "x" is hidden by the same name of server "a", whose tool is held back; set a prefix`,
		},
		{
			"without prefixes the first server wins",
			[]*Server{{Name: "a"}, {Name: "b"}},
			map[string]*lists{"a": {Tools: listing(`{"name":"x"}`)},
				"b": {Tools: listing(`{"name":"x"}`, `{"name":"y"}`)}},
			"x=a/x y=b/y", `b: tool "x" is hidden by the same name of server "a"; set a prefix`,
		},
		{
			"a server without a prefix cannot take the names of one that has it",
			[]*Server{evil, {Name: "github", Prefix: "gh"}},
			map[string]*lists{"evil": {Tools: listing(`{"name":"gh__delete"}`, `{"name":"gx__delete"}`)}},
			"gx__delete=evil/gx__delete",
			`evil: tool "gh__delete" is left out: its name has the prefix of server "github"; set a prefix`,
		},
		{
			"prefixes that begin alike",
			[]*Server{{Name: "trusted", Prefix: "trusted"}, {Name: "evil", Prefix: "trusted_evil"}},
			map[string]*lists{"trusted": {Tools: listing(`{"name":"evil__cmd"}`)},
				"evil": {Tools: listing(`{"name":"cmd"}`)}},
			"trusted__evil__cmd=trusted/evil__cmd trusted_evil__cmd=evil/cmd", "",
		},
		{
			"twice in one list",
			[]*Server{{Name: "a", Prefix: "a"}},
			map[string]*lists{"a": {Tools: listing(`{"name":"x","title":"1"}`, `{"name":"x","title":"2"}`)}},
			"a__x=a/x", `a: tool "x" is listed twice; the first entry is used`,
		},
		{
			"sanitised alike",
			[]*Server{{Name: "a", Prefix: "a"}},
			map[string]*lists{"a": {Tools: listing(`{"name":"x.y"}`, `{"name":"x/y"}`, `{"name":"x_y"}`)}},
			"a__x_y_7ace4eaa=a/x.y a__x_y_f723596c=a/x/y a__x_y=a/x_y", "",
		},
		{
			"a view's name is not for others, however they are listed",
			[]*Server{{Name: "a", Prefix: "a", Views: map[string]*View{"search": {Name: "find", At: "f:1:1"}}}},
			map[string]*lists{"a": {Tools: listing(`{"name":"find"}`, `{"name":"search"}`)}},
			"a__find=a/search", `a: tool "find" is hidden by the view at f:1:1, which gives its name to "search"`,
		},
		{
			"views that swap names",
			[]*Server{{Name: "a", Prefix: "a", Views: map[string]*View{"x": {Name: "y"}, "y": {Name: "x"}}}},
			map[string]*lists{"a": {Tools: listing(`{"name":"x"}`, `{"name":"y"}`)}},
			"a__y=a/x a__x=a/y", "",
		},
		{
			"a pin of nothing leaves its tool out, for it would be open",
			[]*Server{{Name: "a", Prefix: "a", Views: map[string]*View{
				"search": {Pin: map[string]json.RawMessage{"ownr": json.RawMessage("1")}, At: "f:1:1"},
			}}},
			map[string]*lists{"a": {Tools: listing(search)}},
			"", `a: tool "search" is left out: its pin: ownr is not an argument of the tool; did you mean "owner"?, at f:1:1`,
		},
		{
			"a pin of the wrong type leaves its tool out, for it would be sent",
			[]*Server{{Name: "a", Prefix: "a", Views: map[string]*View{"search": {
				Pin: map[string]json.RawMessage{"owner": json.RawMessage("1")}, At: "f:1:1",
				Places: map[string]string{"owner": "f:2:5"},
			}}}},
			map[string]*lists{"a": {Tools: listing(search)}},
			"", `a: tool "search" is left out: its pin: owner must be a string, is a number, at f:2:5`,
		},
		{
			"and so does a default of the wrong type",
			[]*Server{{Name: "a", Prefix: "a", Views: map[string]*View{"search": {
				Default: map[string]json.RawMessage{"n": json.RawMessage(`"x"`), "q": json.RawMessage(`"x"`)},
				At:      "f:1:1", Places: map[string]string{"n": "f:3:5"},
			}}}},
			map[string]*lists{"a": {Tools: listing(search)}},
			"", `a: tool "search" is left out: its default: n must be an integer, is a string, at f:3:5`,
		},
		{
			"a default of nothing is a note",
			[]*Server{{Name: "a", Prefix: "a", Views: map[string]*View{"search": {
				Default: map[string]json.RawMessage{"ownr": json.RawMessage("1")}, At: "f:1:1",
			}}}},
			map[string]*lists{"a": {Tools: listing(search)}},
			"a__search=a/search", `a: tool "search" has a default without effect: ownr is not an argument of the tool; did you mean "owner"?, at f:1:1`,
		},
		{
			"a tool that is only a task",
			[]*Server{{Name: "a", Prefix: "a"}},
			map[string]*lists{"a": {Tools: listing(`{"name":"x","execution":{"taskSupport":"required"}}`,
				`{"name":"y","execution":{"taskSupport":"optional"}}`)}},
			"a__x=a/x a__y=a/y", "",
		},
		{
			"a view of nothing",
			[]*Server{{Name: "a", Prefix: "a",
				Views: map[string]*View{"c": {At: "f:3:1"}, "b": {At: "f:2:1"}, "d": {Hidden: true}}}},
			map[string]*lists{"a": {}},
			"", "a: it has no tool \"b\", which a tool block configures, at f:2:1\na: it has no tool \"c\", which a tool block configures, at f:3:1",
		},
		{
			"one reason is told once",
			[]*Server{{Name: "a", Prefix: "a"}},
			map[string]*lists{"a": {
				Tools:     upstream.Listing{Degraded: "the request failed: locked"},
				Resources: upstream.Listing{Degraded: "the request failed: locked"},
				Templates: upstream.Listing{Degraded: "the server sent a cursor again"},
				Prompts:   upstream.Listing{Degraded: "the request failed: locked"},
			}},
			"", "a: its lists of tools, resources and prompts are incomplete: the request failed: locked\na: its list of templates is incomplete: the server sent a cursor again",
		},
		{
			"nothing is said of tools that a list may lack",
			[]*Server{{Name: "a", Prefix: "a", Views: map[string]*View{"c": {At: "f:3:1"}},
				Patterns: []Pattern{glob("deny", "x", "f:1:1")}}},
			map[string]*lists{"a": {Tools: upstream.Listing{Degraded: "the server sent a cursor again"}}},
			"", "a: its list of tools is incomplete: the server sent a cursor again",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := build(c.servers, c.lists)
			if got := toolsOf(s); got != c.tools {
				t.Errorf("%s\nwant %s", got, c.tools)
			}
			if got := notesOf(s); got != c.notes {
				t.Errorf("notes:\n%s\nwant:\n%s", got, c.notes)
			}
		})
	}
}

const search = `{"name":"search", "title":"Search","inputSchema":{"type":"object","properties":{"owner":{"type":"string"},` +
	`"q":{"type":"string"},"n":{"type":"integer"}},"required":["owner","q","n"]},"x":9007199254740993}`

func TestViews(t *testing.T) {
	raw := func(s string) json.RawMessage { return json.RawMessage(s) }
	for _, c := range []struct {
		name string
		view View
		raw  string // as clients see it
		sent string // arguments sent for {"q":"a","owner":"mine"}
	}{
		{"none", View{}, strings.Replace(search, `"search"`, `"a__search"`, 1), `{"q":"a","owner":"mine"}`},
		{"renamed", View{Name: "find.it"}, strings.Replace(search, `"search"`, `"a__find_it_40300ec2"`, 1),
			`{"q":"a","owner":"mine"}`},
		{"described", View{Description: "new\n", HasDescription: true},
			strings.Replace(strings.Replace(search, `"search"`, `"a__search"`, 1), `93}`,
				`93,"description":"new\n"}`, 1),
			`{"q":"a","owner":"mine"}`},
		{"pinned", View{Pin: map[string]json.RawMessage{"owner": raw(`"acme"`)}},
			`{"name":"a__search", "title":"Search","inputSchema":{"type":"object","properties":{"q":{"type":"string"},"n":{"type":"integer"}},` +
				`"required":["q","n"]},"x":9007199254740993}`, `{"q":"a","owner":"acme"}`},
		{"default of what is not in the schema", View{Default: map[string]json.RawMessage{"z": raw(`[1]`)}},
			strings.Replace(search, `"search"`, `"a__search"`, 1), `{"q":"a","owner":"mine","z":[1]}`},
		{"defaults", View{Default: map[string]json.RawMessage{"n": raw(`20`), "q": raw(`"b"`)}},
			`{"name":"a__search", "title":"Search","inputSchema":{"type":"object","properties":{"owner":{"type":"string"},"q":{"type":"string","default":"b"},` +
				`"n":{"type":"integer","default":20}},"required":["owner"]},"x":9007199254740993}`,
			`{"q":"a","owner":"mine","n":20}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := build([]*Server{{Name: "a", Prefix: "a", Views: map[string]*View{"search": &c.view}}},
				map[string]*lists{"a": {Tools: listing(search)}})
			tool, ok := s.OwnTool("a", "search")
			if !ok {
				t.Fatal(notesOf(s))
			}
			if got := string(tool.Raw); got != c.raw {
				t.Errorf("%s\nwant %s", got, c.raw)
			}
			if got := string(tool.Arguments([]byte(`{"q":"a","owner":"mine"}`))); got != c.sent {
				t.Errorf("sent %s, want %s", got, c.sent)
			}
			if string(s.Tools[0].Input) != string(mcp.Member(tool.Raw, "inputSchema")) {
				t.Errorf("the schema is %s", tool.Input)
			}
		})
	}
}

// TestViewsThatHide checks that a hidden tool has no name, and that a tool whose view cannot
// be applied is omitted.
func TestViewsThatHide(t *testing.T) {
	views := map[string]*View{
		"search": {Hidden: true},
		"bare":   {Pin: map[string]json.RawMessage{"x": []byte("1")}, At: "f:1:1"},
	}
	s := build([]*Server{{Name: "a", Prefix: "a", Views: views}},
		map[string]*lists{"a": {Tools: listing(search, `{"name":"bare"}`)}})
	_, hidden := s.OwnTool("a", "search")
	_, bare := s.Tool("a__bare")
	if len(s.Tools) > 0 || hidden || bare || !strings.Contains(notesOf(s),
		"it has no input schema, so nothing can be pinned and nothing can have a default, at f:1:1") {
		t.Errorf("%s, %s", toolsOf(s), notesOf(s))
	}
}

// TestLocate checks the server of plain and qualified URIs.
func TestLocate(t *testing.T) {
	servers := []*Server{{Name: "greedy"}, {Name: "files"}, {Name: "db"}}
	var many []string
	for i := range 2 * maxMatched {
		many = append(many, fmt.Sprintf(`{"uriTemplate":"many%d://{x}"}`, i))
	}
	s := build(servers, map[string]*lists{
		"greedy": {Templates: listing(`{"uriTemplate":"{+anything}"}`, `{"uriTemplate":"{scheme}://{+rest}"}`,
			`{"uriTemplate":"a{b}:c"}`, `{"uriTemplate":"x:{`,
			`{"uriTemplate":"v:`+strings.Repeat("{a,b}", 100)+`"}`,
			`{"uriTemplate":"w:{`+strings.Repeat("a,", 400)+`a}"}`)},
		"files": {Resources: listing(`{"uri":"file:///a","name":"A"}`, `{"uri":"file:///a"}`, `{"uri":"db://shared"}`),
			Templates: listing(append(many, `{"uriTemplate":"file:///tmp/{name}"}`)...)},
		"db": {Resources: listing(`{"uri":"db://shared"}`), Templates: listing(`{"uriTemplate":"db://{table}/{row}"}`,
			`{"uriTemplate":"file:///tmp/{name}"}`)},
	})
	for uri, want := range map[string]string{
		"file:///a": "files", "db://shared": "files",
		"db://t/1": "db", "db://t/1/2": "", "file:///etc/passwd": "", "x:{": "", "anything": "", "v:1": "", "w:1": "",
		"many7://y": "files", fmt.Sprintf("many%d://y", maxMatched): "", "": "",
		"file:///tmp/x":                         "db", // the template of files is over the limit
		"db://t/" + strings.Repeat("1", maxURI): "",
		"junctor://db/db%3A%2F%2Fshared":        "db", "junctor://db/db://shared": "db",
		"junctor://files/file:///a": "files", "junctor://db/file:///tmp/x": "db",
		"junctor://other/db:x": "", "junctor://db": "", "junctor://db/": "",
		"junctor://db/%zz": "", "junctor://db/%ff": "",
		"JUNCTOR://db/db://shared": "",
	} {
		if got, ok := s.Locate(uri); got.Server != want || ok != (want != "") {
			t.Errorf("%.40s belongs to %q, want %q", uri, got, want)
		}
	}
	if tm, ok := s.Template("file:///tmp/{name}"); !ok || tm.Server != "files" {
		t.Errorf("%+v", tm)
	}
	if tm, ok := s.Template("junctor://db/file:///tmp/{name}"); !ok || tm.Server != "db" ||
		tm.Name != "file:///tmp/{name}" || !tm.Matches("file:///tmp/x") {
		t.Errorf("%+v", tm)
	}
	if tm, ok := s.Template("junctor://files/file:///tmp/{name}"); !ok || tm.Server != "files" {
		t.Errorf("%+v", tm)
	}
	if at, ok := s.Locate("junctor://db/db%3Anot-listed"); ok || at != (Location{"db", "db:not-listed"}) {
		t.Errorf("%+v", at)
	}
	if _, ok := s.Template("no"); ok {
		t.Error("Template found a missing template")
	}
	if s.Resources[0].Title != "A" || !strings.Contains(notesOf(s),
		`db: resource db://shared is offered as junctor://db/db%3A%2F%2Fshared: server "files" lists it first`) {
		t.Errorf("%s", notesOf(s))
	}
}

// TestQualify checks that qualified URIs and resources correspond one to one.
func TestQualify(t *testing.T) {
	for _, own := range []string{"a:b", "file:///a b/ü?x=%20#y",
		"x", "%", "junctor://a/b:c", strings.Repeat("/", maxURI)} {
		at := Location{"srv_1-x", own}
		uri := at.Qualify()
		if strings.ContainsFunc(uri[len(qualifiedPrefix+"srv_1-x/"):],
			func(r rune) bool { return !strings.ContainsRune("%-._~", r) && !isAlphanumeric(r) }) {
			t.Errorf("%q is not encoded", uri)
		}
		if back, ok := Unqualify(uri); !ok || back != at {
			t.Errorf("%.40q became %.40q, then %+v", own, uri, back)
		}
	}
	for _, bad := range []string{"", "a:b", "junctor:", "junctor://", "junctor:///a:b", "junctor://s/%",
		"junctor://s/" + strings.Repeat("x", maxURI+1), "junctor://s/" + strings.Repeat("%41", 2*maxURI)} {
		if at, ok := Unqualify(bad); ok {
			t.Errorf("%.40q stands for %+v", bad, at)
		}
	}
	// A listed URI cannot impersonate a URI of another server.
	s := build([]*Server{{Name: "evil"}, {Name: "good"}}, map[string]*lists{
		"evil": {Resources: listing(`{"uri":"junctor://good/a:b"}`)}, "good": {Resources: listing(`{"uri":"a:b"}`)},
	})
	if at, ok := s.Locate("junctor://good/a:b"); !ok || at.Server != "good" {
		t.Errorf("%+v", at)
	}
	if at, ok := s.Locate(s.Resources[0].Exposed); !ok || at != (Location{"evil", "junctor://good/a:b"}) {
		t.Errorf("%+v, %s", at, s.Resources[0].Exposed)
	}
}

func isAlphanumeric(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
}

func TestPrompts(t *testing.T) {
	s := build([]*Server{{Name: "b"}, {Name: "a", Prefix: "a"}}, map[string]*lists{
		"a": {Prompts: listing(`{"name":"p","arguments":[{"name":"x","required":true}],"y": 1}`,
			`{"name":"p"}`, `{"name":""}`, `{"name":"odd","arguments":{}}`)},
		"b": {Prompts: listing(`{"name":"a__p"}`, `{"name":"q"}`)},
	})
	p, ok := s.Prompt("a__p")
	own, _ := s.OwnPrompt("a", "p")
	if !ok || p != own || string(p.Raw) != `{"name":"a__p","arguments":[{"name":"x","required":true}],"y": 1}` ||
		len(p.Arguments) != 1 || !p.Arguments[0].Required {
		t.Errorf("%+v", p)
	}
	if len(s.Prompts) != 3 || len(s.Notes) != 3 {
		t.Errorf("%d prompts, %s", len(s.Prompts), notesOf(s))
	}
}
