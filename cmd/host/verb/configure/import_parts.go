package configure

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/junctor-mcp/junctor/host/clientconfig"
	"github.com/junctor-mcp/junctor/host/fault"
)

// clientFile reads the file of a client with what other files of the client say about its
// servers: the settings of Claude Code, its plugins, and the extensions of Gemini CLI. c is
// the client, or nil. The verbs import and init call it.
func clientFile(text []byte, path string, c *clientconfig.Client, scope clientconfig.Scope,
	get func(string) string) (clientconfig.Content, error) {
	file, err := readScope(text, path, c, scope)
	if filepath.Base(path) == "plugin.json" && filepath.Base(filepath.Dir(path)) == ".claude-plugin" {
		return ofManifest(text, path, file, err)
	}
	own := clientconfig.Home{Lookup: get}
	if own.Dir, _ = os.UserHomeDir(); own.Dir == "" {
		return file, err
	}
	if err == nil && c == nil && filepath.Base(path) == ".mcp.json" {
		return file, restricted(file.Servers, filepath.Dir(path), "")
	}
	var parts []clientconfig.Server
	var bad error
	switch {
	case c == nil || err != nil && !clientconfig.HasNoServers(text):
		return file, err
	case c.Name == "claude-code" && scope == clientconfig.User:
		if bad = restricted(file.Servers, "", own.ClaudeSettings()); bad == nil {
			parts, bad = pluginServers(own)
		}
	case c.Name == "claude-code" && scope == clientconfig.Project:
		bad = restricted(file.Servers, filepath.Dir(path), own.ClaudeSettings())
	case c.Name == "gemini" && scope == clientconfig.User:
		parts = extensionServers(filepath.Join(filepath.Dir(path), "extensions"), own.Dir)
		clientconfig.ExcludeExtensions(parts, text)
	}
	if bad != nil {
		return file, bad
	}
	if len(parts) > 0 {
		err = nil // the file itself has no servers, or it could be read
	}
	file.Servers = apart(file.Servers, parts)
	return file, err
}

// restricted applies the settings of Claude Code to servers: those of the user, if users is
// their path, and those of a project, if dir is its directory.
func restricted(servers []clientconfig.Server, dir, users string) error {
	var settings clientconfig.ClaudeSettings
	paths := []string{users}
	if dir != "" {
		paths = append(paths, filepath.Join(dir, ".claude", "settings.json"),
			filepath.Join(dir, ".claude", "settings.local.json"))
	}
	for _, path := range paths {
		if err := readSettings(&settings, path); err != nil {
			return err
		}
	}
	if dir != "" {
		settings.Approve(servers)
	}
	settings.Restrict(servers, "")
	return nil
}

// readSettings adds a settings file of Claude Code, if it exists.
func readSettings(settings *clientconfig.ClaudeSettings, path string) error {
	if path == "" {
		return nil
	}
	text, err := readRegular(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = settings.Read(text)
	}
	if _, err = located(clientconfig.Content{}, path, err); err != nil {
		return fault.Because(fault.ImportFile, err, "the settings of Claude Code cannot be read").
			WithHint("correct %s first: it may deny the use of servers and tools", path)
	}
	return nil
}

// pluginServers returns the servers of the plugins that Claude Code has for all directories.
func pluginServers(own clientconfig.Home) (all []clientconfig.Server, err error) {
	text, err := readRegular(own.ClaudePlugins())
	if err != nil {
		return nil, nil // there are no plugins
	}
	var settings clientconfig.ClaudeSettings
	if err := readSettings(&settings, own.ClaudeSettings()); err != nil {
		return nil, err
	}
	for _, p := range clientconfig.ReadPlugins(text) {
		servers, err := serversOfPlugin(p.Dir)
		if err != nil {
			all = append(all, clientconfig.Server{
				Name:    p.Name,
				Part:    p.Name,
				Problem: "the plugin " + p.Name + " of Claude Code has a file that cannot be read: " + err.Error(),
			})
		}
		settings.Restrict(servers, "plugin_"+p.Name+"_")
		for i := range servers {
			s := &servers[i]
			s.Part = p.Name
			s.Notes = append(s.Notes, "is a part of the plugin "+p.Name+" of Claude Code")
			if !settings.UsesPlugin(p.ID) {
				s.Disabled = true
				s.Notes = append(s.Notes, "is disabled: the settings of Claude Code do not use the plugin")
			}
		}
		all = append(all, servers...)
	}
	return all, nil
}

// serversOfPlugin reads the servers of the plugin in a directory, each name once. The error is
// that of the first file that cannot be read.
func serversOfPlugin(dir string) (all []clientconfig.Server, first error) {
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	manifest := filepath.Join(dir, ".claude-plugin", "plugin.json")
	text, _ := readRegular(manifest)
	files, has := clientconfig.PluginFiles(text)
	if has {
		files = append([]string{filepath.Join(".claude-plugin", "plugin.json")}, files...)
	}
	for _, name := range files {
		path := filepath.Join(dir, name)
		text, err := readRegular(path)
		if errors.Is(err, fs.ErrNotExist) && name == ".mcp.json" {
			continue
		}
		var file clientconfig.Content
		if err == nil {
			file, err = readContent(text, path, clientconfig.Find("claude-code"))
		}
		if first == nil {
			first = err
		}
		for _, s := range file.Servers {
			if s.Base = dir; !slices.ContainsFunc(all,
				func(have clientconfig.Server) bool { return have.Name == s.Name }) {
				all = append(all, s)
			}
		}
	}
	return all, first
}

// ofManifest reads the manifest of a plugin, whose servers may be in other files. file and err
// are the manifest as a file of a client.
func ofManifest(text []byte, path string, file clientconfig.Content, err error) (clientconfig.Content, error) {
	servers, bad := serversOfPlugin(filepath.Dir(filepath.Dir(path)))
	_, has := clientconfig.PluginFiles(text)
	switch {
	case !has && bad != nil:
		return file, fault.Because(fault.ImportFile, bad, "the plugin has servers in a file that cannot be read").
			WithHint("give the manifest in the directory of the installed plugin")
	case !has && len(servers) > 0:
		err = nil
	}
	if len(servers) > 0 {
		file.Servers = servers
	}
	return file, err
}

// extensionServers returns the servers of the extensions of Gemini CLI in a directory.
func extensionServers(dir, home string) (all []clientconfig.Server) {
	manifests, _ := filepath.Glob(filepath.Join(dir, "*", "gemini-extension.json"))
	slices.Sort(manifests)
	choices, _ := readRegular(filepath.Join(dir, "extension-enablement.json"))
	for _, path := range manifests {
		name := filepath.Base(filepath.Dir(path))
		text, err := readRegular(path)
		var file clientconfig.Content
		if err == nil {
			if file, err = readContent(text, path, clientconfig.Find("gemini")); err != nil &&
				clientconfig.HasNoServers(text) {
				continue // it has other things than servers
			}
		}
		if err != nil {
			all = append(all, clientconfig.Server{
				Name:    name,
				Part:    name,
				Problem: "the extension " + name + " of Gemini CLI cannot be read: " + err.Error(),
			})
		}
		for _, s := range file.Servers {
			s.Part = name
			s.Notes = append(s.Notes, "is a part of the extension "+name+" of Gemini CLI")
			if !clientconfig.UsesExtension(choices, name, home) {
				s.Disabled = true
				s.Notes = append(s.Notes, "is disabled: Gemini CLI does not use the extension")
			}
			all = append(all, s)
		}
	}
	return all
}

// apart returns servers of a file, and those of parts of the client. Of these, one whose name
// is taken gets that of its part in front.
func apart(servers, parts []clientconfig.Server) []clientconfig.Server {
	names := map[string]bool{}
	for _, s := range servers {
		names[s.Name] = true
	}
	for _, s := range parts {
		if names[s.Name] {
			s.Name = s.Part + "-" + s.Name
		}
		if !names[s.Name] && len(servers) < clientconfig.MostServers {
			names[s.Name] = true
			servers = append(servers, s)
		}
	}
	return servers
}
