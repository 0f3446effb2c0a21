package config

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/host/config/command"
	"github.com/junctor-mcp/junctor/host/config/source"
	"github.com/junctor-mcp/junctor/host/lockfile"
	"github.com/junctor-mcp/junctor/host/secretname"
	"github.com/junctor-mcp/junctor/sdk/sandbox"
)

// Written returns the files that decide what Junctor runs: those of the configuration with
// its layers, modules and lock files. A program that changes one of them runs as Junctor.
func (c *Config) Written() []string {
	all := slices.Concat(c.Files, c.Under, []string{c.Path})
	for path := range c.Locks {
		all = append(all, path)
	}
	for _, path := range slices.Clone(all) {
		all = append(all, filepath.Join(filepath.Dir(path), lockfile.Name))
	}
	return files(all)
}

// Confidential returns the files that only Junctor reads: those of file(), of secret stores,
// keys and credentials, and the audit log.
func (c *Config) Confidential() []string {
	all := append(slices.Concat(c.included, c.Keys()), c.Audit.File)
	for _, s := range c.Servers {
		all = append(all, s.Transport.secretFiles()...)
		if s.Auth != nil {
			all = append(append(all, s.Auth.Files()...), s.Auth.secretFiles()...)
		}
	}
	return files(all)
}

// Keys returns the files of the secret store and the keys of listeners. Only the user may
// have access to them.
func (c *Config) Keys() []string {
	var all []string
	if c.SecretStore != nil && c.SecretStore.File != nil {
		all = append(all, c.SecretStore.File.PasswordFile, c.SecretStore.File.Path)
	}
	if tls := c.Gateway.HTTP.TLS; tls != nil {
		all = append(all, tls.Key)
	}
	if c.Console != nil && c.Console.TLS != nil {
		all = append(all, c.Console.TLS.Key)
	}
	return slices.DeleteFunc(all, func(path string) bool { return path == "" })
}

// secretFiles returns the files in settings whose name sounds like a secret, such as the key
// of a certificate.
func (b *Block) secretFiles() (all []string) {
	var settings map[string]any
	if json.Unmarshal(b.Settings, &settings) != nil || b.Component == command.WrappingTransport {
		return nil
	}
	var find func(members map[string]any)
	find = func(members map[string]any) {
		for name, value := range members {
			if inner, ok := value.(map[string]any); ok {
				find(inner)
			}
			if text, ok := value.(string); ok && secretname.Sounds(name) {
				all = append(all, existing(b.Dir, text)...)
			}
		}
	}
	find(settings)
	return all
}

// Used returns the files that the configuration names: those of every setting that is a path,
// the sockets of listeners, and the programs and files in the settings of
// transports, auth providers and secret stores. Junctor and what it starts believe them, so no
// wrapped program may change them. A review of the configuration does not see what is in
// them.
func (c *Config) Used() []string {
	all := slices.Clone(c.named)
	listeners := []string{c.Gateway.HTTP.Listen}
	if c.Telemetry.Metrics != nil {
		listeners = append(listeners, c.Telemetry.Metrics.Listen)
	}
	for _, address := range listeners {
		if socket, is := strings.CutPrefix(address, unixPrefix); is {
			all = append(all, socket)
		}
	}
	var blocks []*Block
	if c.SecretStore != nil {
		blocks = append(blocks, &c.SecretStore.Block)
	}
	for _, s := range c.Servers {
		blocks = append(blocks, &s.Transport)
		if s.Auth != nil {
			blocks = append(blocks, s.Auth)
		}
	}
	var packages []string
	for _, b := range blocks {
		named, dirs := b.used(c.lookup)
		all, packages = append(all, named...), append(packages, dirs...)
	}
	return append(files(all), packages...)
}

// Changeable returns the directories that tools of wrapped programs may change.
func (c *Config) Changeable() (all []string) {
	for _, s := range c.Servers {
		all = append(all, s.Changeable()...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Changeable returns the directories that tools of the server may change if it is a wrapped
// program: its working directory, and what its sandbox block grants for writing.
func (s *Server) Changeable() (all []string) {
	if s.Transport.Component != command.WrappingTransport {
		return nil
	}
	var settings struct {
		Cwd     string
		Sandbox struct{ Write []string }
		Tool    []struct{ Cwd string }
	}
	if json.Unmarshal(s.Transport.Settings, &settings) != nil {
		return nil
	}
	for _, t := range settings.Tool {
		if t.Cwd != "" {
			all = append(all, sandbox.Expand(t.Cwd, s.Transport.Dir))
		}
	}
	for _, dir := range append([]string{settings.Cwd}, settings.Sandbox.Write...) {
		all = append(all, sandbox.Expand(dir, s.Transport.Dir))
	}
	return all
}

// used returns the files that decide what a block runs, and those that its settings name, if
// it does not wrap a program, and directories of packages. lookup returns variables of Junctor.
func (b *Block) used(lookup func(string) (string, bool)) (named, packages []string) {
	named = slices.Clone(b.files)
	if settings := b.programs(); len(settings.Command) > 0 {
		files, dirs := b.commandFiles(&settings, lookup)
		named, packages = append(named, files...), append(packages, dirs...)
	}
	var values map[string]any
	if b.Component == command.WrappingTransport || json.Unmarshal(b.Settings, &values) != nil {
		return named, packages
	}
	if env, ok := values["env"].(map[string]any); ok { // whose names are not those of settings
		named = append(named, existing(b.Dir, []any(slices.Collect(maps.Values(env))))...)
		delete(values, "env")
	}
	return append(named, existing(b.Dir, values)...), packages
}

// commandFiles returns the files that decide what the command of a block and those of its
// tools run, and directories of packages.
func (b *Block) commandFiles(s *programSettings, lookup func(string) (string, bool)) (named, packages []string) {
	path, _ := lookup("PATH")
	passed := map[string]string{}
	for _, name := range s.PassEnv {
		passed[name], _ = lookup(name)
	}
	add := func(words []string, cwd string, set map[string]string) {
		env := maps.Clone(passed)
		maps.Copy(env, set)
		if env["PATH"] == "" {
			delete(env, "PATH")
		}
		line := command.Line{
			Words: words, Env: env, Dir: source.AbsoluteIn(b.Dir, cwd), Path: path,
			Wrapped: b.Component == command.WrappingTransport,
		}
		files, dirs := line.Files()
		named = append(named, files...)
		packages = append(packages,
			slices.DeleteFunc(dirs, func(dir string) bool { return slices.Contains(packages, dir) })...)
	}
	add(slices.Concat(s.Command, s.Args), s.Cwd, s.Env)
	for i := range s.Tool {
		t := s.toolCommand(&s.Tool[i])
		add(slices.Concat(t.Command, s.Tool[i].words()), t.Cwd, t.Env)
	}
	return named, packages
}

// existing returns the files that texts in a value name, alone or behind the "=" of an
// option, as seen from dir.
func existing(dir string, value any) (all []string) {
	switch v := value.(type) {
	case map[string]any:
		for name, member := range v {
			if text, ok := member.(string); ok && text != "" && namesFile(name) {
				all = append(all, source.AbsoluteIn(dir, text)) // also if it is made later
			}
			all = append(all, existing(dir, member)...)
		}
	case []any:
		for _, element := range v {
			all = append(all, existing(dir, element)...)
		}
	case string:
		_, option, _ := strings.Cut(v, "=")
		for _, text := range []string{v, option} {
			if text == "" || len(text) > command.MaxText || strings.ContainsRune(text, 0) {
				continue
			}
			path := source.AbsoluteIn(dir, text)
			if sandbox.MayExist(path) {
				all = append(all, path)
			}
		}
	}
	return all
}

// namesFile reports whether the value of a setting is certainly a path.
func namesFile(setting string) bool {
	return slices.Contains([]string{"ca", "cert", "key", "client_ca"}, setting) || strings.HasSuffix(setting, "_file")
}

// files returns the absolute paths of the files among paths, and what links among them lead
// to, sorted, once each.
func files(paths []string) []string {
	var all []string
	for _, path := range paths {
		if path == "" {
			continue
		}
		path, err := filepath.Abs(path)
		if err != nil {
			continue
		}
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			continue
		}
		all = append(all, path)
		if real, err := filepath.EvalSymlinks(path); err == nil {
			all = append(all, real)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
