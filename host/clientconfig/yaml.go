package clientconfig

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/junctor-mcp/junctor/host/lazyregexp"
)

const (
	// maxYAML is the maximum size of a YAML file in bytes.
	maxYAML = 8 << 20
	// maxYAMLNodes is the maximum number of values in a YAML file, with every alias
	// replaced by what it stands for.
	maxYAMLNodes = 500_000
)

// yamlLine matches the first line of a YAML file. A line of TOML has an equals sign or
// brackets.
var yamlLine = lazyregexp.New(`^(---|%YAML|- |["']?[A-Za-z0-9_$][A-Za-z0-9_.$-]*["']?[ \t]*:([ \t]|$))`)

// looksLikeYAML reports whether the first line that is not a comment is one of YAML.
func looksLikeYAML(body []byte) bool {
	for line := range bytes.Lines(body) {
		line = bytes.TrimRight(line, "\r\n")
		if trimmed := bytes.TrimSpace(line); len(trimmed) == 0 || trimmed[0] == '#' {
			continue
		}
		return yamlLine.Match(line)
	}
	return false
}

// contentYAML reads a YAML file: a catalog of Docker, or one with the members of JSON files.
func contentYAML(body []byte, c *Client) (all Content, err error) {
	root, err := readYAML(body)
	if err != nil {
		return all, err
	}
	y := yamlReader{}
	if err := all.docker(&y, root); err != nil || all.Servers != nil {
		return all, err
	}
	if yamlMember(root, "binds") != nil ||
		yamlMember(root, "mcp") != nil && yamlMember(yamlMember(root, "mcp"), "targets") != nil {
		v, err := y.plain(root, 0)
		if err != nil {
			return all, err
		}
		file, _ := v.(map[string]any)
		if raw := gatewayTargets(file); raw != nil {
			all.Servers, err = servers(raw, c)
			return all, err
		}
	}
	for _, name := range append(serversMembers, "extensions") { // of Goose
		in := yamlMember(root, name)
		if in == nil {
			continue
		}
		if inner := yamlMember(in, "servers"); name == "mcp" && inner != nil { // nexo
			in = inner
		}
		raw, err := y.servers(in, name)
		if err != nil {
			return all, err
		}
		all.Servers, err = servers(raw, c)
		if documents(body) > 1 {
			all.Notes = append(all.Notes, "the file has several documents, and only the first is read")
		}
		return all, err
	}
	if what := otherKind(func(name string) bool { return yamlMember(root, name) != nil }); what != "" {
		return all, yamlError(root, "%s", what)
	}
	return all, yamlError(root, "no servers: there is neither a registry nor any of the members %s",
		strings.Join(serversMembers, ", "))
}

// quoted matches texts of the file in errors of the library.
var quoted = lazyregexp.New("'[^']*'|\"[^\"]*\"|`[^`]*`")

// readYAML parses the first document of a file, without replacing aliases.
func readYAML(body []byte) (*yaml.Node, error) {
	if len(body) > maxYAML {
		return nil, &SyntaxError{Line: 1, Column: 1, What: fmt.Sprintf("larger than %d MiB", maxYAML>>20)}
	}
	var document yaml.Node
	if err := yaml.Unmarshal(body, &document); err != nil {
		what := strings.TrimPrefix(err.Error(), "yaml: ")
		line := 1
		if _, scanErr := fmt.Sscanf(what, "line %d:", &line); scanErr == nil {
			_, what, _ = strings.Cut(what, ": ")
		}
		return nil, &SyntaxError{Line: max(line, 1), Column: 1, What: quoted.ReplaceAllString(what, "…")}
	}
	if len(document.Content) == 0 || document.Content[0].Kind != yaml.MappingNode {
		return nil, &SyntaxError{Line: 1, Column: 1, What: "the file is not a mapping"}
	}
	return document.Content[0], nil
}

// documents returns the number of documents in a file, at most two.
func documents(body []byte) (n int) {
	for d := yaml.NewDecoder(bytes.NewReader(body)); n < 2; n++ {
		var one yaml.Node
		if d.Decode(&one) != nil {
			break
		}
	}
	return n
}

func yamlError(n *yaml.Node, format string, args ...any) *SyntaxError {
	return &SyntaxError{Line: max(n.Line, 1), Column: max(n.Column, 1), What: fmt.Sprintf(format, args...)}
}

// yamlMember returns the value of a key of a mapping, or nil. It follows an alias.
func yamlMember(in *yaml.Node, name string) *yaml.Node {
	if in = resolved(in); in.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(in.Content); i += 2 {
		if in.Content[i].Value == name {
			return resolved(in.Content[i+1])
		}
	}
	return nil
}

// resolved returns what an alias stands for.
func resolved(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode && n.Alias != nil {
		return n.Alias
	}
	return n
}

// A yamlReader converts nodes and counts them.
type yamlReader struct{ nodes int }

// errLarge is the error of a file that aliases make too large.
var errLarge = errors.New("the aliases of the file stand for too many values")

// plain converts a node into the types of encoding/json.
func (y *yamlReader) plain(n *yaml.Node, depth int) (any, error) {
	if y.nodes++; y.nodes > maxYAMLNodes {
		return nil, yamlError(n, "%s, at most %d", errLarge, maxYAMLNodes)
	}
	if depth > maxDepth {
		return nil, yamlError(n, "nested deeper than %d", maxDepth)
	}
	switch n.Kind {
	case yaml.AliasNode:
		return y.plain(resolved(n), depth+1)
	case yaml.SequenceNode:
		list := make([]any, 0, len(n.Content))
		for _, item := range n.Content {
			v, err := y.plain(item, depth+1)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		return list, nil
	case yaml.MappingNode:
		return y.mapping(n, depth)
	}
	return scalar(n), nil
}

// mapping converts a mapping. The members of a merged one count less than its own.
func (y *yamlReader) mapping(n *yaml.Node, depth int) (map[string]any, error) {
	own, merged := map[string]any{}, map[string]any{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		v, err := y.plain(value, depth+1)
		if err != nil {
			return nil, err
		}
		if key.Tag == "!!merge" {
			if more, ok := v.(map[string]any); ok {
				for name, v := range more {
					merged[name] = v
				}
				continue
			}
			return nil, yamlError(key, "<< merges something that is not a mapping")
		}
		if key.Kind != yaml.ScalarNode {
			return nil, yamlError(key, "a key is not a text")
		}
		if _, twice := own[key.Value]; twice {
			return nil, yamlError(key, "%q occurs twice", key.Value)
		}
		own[key.Value] = v
	}
	for name, v := range merged {
		if _, has := own[name]; !has {
			own[name] = v
		}
	}
	return own, nil
}

// scalar converts a text, a number, a boolean or null. Numbers keep their form.
func scalar(n *yaml.Node) any {
	switch n.Tag {
	case "!!null":
		return nil
	case "!!bool":
		var b bool
		if n.Decode(&b) == nil {
			return b
		}
	case "!!int", "!!float":
		return json.Number(n.Value)
	}
	return n.Value
}

// servers returns the entries of a mapping or a sequence.
func (y *yamlReader) servers(in *yaml.Node, called string) (raw []rawServer, err error) {
	switch in.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(in.Content); i += 2 {
			key := in.Content[i]
			v, err := y.plain(in.Content[i+1], 0)
			if err != nil {
				return nil, err
			}
			raw = append(raw, rawServer{key.Value, v, Place{key.Line, key.Column}})
		}
	case yaml.SequenceNode:
		for i, item := range in.Content {
			v, err := y.plain(item, 0)
			if err != nil {
				return nil, err
			}
			raw = append(raw, rawServer{nameOf(v, i), v, Place{item.Line, item.Column}})
		}
	default:
		return nil, yamlError(in, "%q is not a mapping of servers by name", called)
	}
	return raw, nil
}
