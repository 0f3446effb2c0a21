package clientconfig

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// MostServers is the maximum number of servers of a file.
const MostServers = 1000

// A Server is a server in the file of a client. Its texts are as written: they may
// contain secrets, and references that the client replaces.
type Server struct {
	Name     string
	Command  []string // the program and its arguments; nil: the server is remote
	Dir      string
	Env      map[string]string
	PassEnv  []string // variables that it gets from its environment
	URL      string
	SSE      bool // only the older HTTP with server-sent events
	Headers  map[string]string
	OAuth    bool              // the server wants a login
	EnvNames map[string]string // headers whose values are variables, as header and variable
	Disabled bool

	Allow, Deny []string      // its tools
	Start, Call time.Duration // 0: the client's own

	Ignored []string // members that say something else, sorted
	// Problem is why the server cannot be used, as a sentence without a full stop; the
	// fields other than Name are unset then.
	Problem string
}

// An Input is a value that a client asks its user for.
type Input struct {
	ID     string
	Secret bool
}

// Servers returns the servers in a file of any client, in the file's order if it is JSON.
// The text may also be a part of such a file: the object of the servers alone. The
// error is a [*SyntaxError].
func Servers(text []byte) ([]Server, []Input, error) {
	body := bytes.TrimPrefix(text, bom)
	if trimmed := bytes.TrimSpace(body[commentLen(body):]); len(trimmed) > 0 && trimmed[0] != '{' {
		return serversTOML(body)
	}
	root, err := parse(text, true)
	if err != nil {
		return nil, nil, err
	}
	all, in, err := serversIn(text, root)
	if err != nil {
		return nil, nil, err
	}
	inputs, _ := root.plain(text).(map[string]any)["inputs"].([]any)
	var found []Server
	for i, name := range in.names {
		if slices.Contains(in.names[:i], name) {
			return nil, nil, syntax(text, in.items[i].start, "%q occurs twice", name)
		}
		found = append(found, serverOf(name, all[name]))
	}
	return found, inputsOf(inputs), tooMany(len(found))
}

func tooMany(n int) error {
	if n > MostServers {
		return &SyntaxError{Line: 1, Column: 1, What: fmt.Sprintf("%d servers, at most %d are read", n, MostServers)}
	}
	return nil
}

// serversMembers are the members that contain the servers, of all clients.
var serversMembers = []string{"mcpServers", "servers", "context_servers", "mcp_servers", "mcp"}

// serversIn finds the object that contains the servers.
func serversIn(text []byte, root *node) (map[string]any, *node, error) {
	if root == nil || root.kind != '{' {
		return nil, nil, syntax(text, 0, "an object is missing, such as { \"mcpServers\": { … } }")
	}
	for _, name := range serversMembers {
		in, twice := root.find(name)
		if twice {
			return nil, nil, syntax(text, in.start, "%q occurs twice", name)
		}
		if in == nil {
			continue
		}
		if inner, _ := in.find("servers"); name == "mcp" && inner != nil && inner.kind == '{' { // settings of VS Code
			in = inner
		}
		if in.kind != '{' {
			return nil, nil, syntax(text, in.start, "%q is not an object of servers by name", name)
		}
		return in.plain(text).(map[string]any), in, nil
	}
	all, _ := root.plain(text).(map[string]any)
	for _, v := range all {
		if s, ok := v.(map[string]any); !ok || s["command"] == nil && s["url"] == nil {
			return nil, nil, syntax(text, root.start, "no servers: none of the members %s is here", strings.Join(serversMembers, ", "))
		}
	}
	return all, root, nil
}

func serversTOML(body []byte) ([]Server, []Input, error) {
	all, err := readTOML(body)
	if err != nil {
		return nil, nil, err
	}
	servers, ok := all["mcp_servers"].(map[string]any)
	if !ok {
		return nil, nil, &SyntaxError{Line: 1, Column: 1, What: "no servers: the table mcp_servers is missing"}
	}
	var found []Server
	for _, name := range slices.Sorted(maps.Keys(servers)) {
		found = append(found, serverOf(name, servers[name]))
	}
	return found, nil, tooMany(len(found))
}

func inputsOf(all []any) (inputs []Input) {
	for _, v := range all {
		in, _ := v.(map[string]any)
		if id, ok := in["id"].(string); ok {
			inputs = append(inputs, Input{ID: id, Secret: in["password"] == true})
		}
	}
	return inputs
}

// serverOf reads an entry.
func serverOf(name string, v any) Server {
	members, ok := v.(map[string]any)
	if !ok {
		return Server{Name: name, Problem: "it is not an object"}
	}
	r := entryReader{members: maps.Clone(members), s: Server{Name: name}}
	r.program()
	r.remote()
	r.rest()
	s := r.s
	switch {
	case r.problem != "":
		return Server{Name: name, Problem: r.problem}
	case len(s.Command) == 0 && s.URL == "":
		return Server{Name: name, Problem: "it has neither a command nor a url"}
	case len(s.Command) > 0 && s.URL != "":
		return Server{Name: name, Problem: "it has a command and a url, and only one of them can be meant"}
	}
	s.Ignored = slices.Sorted(maps.Keys(r.members))
	return s
}

// An entryReader takes the members of an entry one after the other. Those that are left
// say something that it does not know.
type entryReader struct {
	members map[string]any
	s       Server
	problem string // the first one
}

func (r *entryReader) fail(format string, args ...any) {
	if r.problem == "" {
		r.problem = fmt.Sprintf(format, args...)
	}
}

// take returns the first of several members that is present and not null.
func (r *entryReader) take(names ...string) (value any, name string) {
	for _, n := range names {
		v := r.members[n]
		delete(r.members, n)
		if value == nil && v != nil {
			value, name = v, n
		}
	}
	return value, name
}

func (r *entryReader) text(names ...string) string {
	v, name := r.take(names...)
	s, ok := v.(string)
	if v != nil && !ok {
		r.fail("%s is not a text", name)
	}
	return s
}

func (r *entryReader) texts(names ...string) []string {
	v, name := r.take(names...)
	if v == nil {
		return nil
	}
	all, ok := v.([]any)
	if !ok {
		r.fail("%s is not a list of texts", name)
	}
	list := make([]string, 0, len(all))
	for _, v := range all {
		s, ok := plainText(v)
		if !ok {
			r.fail("%s is not a list of texts", name)
		}
		list = append(list, s)
	}
	return list
}

func (r *entryReader) textMap(names ...string) map[string]string {
	v, name := r.take(names...)
	if v == nil {
		return nil
	}
	all, ok := v.(map[string]any)
	if !ok {
		r.fail("%s is not an object of texts", name)
	}
	texts := make(map[string]string, len(all))
	for k, v := range all {
		if v == nil {
			continue
		}
		s, ok := plainText(v)
		if !ok {
			r.fail("%s.%s is not a text", name, k)
		}
		texts[k] = s
	}
	return texts
}

// plainText returns a text, or a number or a boolean as text, which clients accept too.
func plainText(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case json.Number, bool, int64, float64:
		return fmt.Sprint(v), true
	}
	return "", false
}

// duration returns a number of units as a duration.
func (r *entryReader) duration(unit time.Duration, name string) time.Duration {
	v, _ := r.take(name)
	if v == nil {
		return 0
	}
	s, _ := plainText(v)
	var n float64
	if _, err := fmt.Sscan(s, &n); err != nil || n <= 0 || n > float64(24*time.Hour/unit) {
		r.fail("%s is not a number of at most a day", name)
		return 0
	}
	return time.Duration(n * float64(unit)).Round(time.Millisecond)
}

// program reads how the server is started.
func (r *entryReader) program() {
	command, _ := r.take("command")
	switch c := command.(type) {
	case nil:
	case string:
		r.s.Command = []string{c}
	case []any:
		r.members["command"] = c
		r.s.Command = r.texts("command")
	case map[string]any: // of Zed: path, args and env
		for k, v := range c {
			if r.members[k] == nil {
				r.members[k] = v
			}
		}
		r.s.Command = []string{r.text("path")}
	default:
		r.fail("command is neither a text nor a list of texts")
	}
	if args := r.texts("args"); len(r.s.Command) > 0 {
		r.s.Command = append(r.s.Command, args...)
	}
	if len(r.s.Command) > 0 && r.s.Command[0] == "" {
		r.fail("command is empty")
	}
	r.s.Env = r.textMap("env", "environment")
	r.s.PassEnv = r.texts("env_vars")
	r.s.Dir = r.text("cwd", "workingDirectory")
}

// remote reads where the server is.
func (r *entryReader) remote() {
	streamable := r.members["httpUrl"] != nil
	r.s.URL = r.text("httpUrl", "url", "serverUrl", "baseUrl")
	r.s.Headers = r.textMap("headers", "http_headers")
	r.s.EnvNames = r.textMap("env_http_headers")
	if v := r.text("bearer_token_env_var"); v != "" {
		if r.s.Headers == nil {
			r.s.Headers = map[string]string{}
		}
		r.s.Headers["Authorization"] = "Bearer ${" + v + "}"
	}
	switch kind := strings.ToLower(r.text("type", "transport")); kind {
	case "", "stdio", "local", "remote", "http", "streamable-http", "streamable_http", "streamablehttp":
	case "sse":
		r.s.SSE = !streamable
	default:
		r.fail("type %q is none that Junctor knows", kind)
	}
}

// rest reads whether the server is used, its tools and times.
func (r *entryReader) rest() {
	if v, _ := r.take("disabled"); v == true {
		r.s.Disabled = true
	}
	if v, _ := r.take("enabled"); v == false {
		r.s.Disabled = true
	}
	r.s.Allow = r.texts("includeTools", "enabled_tools", "allowedTools")
	r.s.Deny = r.texts("excludeTools", "disabled_tools", "disabledTools")
	r.s.Start = max(r.duration(time.Second, "startup_timeout_sec"), r.duration(time.Millisecond, "startup_timeout_ms"))
	r.s.Call = r.duration(time.Second, "tool_timeout_sec")
	for _, name := range []string{"description", "name", "$schema", "source", "gallery"} {
		delete(r.members, name)
	}
}
