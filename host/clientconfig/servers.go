package clientconfig

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// The maximum numbers in one file.
const (
	MostServers = 1000
	maxValues   = 20_000 // arguments, variables and headers of all servers
)

// A Server is a server in the file of a client. Its texts may contain secrets, and
// references that the client replaces. Callers may change their copy.
type Server struct {
	Name  string
	Place Place // where its entry begins
	// The plugin or extension of the client that it is a part of; empty: its entry is in the client's file.
	Part     string
	Base     string   // the directory of the file, absolute; empty: not known
	Command  []string // the program and its arguments; nil: the server is remote
	Dir      string
	Env      map[string]string
	PassEnv  []string // variables that it gets from its environment
	EnvFiles []string // files with lines NAME=VALUE; Env wins over them
	URL      string
	SSE      bool // only the older HTTP with server-sent events
	Headers  map[string]string
	OAuth    *OAuth            // the server wants a login; nil: none is known
	Helper   string            // a command line of a shell that prints headers as a JSON object
	EnvNames map[string]string // headers whose values are variables, as header and variable
	Disabled bool
	Required bool

	Allow, Deny []string      // its tools
	Confirm     []string      // its tools that ask before each call
	Read, Write []string      // its tools that only read, and the others
	Start, Call time.Duration // 0: the client's own
	Idle        string        // "never", a duration or "adaptive"; empty: the client's own

	Ignored []string // members that say something else, sorted
	Notes   []string // sentences without a full stop about members that mean something else here
	// Problem is why the server cannot be used, as a sentence without a full stop; the
	// fields other than Name and Place are unset then.
	Problem string
}

// An Input is a value that a client asks its user for.
type Input struct {
	ID     string
	Secret bool
}

// A Place is a position in a file. Line and column count from 1; both are 0 if it is not
// known.
type Place struct{ Line, Column int }

func (p Place) String() string { return fmt.Sprintf("%d:%d", p.Line, p.Column) }

// Content is what a file of a client says.
type Content struct {
	Servers     []Server
	Inputs      []Input
	Access      *Rights  // of avelino's mcp; nil: the file says nothing about who may use what
	Permissions *Rights  // of NEXUS3; nil: the same
	Notes       []string // sentences without a full stop about settings of the whole file
}

// ReadContent reads a file of any client: JSON with comments, TOML or YAML. Servers are in
// the file's order, except of TOML. The text may also be a part of such a file: the object
// of the servers alone. c is the client if it is known, else nil. The error is a
// [*SyntaxError].
func ReadContent(text []byte, c *Client) (Content, error) {
	if err := checkUTF8(text); err != nil {
		return Content{}, err
	}
	body := bytes.TrimPrefix(text, bom)
	trimmed := bytes.TrimSpace(body[commentLen(body):])
	var content Content
	var err error
	switch {
	case len(trimmed) == 0 || trimmed[0] == '{' || trimmed[0] == '/':
		content, err = contentJSON(text, c)
	case looksLikeYAML(body):
		content, err = contentYAML(body, c)
	default:
		content, err = contentTOML(body, c)
	}
	if err == nil {
		err = content.checkSize()
	}
	return content, err
}

// checkSize refuses a file with too many values.
func (c *Content) checkSize() error {
	n := 0
	for _, s := range c.Servers {
		n += len(s.Command) +
			len(s.Env) + len(s.PassEnv) + len(s.Headers) + len(s.EnvNames) + len(s.Allow) + len(s.Deny)
	}
	if n > maxValues {
		return &SyntaxError{Line: 1, Column: 1, What: fmt.Sprintf(
			"the servers have %d arguments, variables and other values, at most %d are read", n, maxValues,
		)}
	}
	return nil
}

// A rawServer is an entry before it is read.
type rawServer struct {
	name  string
	value any // of the types of encoding/json
	place Place
}

// servers reads entries.
func servers(raw []rawServer, c *Client) (found []Server, err error) {
	if len(raw) > MostServers {
		return nil, tooMany(len(raw))
	}
	places := map[string]Place{}
	for _, r := range raw {
		if first, twice := places[r.name]; twice {
			return nil, &SyntaxError{Line: r.place.Line, Column: r.place.Column,
				What: fmt.Sprintf("%q occurs twice; the other is at %s", r.name, first)}
		}
		places[r.name] = r.place
		s := serverOf(r.name, r.value, c)
		s.Place = r.place
		found = append(found, s)
	}
	return found, nil
}

// contentJSON reads a JSON file.
func contentJSON(text []byte, c *Client) (all Content, err error) {
	root, err := parse(text, true)
	if err != nil {
		return all, err
	}
	if root == nil || root.kind != '{' {
		return all, syntax(text, 0, "an object is missing, such as { \"mcpServers\": { … } }")
	}
	if err := all.rights(text, root); err != nil {
		return all, err
	}
	if isGateway(root) {
		file, _ := root.plain(text).(map[string]any)
		if raw := gatewayTargets(file); raw != nil {
			all.Servers, err = servers(raw, c)
			return all, err
		}
	}
	inner := unwrapped(root)
	rights := all
	if all, err = serversBeside(text, inner, c); err != nil {
		if (rights.Access != nil || rights.Permissions != nil) && !hasServers(inner) {
			return rights, nil // only rights
		}
		return all, err
	}
	all.Access, all.Permissions, all.Notes = rights.Access, rights.Permissions, append(rights.Notes, all.Notes...)
	if powers, _ := root.find("powers"); inner == root && powers != nil && powers.kind == '{' && hasServers(powers) {
		// Of Kiro.
		more, err := serversBeside(text, powers, c)
		if err != nil {
			return all, err
		}
		all.Servers = append(all.Servers, more.Servers...)
	}
	all.restrict(text, root)
	all.localNotes(text, root)
	return all, nil
}

// isGateway reports whether a file is a configuration of agentgateway.
func isGateway(root *node) bool {
	if binds, _ := root.find("binds"); binds != nil {
		return true
	}
	mcp, _ := root.find("mcp")
	if mcp == nil || mcp.kind != '{' {
		return false
	}
	targets, _ := mcp.find("targets")
	return targets != nil && targets.kind == '['
}

// serversBeside reads the servers in an object of a file, and what is beside them.
func serversBeside(text []byte, root *node, c *Client) (all Content, err error) {
	raw, err := serversIn(text, root)
	if err != nil {
		return all, err
	}
	if all.Servers, err = servers(raw, c); err != nil {
		return all, err
	}
	file, _ := root.plain(text).(map[string]any)
	all.chosen(file)
	inputs, _ := file["inputs"].([]any)
	all.Inputs = inputsOf(inputs)
	return all, nil
}

// serversMembers are the members that contain the servers, of all clients.
var serversMembers = []string{"mcpServers", "servers", "context_servers", "mcp_servers", "mcp",
	"modelContextProtocolServers"}

// hasServers reports whether a file has one of the members that contain servers.
func hasServers(root *node) bool {
	return slices.ContainsFunc(serversMembers, func(name string) bool { n, _ := root.find(name); return n != nil })
}

// serversIn finds the entries in a JSON file: those of the first member that has some.
func serversIn(text []byte, root *node) (raw []rawServer, err error) {
	var in *node
	for _, name := range serversMembers {
		next, twice := root.find(name)
		if twice {
			return nil, syntax(text, next.start, "%q occurs twice", name)
		}
		if next == nil {
			continue
		}
		if inner, _ := next.find("servers"); name == "mcp" && inner != nil && inner.kind == '{' { // settings of VS Code
			next = inner
		}
		if next.kind != '{' && next.kind != '[' {
			return nil, syntax(text, next.start, "%q is not an object of servers by name", name)
		}
		if in == nil || len(in.items) == 0 {
			in = next
		}
	}
	if in == nil {
		for _, item := range root.items {
			command, _ := item.find("command")
			if url, _ := item.find("url"); item.kind != '{' || command == nil && url == nil {
				if what := otherKind(func(name string) bool { n, _ := root.find(name); return n != nil }); what != "" {
					return nil, syntax(text, root.start, "%s", what)
				}
				return nil, syntax(text, root.start, "no servers: none of the members %s is here",
					strings.Join(serversMembers, ", "))
			}
		}
		in = root
	}
	if len(in.items) > MostServers {
		return nil, tooMany(len(in.items))
	}
	if in.kind == '[' {
		return listed(text, in), nil
	}
	where := places{text: text}
	for i, name := range in.names {
		raw = append(raw, rawServer{name, in.items[i].plain(text), where.at(in.starts[i])})
	}
	return raw, nil
}

func tooMany(n int) error {
	return &SyntaxError{Line: 1, Column: 1, What: fmt.Sprintf("%d servers, at most %d are read", n, MostServers)}
}

// listed returns the entries of an array. One without a name gets one from its number.
func listed(text []byte, in *node) (raw []rawServer) {
	where := places{text: text}
	for i, item := range in.items {
		value := item.plain(text)
		raw = append(raw, rawServer{nameOf(value, i), value, where.at(item.start)})
	}
	return raw
}

// nameOf returns the name of an entry in a list.
func nameOf(value any, i int) string {
	if members, ok := value.(map[string]any); ok {
		if name, ok := members["name"].(string); ok && name != "" {
			return name
		}
	}
	return fmt.Sprintf("unnamed-%d", i+1)
}

// chosen disables servers that the settings of Gemini CLI exclude, and tells of settings of
// the whole file without an equivalent.
func (all *Content) chosen(file map[string]any) {
	if file["mcpServers"] == nil {
		return
	}
	exclude(all.Servers, file)
	if imports, ok := file["imports"].([]any); ok && len(imports) > 0 {
		all.Notes = append(all.Notes, "imports is not followed: run `junctor import CLIENT` for each of the clients")
	}
	if file["audit"] != nil && file["audit"] != false {
		all.Notes = append(all.Notes, "audit has no equivalent here")
	}
	if file["mcpProxy"] != nil {
		all.Notes = append(all.Notes,
			"mcpProxy is about the proxy itself: the gateway block says how clients reach Junctor")
	}
}

// exclude disables the servers that the settings of Gemini CLI exclude.
func exclude(all []Server, file map[string]any) {
	choice, _ := file["mcp"].(map[string]any)
	allowed, some := choice["allowed"].([]any)
	excluded, _ := choice["excluded"].([]any)
	in, out := textsIn(allowed), textsIn(excluded)
	for i := range all {
		if s := &all[i]; s.Problem == "" && (out[s.Name] || some && !in[s.Name]) {
			s.Disabled = true
		}
	}
}

// ExcludeExtensions disables the servers of extensions that the settings of Gemini CLI exclude.
func ExcludeExtensions(all []Server, settings []byte) {
	if root, err := parse(settings, true); err == nil && root != nil {
		file, _ := root.plain(settings).(map[string]any)
		exclude(all, file)
	}
}

// textsIn returns the set of the texts in a list.
func textsIn(list []any) map[string]bool {
	set := map[string]bool{}
	for _, v := range list {
		if text, ok := v.(string); ok {
			set[text] = true
		}
	}
	return set
}

func contentTOML(body []byte, c *Client) (all Content, err error) {
	file, err := readTOML(body)
	if err != nil {
		return all, err
	}
	entries, ok := file["mcp_servers"].(map[string]any)
	if !ok {
		return all, &SyntaxError{Line: 1, Column: 1, What: "no servers: the table mcp_servers is missing"}
	}
	if len(entries) > MostServers {
		return all, tooMany(len(entries))
	}
	begins, where := map[string]Place{}, places{text: body}
	for _, e := range expressions(body) {
		if len(e.key) > 1 && e.key[0] == "mcp_servers" && begins[e.key[1]] == (Place{}) {
			begins[e.key[1]] = where.at(e.line)
		}
	}
	var raw []rawServer
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		raw = append(raw, rawServer{name, entries[name], begins[name]})
	}
	all.Servers, err = servers(raw, c)
	return all, err
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
