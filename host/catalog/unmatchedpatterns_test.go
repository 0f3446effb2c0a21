package catalog

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/host/cache"
)

// glob returns a pattern that matches a name or, with a final star, a prefix.
func glob(list, text, at string) Pattern {
	beginning, starred := strings.CutSuffix(text, "*")
	return Pattern{List: list, Glob: text, At: at, Match: func(name string) bool {
		return name == text || starred && strings.HasPrefix(name, beginning)
	}}
}

func TestUnmatchedPatterns(t *testing.T) {
	tools := listing(`{"name":"del"}`, `{"name":"search_issues"}`, `{"name":"search_code"}`, `{"name":"create_issue"}`)
	for _, c := range []struct {
		pattern Pattern
		note    string // text after "the pattern …"
	}{
		{glob("deny", "del", "f:1:1"), ""},
		{glob("allow", "search_*", "f:1:1"), ""},
		{glob("allow", "*", "f:1:1"), ""},
		{glob("deny", "dei", "f:7:11"), `"dei" in deny matches none of its 4 tools, at f:7:11; did you mean "del"?`},
		{glob("allow", "serach_*", "f:1:1"),
			`"serach_*" in allow matches none of its 4 tools, at f:1:1; did you mean "search_*"?`},
		{glob("read", "gh__del", "f:1:1"),
			`"gh__del" in read matches none of its 4 tools, at f:1:1; patterns match the server's own names: use "del"`},
		{glob("write", "new_issue", "f:1:1"), `"new_issue" in write matches none of its 4 tools, at f:1:1; patterns match the server's own names: use "create_issue"`},
		{glob("deny", "delete_everything", "f:1:1"),
			`"delete_everything" in deny matches none of its 4 tools, at f:1:1`},
		{glob("deny", "x", "f:1:1"), `"x" in deny matches none of its 4 tools, at f:1:1`},
		{glob("deny", "*dei*", "f:1:1"), `"*dei*" in deny matches none of its 4 tools, at f:1:1`},
		{glob("deny", strings.Repeat("x", 1000), "f:1:1"),
			`"` + strings.Repeat("x", 64) + `" in deny matches none of its 4 tools, at f:1:1`},
	} {
		server := &Server{Name: "gh", Prefix: "gh", Patterns: []Pattern{c.pattern},
			Views: map[string]*View{"create_issue": {Name: "new_issue"}}}
		want := c.note
		if want != "" {
			want = "gh: the pattern " + want
		}
		if got := notesOf(build([]*Server{server}, map[string]*lists{"gh": {Tools: tools}})); got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
	none := &Server{Name: "gh", Patterns: []Pattern{glob("allow", "x", "f:1:1")}}
	if got := notesOf(build([]*Server{none},
		map[string]*lists{"gh": {}})); got !=
		`gh: the pattern "x" in allow matches nothing: it has no tools, at f:1:1` {
		t.Errorf("of a server without tools: %s", got)
	}
	if got := notesOf(build([]*Server{none}, map[string]*lists{"gh": {Tools: listing(`{"name":"del"}`)}})); got !=
		`gh: the pattern "x" in allow does not match its only tool, at f:1:1` {
		t.Errorf("of a server with one tool: %s", got)
	}
	if got := notesOf(build([]*Server{none}, nil)); got != "" {
		t.Errorf("of a server without lists: %s", got)
	}
}

// TestUnmatchedPatternsAreLoggedOnce checks that repeated lists cause no second log line.
func TestUnmatchedPatternsAreLoggedOnce(t *testing.T) {
	var log bytes.Buffer
	server := &Server{Name: "gh", Key: "k", Patterns: []Pattern{glob("deny", "dei", "f:7:11")}}
	c := New([]*Server{server}, cache.Dir(t.TempDir()), hclog.New(&hclog.LoggerOptions{Output: &log}), nil)
	defer c.Stop()
	for _, tools := range []string{`{"name":"del"}`, `{"name":"del","title":"x"}`, `{"name":"del"}`} {
		c.publisher.publish(server, &lists{Tools: listing(tools)})
	}
	if got := strings.Count(log.String(), "does not match a server"); got != 1 ||
		!strings.Contains(log.String(), "at=f:7:11") || !strings.Contains(log.String(), `did you mean`) {
		t.Errorf("%d lines: %s", got, log.String())
	}
}

// TestNullUnsetsDefaults checks that null suppresses a default, unless the schema allows
// null.
func TestNullUnsetsDefaults(t *testing.T) {
	const tool = `{"name":"t","inputSchema":{"type":"object","properties":{"n":{"type":"integer"},"any":{},"maybe":{"type":["string","null"]},"must":{"type":"string"}},"required":["must"]}}`
	defaults := map[string]json.RawMessage{"n": []byte("20"), "any": []byte("1"), "maybe": []byte(`"x"`),
		"must": []byte(`"y"`)}
	s := build([]*Server{{Name: "a", Views: map[string]*View{"t": {Default: defaults, Pin: nil}}}},
		map[string]*lists{"a": {Tools: listing(tool)}})
	got, ok := s.Tool("t")
	if !ok {
		t.Fatal(notesOf(s))
	}
	for sent, want := range map[string]string{
		`{}`:                               `{"any":1,"maybe":"x","must":"y","n":20}`,
		`{"n":null}`:                       `{"any":1,"maybe":"x","must":"y"}`,
		`{"any":null,"n":1}`:               `{"n":1,"maybe":"x","must":"y"}`,
		`{"maybe":null,"n":null,"any":2}`:  `{"maybe":null,"any":2,"must":"y"}`,
		`{"other":null,"n":null,"any":[]}`: `{"other":null,"any":[],"maybe":"x","must":"y"}`,
	} {
		if out := string(got.Arguments([]byte(sent))); out != want {
			t.Errorf("%s becomes %s, want %s", sent, out, want)
		}
	}
	if !got.Needed("must") || got.Needed("n") || got.Needed("none") {
		t.Error("Needed is wrong")
	}
}
