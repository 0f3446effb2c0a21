package clientconfig

import (
	"fmt"
	"net"
	"strings"
)

// wrappedIn are the members in which files of editors have the settings of MCP: a workspace of
// VS Code, a container for development, an older file of Continue, and Kiro's powers.
var wrappedIn = [][]string{
	{"settings", "mcp"}, {"customizations", "vscode", "mcp"}, {"customizations", "vscode", "settings", "mcp"},
	{"experimental"}, {"powers"},
}

// unwrapped returns the part of a file that has the servers: the root itself, or the first of
// the wrapped ones. The reader in servers.go calls it.
func unwrapped(root *node) *node {
	if hasServers(root) {
		return root
	}
	for _, path := range wrappedIn {
		at := root
		for _, name := range path {
			if at == nil || at.kind != '{' {
				at = nil
				break
			}
			at, _ = at.find(name)
		}
		if at != nil && at.kind == '{' && hasServers(at) {
			return at
		}
	}
	return root
}

// gatewayTargets returns the servers in a configuration of agentgateway: the targets of its backends,
// as entries of other clients.
func gatewayTargets(file map[string]any) (raw []rawServer) {
	backends := objectsIn(file, "binds", "listeners", "routes", "backends")
	backends = append(backends, objectsIn(file, "backends")...)
	if mcp, ok := file["mcp"].(map[string]any); ok && mcp["targets"] != nil {
		backends = append(backends, map[string]any{"mcp": mcp})
	}
	for _, backend := range backends {
		mcp, _ := backend["mcp"].(map[string]any)
		for _, target := range objectsIn(mcp, "targets") {
			raw = append(raw, rawServer{name: nameOf(target, len(raw)), value: targetEntry(target)})
		}
	}
	return raw
}

// objectsIn returns the objects in the lists at a path of members.
func objectsIn(in map[string]any, path ...string) (all []map[string]any) {
	list, _ := in[path[0]].([]any)
	for _, v := range list {
		m, ok := v.(map[string]any)
		switch {
		case !ok:
		case len(path) == 1:
			all = append(all, m)
		default:
			all = append(all, objectsIn(m, path[1:]...)...)
		}
	}
	return all
}

// targetEntry returns a target of agentgateway as an entry of a client.
func targetEntry(target map[string]any) map[string]any {
	entry := map[string]any{}
	for name, v := range target {
		inner, _ := v.(map[string]any)
		switch name {
		case "stdio":
			for member, v := range inner {
				entry[member] = v
			}
		case "sse", "mcp":
			entry["url"] = targetURL(inner)
			if name == "sse" {
				entry["type"] = "sse"
			}
		default:
			entry[name] = v
		}
	}
	return entry
}

// targetURL returns the URL of a target: a host that is one, or a host, a port and a path.
func targetURL(target map[string]any) string {
	host, _ := target["host"].(string)
	if strings.Contains(host, "://") || host == "" {
		return host
	}
	port, _ := plainText(target["port"])
	path, _ := target["path"].(string)
	scheme := "http"
	if port == "443" || port == "" {
		scheme = "https"
	}
	if port != "" {
		host = net.JoinHostPort(host, port)
	}
	return fmt.Sprintf("%s://%s/%s", scheme, host, strings.TrimPrefix(path, "/"))
}

// otherKinds are files that have no servers of the form that is read, by a member. Servers of
// agentgateway without a target have one too.
var otherKinds = []struct{ member, what string }{
	{"manifest_version", "it is the manifest of a bundle: run `junctor import` with the .mcpb file, or with a file of the name manifest.json"},
	{"packages",
		"it is an entry of a registry: run `junctor import` with a file of the name server.json, or `junctor add NAME`"},
	{"remotes",
		"it is an entry of a registry: run `junctor import` with a file of the name server.json, or `junctor add NAME`"},
	{"binds", "it is a configuration of agentgateway without a target of MCP"},
	{"extensions", "it is a configuration of Goose or of an editor without servers of MCP"},
	{"hooks", "it is the settings file of a client, whose servers are in another file"},
	{"permissions", "it is the settings file of a client, whose servers are in another file"},
	{"dependencies", "it is the manifest of a package: run `junctor add NAME -- npx -y PACKAGE`"},
}

// otherKind returns what a file without servers is, as far as its members say so.
func otherKind(has func(name string) bool) string {
	for _, k := range otherKinds {
		if has(k.member) {
			return "no servers: " + k.what
		}
	}
	return ""
}
