package clientconfig

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/junctor-mcp/junctor/host/lazyregexp"
)

// docker reads the servers of a Docker MCP catalog, or of a file with one entry. It does
// nothing if the file is neither. ReadContent tries it for YAML.
func (all *Content) docker(y *yamlReader, root *yaml.Node) error {
	var raw []rawServer
	switch registry := yamlMember(root, "registry"); {
	case registry != nil:
		var err error
		if raw, err = y.servers(registry, "registry"); err != nil {
			return err
		}
	case yamlMember(root, "image") != nil || yamlMember(root, "remote") != nil || isPoci(root):
		v, err := y.plain(root, 0)
		if err != nil {
			return err
		}
		raw = []rawServer{{nameOf(v, 0), v, Place{root.Line, root.Column}}}
	default:
		return nil
	}
	if len(raw) > MostServers {
		return tooMany(len(raw))
	}
	all.Servers = []Server{}
	known := map[Input]bool{}
	for i, r := range raw {
		if slices.ContainsFunc(raw[:i], func(other rawServer) bool { return other.name == r.name }) {
			return &SyntaxError{Line: r.place.Line, Column: r.place.Column,
				What: fmt.Sprintf("%q occurs twice", r.name)}
		}
		s, inputs := dockerServer(r)
		all.Servers = append(all.Servers, s)
		for _, in := range inputs {
			if !known[in] {
				all.Inputs = append(all.Inputs, in)
			}
			known[in] = true
		}
	}
	return nil
}

// isPoci reports whether a file is an entry whose tools are containers.
func isPoci(root *yaml.Node) bool {
	kind := yamlMember(root, "type")
	return kind != nil && kind.Value == "poci"
}

// dockerNoise are members of an entry that say nothing about how it runs.
var dockerNoise = []string{
	"title", "description", "dateAdded", "ref", "readme", "toolsUrl", "source", "upstream", "icon", "tools", "prompts",
	"resources", "metadata", "meta", "about", "name", "type", "longLived",
}

// A dockerReader reads an entry of a catalog.
type dockerReader struct {
	entryReader
	inputs   []Input
	defaults map[string]string // of settings
}

// dockerServer reads an entry: an image that docker runs, or a URL.
func dockerServer(raw rawServer) (Server, []Input) {
	s := Server{Name: raw.name, Place: raw.place}
	members, ok := raw.value.(map[string]any)
	if !ok {
		s.Problem = "it is not a mapping"
		return s, nil
	}
	r := dockerReader{entryReader: entryReader{members: maps.Clone(members), s: s}}
	if members["type"] == "poci" {
		r.fail("its tools are containers that run for each call: write them as tools of a cli transport, with `docker run`")
	}
	for _, name := range dockerNoise {
		delete(r.members, name)
	}
	r.lift("run", "command")
	r.lift("config", "secrets")
	r.lift("config", "env")
	r.readDefaults(members["config"])
	secrets := r.secrets()
	if len(secrets) > 1 {
		r.remark("has %d secrets; if some are alternatives, remove the others from env", len(secrets))
	}
	switch image := r.text("image"); {
	case r.members["remote"] != nil:
		r.remoteServer(secrets)
	case image != "":
		r.container(image, secrets)
	default:
		r.fail("it has neither an image nor a remote; the catalog that it refers to has them")
	}
	if r.problem != "" {
		s.Problem = r.problem
		return s, nil
	}
	r.s.Ignored = slices.Sorted(maps.Keys(r.members))
	return r.s, r.inputs
}

// secrets returns the names of secrets by their variables.
func (r *dockerReader) secrets() map[string]string {
	all := map[string]string{}
	for _, m := range r.objects("secrets") {
		name, _ := m["name"].(string)
		variable, _ := m["env"].(string)
		if !settingName.MatchString(name) || !variableName.MatchString(variable) {
			r.fail("secrets has an entry without a proper name, or without the name of a variable in env")
			continue
		}
		all[variable] = name
		r.inputs = append(r.inputs, Input{ID: name, Secret: true})
	}
	return all
}

// readDefaults reads the defaults of settings: a list of objects with a name and properties, or
// an object of properties in "parameters".
func (r *dockerReader) readDefaults(config any) {
	r.defaults = map[string]string{}
	read := func(prefix string, v any) {
		m, _ := v.(map[string]any)
		properties, _ := m["properties"].(map[string]any)
		for name, v := range properties {
			property, _ := v.(map[string]any)
			if text, ok := plainText(property["default"]); ok && !strings.Contains(text, "{{") {
				r.defaults[prefix+name] = text
			}
		}
	}
	if m, ok := config.(map[string]any); ok {
		read("", m["parameters"])
	}
	list, _ := config.([]any)
	for _, v := range list {
		m, _ := v.(map[string]any)
		if name, _ := m["name"].(string); name != "" {
			read(name+".", m)
		}
	}
	if list != nil {
		delete(r.members, "config")
	}
}

// settingName matches the names of secrets and settings.
var settingName = lazyregexp.New(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,100}$`)

// objects reads a list of mappings.
func (r *dockerReader) objects(name string) (all []map[string]any) {
	v, _ := r.take(name)
	list, ok := v.([]any)
	if v != nil && !ok {
		r.fail("%s is not a list", name)
	}
	for _, item := range list {
		m, ok := item.(map[string]any)
		if !ok {
			r.fail("%s is not a list of mappings", name)
			continue
		}
		all = append(all, m)
	}
	return all
}

// container writes the command line of docker. A variable is passed by its name, so that its
// value is not in the list of processes.
func (r *dockerReader) container(image string, secrets map[string]string) {
	s := &r.s
	s.Env = map[string]string{}
	for variable, name := range secrets {
		s.Env[variable] = "${input:" + name + "}"
	}
	for _, m := range r.objects("env") {
		name, _ := m["name"].(string)
		value, ok := plainText(m["value"])
		if !variableName.MatchString(name) || !ok && m["value"] != nil {
			r.fail("env has an entry whose name is not that of a variable, or whose value is not a text")
			continue
		}
		s.Env[name] = r.template(value)
	}
	s.Command = []string{"docker", "run", "-i", "--rm"}
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		s.Command = append(s.Command, "-e", name)
	}
	if off, _ := r.take("disableNetwork"); off == true {
		s.Command = append(s.Command, "--network", "none")
	}
	if user := r.text("user"); user != "" {
		s.Command = append(s.Command, "-u", r.template(user))
	}
	for _, volume := range r.texts("volumes") {
		if strings.Contains(volume, "|") {
			s.Notes = append(s.Notes, "a volume is computed from settings and was left out; add -v to the command")
			continue
		}
		s.Command = append(s.Command, "-v", r.template(volume))
	}
	if strings.HasPrefix(image, "-") || strings.ContainsAny(image, " \t\r\n") {
		r.fail("image is not the name of an image")
	}
	s.Command = append(s.Command, image)
	for _, word := range r.texts("command") {
		s.Command = append(s.Command, r.template(word))
	}
}

// remoteServer reads where a remote server is.
func (r *dockerReader) remoteServer(secrets map[string]string) {
	v, _ := r.take("remote")
	inner, ok := v.(map[string]any)
	if !ok {
		r.fail("remote is not a mapping")
		return
	}
	outer := r.members
	r.members = maps.Clone(inner)
	r.s.URL = r.template(r.text("url"))
	r.s.Headers = r.textMap("headers")
	kind := r.text("transport_type")
	r.s.SSE = kind == "sse"
	if r.s.URL == "" || !slices.Contains([]string{"", "sse", "http", "streamable-http", "streamable"}, kind) {
		r.fail("remote has no url, or a transport_type that Junctor does not know")
	}
	r.members = outer
	for name, value := range r.s.Headers {
		for variable, secret := range secrets {
			value = strings.ReplaceAll(value, "${"+variable+"}", "${input:"+secret+"}")
		}
		r.s.Headers[name] = r.template(value)
	}
	if oauth, _ := r.take("oauth"); oauth != nil && len(r.s.Headers) == 0 {
		r.s.OAuth = &OAuth{}
	}
}

// dockerTemplate matches a setting in a text.
var dockerTemplate = lazyregexp.New(`\{\{\s*([A-Za-z_][A-Za-z0-9_.-]{0,100})\s*(?:\|[^{}]*)?\}\}`)

// template replaces settings by their defaults, or by inputs.
func (r *dockerReader) template(text string) string {
	return dockerTemplate.ReplaceAllStringFunc(text, func(match string) string {
		name := dockerTemplate.FindStringSubmatch(match)[1]
		if text, ok := r.defaults[name]; ok {
			r.remark("%s has its default of the catalog", name)
			return text
		}
		return "${input:" + name + "}"
	})
}
