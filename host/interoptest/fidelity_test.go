package interoptest

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/host/mcp"
)

// A question is a request whose answer must be the same with and without
// Junctor.
type question struct {
	name   string
	method string
	params object
}

// callOf returns a question to a tool.
func callOf(tool string, arguments object) question {
	return question{"call " + tool, "tools/call", object{"name": tool, "arguments": arguments}}
}

func readOf(uri string) question {
	return question{"read " + uri, "resources/read", object{"uri": uri}}
}

func promptOf(name string, arguments object) question {
	if arguments == nil {
		arguments = object{}
	}
	return question{"prompt " + name, "prompts/get", object{"name": name, "arguments": arguments}}
}

func completionOf(ref object, argument, value string) question {
	return question{"complete " + argument, "completion/complete", object{
		"ref": ref, "argument": object{"name": argument, "value": value},
	}}
}

// exposed returns the params of the question for a client of the gateway.
func (q question) exposed(prefix string) object {
	params := maps.Clone(q.params)
	switch q.method {
	case "tools/call", "prompts/get":
		params["name"] = prefix + "__" + params["name"].(string)
	case "completion/complete":
		ref := maps.Clone(params["ref"].(object))
		if name, ok := ref["name"].(string); ok {
			ref["name"] = prefix + "__" + name
		}
		params["ref"] = ref
	}
	return params
}

// relayed are the servers of this test.
var relayed = map[string]relayCase{
	"everything": {everything, oldDialect, []question{
		callOf("echo", object{"message": "Grüße \U0001F40D \u2028 <&>"}),
		callOf("get-annotated-message", object{"messageType": "error", "includeImage": true}),
		callOf("get-annotated-message", object{"messageType": "success"}),
		callOf("get-resource-links", object{"count": 4}),
		callOf("get-resource-reference", object{"resourceType": "Text", "resourceId": 3}),
		callOf("get-resource-reference", object{"resourceType": "Blob", "resourceId": 4}),
		callOf("get-structured-content", object{"location": "Chicago"}),
		callOf("get-sum", object{"a": 9007199254740993, "b": -1.5}),
		callOf("get-tiny-image", object{}),
		callOf("gzip-file-as-resource",
			object{"name": "x.gz", "data": "data:text/plain,hello", "outputType": "resource"}),
		readOf("demo://resource/static/document/features.md"),
		readOf("demo://resource/dynamic/text/7"),
		readOf("demo://resource/dynamic/blob/7"),
		readOf("demo://resource/dynamic/text/none"),
		promptOf("simple-prompt", nil),
		promptOf("args-prompt", object{"city": "Oslo", "state": "NO"}),
		promptOf("resource-prompt", object{"resourceType": "Blob", "resourceId": "1"}),
		completionOf(object{"type": "ref/prompt", "name": "completable-prompt"}, "department", "E"),
		completionOf(object{"type": "ref/resource", "uri": "demo://resource/dynamic/text/{resourceId}"},
			"resourceId", "1"),
	}},
	"memory": {memory, oldDialect, []question{
		callOf("create_entities",
			object{
				"entities": []object{{"name": "Ada", "entityType": "person", "observations": []string{"likes trains"}}},
			}),
		callOf("create_relations",
			object{"relations": []object{{"from": "Ada", "to": "Ada", "relationType": "knows"}}}),
		callOf("add_observations",
			object{"observations": []object{{"entityName": "Ada", "contents": []string{"writes"}}}}),
		callOf("add_observations",
			object{"observations": []object{{"entityName": "Nobody", "contents": []string{"fails"}}}}),
		callOf("read_graph", object{}),
		callOf("search_nodes", object{"query": "trains"}),
		callOf("open_nodes", object{"names": []string{"Ada", "Nobody"}}),
		callOf("delete_observations",
			object{"deletions": []object{{"entityName": "Ada", "observations": []string{"writes"}}}}),
		callOf("delete_relations",
			object{"relations": []object{{"from": "Ada", "to": "Ada", "relationType": "knows"}}}),
		callOf("delete_entities", object{"entityNames": []string{"Ada"}}),
		readOf("memory://knowledge-graph"),
	}},
	"filesystem": {func(t *testing.T) server { return filesystem(t, library(t)) }, oldDialect, []question{
		callOf("list_allowed_directories", object{}),
		callOf("list_directory", object{"path": "."}),
		callOf("list_directory_with_sizes", object{"path": ".", "sortBy": "size"}),
		callOf("directory_tree", object{"path": "."}),
		callOf("search_files", object{"path": ".", "pattern": "**/*.txt"}),
		callOf("read_text_file", object{"path": "poem.txt"}),
		callOf("read_text_file", object{"path": "poem.txt", "tail": 1}),
		callOf("read_file", object{"path": "poem.txt", "head": 1}),
		callOf("read_media_file", object{"path": "dot.png"}),
		callOf("read_multiple_files", object{"paths": []string{"poem.txt", "none.txt"}}),
		callOf("write_file", object{"path": "new.txt", "content": "a\r\nb\u2028\"\\"}),
		callOf("edit_file", object{"path": "new.txt", "edits": []object{{"oldText": "a", "newText": "z"}}}),
		callOf("create_directory", object{"path": "deep/deeper"}),
		callOf("move_file", object{"source": "new.txt", "destination": "deep/old.txt"}),
		callOf("get_file_info", object{"path": "deep"}),
		callOf("read_text_file", object{"path": "/etc/passwd"}),
		callOf("read_text_file", object{"path": "none.txt"}),
	}},
	"fastmcp":   {fastmcp, oldDialect, pythonQuestions},
	"mcpserver": {mcpserver, newDialect, pythonQuestions},
	"gosdk": {func(*testing.T) server { return gosdk() }, newDialect, []question{
		callOf("echo", object{"text": "x"}),
		callOf("fail", object{}),
		callOf("count", object{"steps": 0}),
		readOf("go://resource/one"),
		readOf("go://resource/blob"),
		readOf("go://dynamic/5"),
		promptOf("plain", nil),
		promptOf("topic", object{"topic": "trains"}),
		completionOf(object{"type": "ref/prompt", "name": "topic"}, "topic", "t"),
		completionOf(object{"type": "ref/resource", "uri": "go://dynamic/{id}"}, "id", "i"),
	}},
}

var pythonQuestions = []question{
	callOf("add", object{"a": 1, "b": 2}),
	callOf("shout", object{"text": "grüße", "times": 2}),
	callOf("weather", object{"city": "Oslo"}),
	callOf("fail", object{"reason": "because"}),
	readOf("note://text"),
	readOf("note://blob"),
	readOf("note://by-number/3"),
	promptOf("review", object{"code": "x = 1"}),
	completionOf(object{"type": "ref/prompt", "name": "review"}, "style", "s"),
	completionOf(object{"type": "ref/resource", "uri": "note://by-number/{number}"}, "number", "1"),
}

// library creates a directory with files. Questions name it by a placeholder.
func library(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range map[string]string{"poem.txt": "Roses\nare\nred",
		"sub/more.txt": "more", "dot.png": "\x89PNG"} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// overWeb are the servers that are available over HTTP and SSE.
var overWeb = map[string]map[string]func(*testing.T) server{
	"everything": {"http": everythingOver("streamableHttp"), "sse": everythingOver("sse")},
	"fastmcp":    {"http": pythonOver(fastmcp, "streamable-http"), "sse": pythonOver(fastmcp, "sse")},
	"mcpserver":  {"http": pythonOver(mcpserver, "streamable-http")},
	"gosdk":      {"http": gosdkOver("http", "/modern")},
}

// TestAnswersCrossUnchanged sends every question directly and through Junctor.
// In the server's own era the answers must be the same bytes.
func TestAnswersCrossUnchanged(t *testing.T) {
	for name, r := range relayed {
		for era, d := range eras {
			t.Run(name+"/"+era, func(t *testing.T) {
				if r.native.modern() != d.modern() &&
					slices.Contains([]string{"memory", "filesystem", "mcpserver"}, name) {
					rarely(t)
				}
				t.Parallel()
				r.compare(t, r.server(t), r.server(t), d)
			})
		}
		for way, of := range overWeb[name] {
			t.Run(name+"/"+way, func(t *testing.T) {
				if way == "http" && name != "gosdk" && name != "fastmcp" || way == "sse" && name != "everything" {
					rarely(t)
				}
				t.Parallel()
				s := of(t)
				direct := s
				if !r.native.modern() {
					direct = r.server(t) // on standard streams
				}
				r.compare(t, direct, s, r.native)
			})
		}
	}
}

// A relayCase is a server, the era that it speaks with Junctor, and questions.
type relayCase struct {
	server    func(t *testing.T) server
	native    dialect
	questions []question
}

// compare sends all questions to both and compares the answers.
func (r relayCase) compare(t *testing.T, direct, behind server, d dialect) {
	t.Helper()
	alone := direct.direct(t, r.native)
	alone.initialize()
	p := newWorkspace(t, behind).serve().speak(d)
	p.initialize()
	p.waitForTools(behind.name)
	compareLists(t, alone, p, behind.name)
	for _, q := range r.questions {
		want := alone.call(q.method, q.in(direct).params)
		got := p.call(q.method, q.in(behind).exposed(behind.name))
		compareAnswers(t, q.name, got, want, r.native.modern() == d.modern())
	}
}

// in returns a question about this server's files for one about a library's.
func (q question) in(s server) question {
	if s.name != "files" {
		return q
	}
	dir := s.command[len(s.command)-1]
	arguments := maps.Clone(q.params["arguments"].(object))
	for _, key := range []string{"path", "source", "destination"} {
		if file, ok := arguments[key].(string); ok && !filepath.IsAbs(file) {
			arguments[key] = filepath.Join(dir, file)
		}
	}
	if files, ok := arguments["paths"].([]string); ok {
		var absolute []string
		for _, file := range files {
			absolute = append(absolute, filepath.Join(dir, file))
		}
		arguments["paths"] = absolute
	}
	q.params = object{"name": q.params["name"], "arguments": arguments}
	return q
}

// compareLists compares all lists of a server. Except for the exposed name the
// items must be the same bytes.
func compareLists(t *testing.T, alone, behind *peer, prefix string) {
	t.Helper()
	for _, l := range []struct{ method, member string }{
		{"tools/list", "tools"}, {"prompts/list", "prompts"}, {"resources/list", "resources"},
		{"resources/templates/list", "resourceTemplates"},
	} {
		var want []json.RawMessage
		if l.member == "tools" || alone.offers(strings.SplitN(l.method, "/", 2)[0]) {
			want = offered(t, alone.list(l.method, l.member))
		}
		got := behind.list(l.method, l.member)
		if len(got) != len(want) {
			t.Errorf("%s: %d items, directly %d", l.method, len(got), len(want))
			continue
		}
		for i := range want {
			item := strings.Replace(string(got[i]), `"name":"`+prefix+`__`, `"name":"`, 1)
			if item != string(want[i]) {
				t.Errorf("%s, item %d:\n got %s\nwant %s", l.method, i, item, want[i])
			}
		}
	}
}

// offered returns the tools as clients get them: a tool that has to be called as a task is an
// ordinary one, because Junctor makes the task.
func offered(t *testing.T, items []json.RawMessage) []json.RawMessage {
	t.Helper()
	for i, raw := range items {
		var tool struct{ Execution struct{ TaskSupport string } }
		decode(t, raw, &tool)
		if tool.Execution.TaskSupport == "required" {
			items[i] = mcp.DeleteMember(raw, "execution")
		}
	}
	return items
}

// offers reports whether the server has lists of a kind.
func (p *peer) offers(kind string) bool {
	p.t.Helper()
	var hello struct {
		Capabilities map[string]json.RawMessage `json:"capabilities"`
	}
	p.mu.Lock()
	first := slices.IndexFunc(p.heard, func(m message) bool { return m.Result != nil })
	m := p.heard[first]
	p.mu.Unlock()
	m.into(p.t, &hello)
	return hello.Capabilities[kind] != nil
}

// volatile matches what differs between two answers to one question: the time,
// also in the base64 of "Resource ...", and temporary directories.
var volatile = regexp.MustCompile(`UmVzb3VyY2Ug[\w+/=]*|\d+:\d\d:\d\d( [AP]M)?|/tmp/[^/]*/\d+|\w{3} \w{3} \d\d \d{4}|\(Coordinated Universal Time\)|GMT[+-]\d+`)

// eraOnly are the members that differ between the eras.
var eraOnly = []string{"resultType", "ttlMs", "cacheScope", "_meta"}

// compareAnswers compares two answers as bytes or, between eras, without the
// members that only one era has.
func compareAnswers(t *testing.T, what string, got, want message, bytes bool) {
	t.Helper()
	one, other := string(got.Result)+string(got.Error), string(want.Result)+string(want.Error)
	if !bytes {
		one, other = withoutEra(t, got), withoutEra(t, want)
	}
	one, other = volatile.ReplaceAllString(one, "*"), volatile.ReplaceAllString(other, "*")
	if one != other {
		t.Errorf("%s:\n got %s\nwant %s", what, clip(one), clip(other))
	}
}

func withoutEra(t *testing.T, m message) string {
	t.Helper()
	if m.Error != nil {
		e := m.failure(t)
		if e.Code == -32002 {
			e.Code = -32602
		}
		return encode(t, e)
	}
	var r map[string]json.RawMessage
	m.into(t, &r)
	for _, name := range eraOnly {
		delete(r, name)
	}
	return encode(t, r)
}

func encode(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
