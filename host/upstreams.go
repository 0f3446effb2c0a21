package host

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"path/filepath"
	"strings"

	"github.com/junctor-mcp/junctor/host/cache"
	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/plan/capture"
	"github.com/junctor-mcp/junctor/host/plugin"
	"github.com/junctor-mcp/junctor/host/policy"
)

// cacheKey returns the cache key of a server. It changes with the server's fingerprint, the
// plugin's program, and for a server with secrets with those of the user: another key may
// be that of another account, whose items and instructions differ. This file turns server
// blocks into what packages plugin, catalog and gateway want to know. Its functions are pure
// but for cachedRevision.
func (g *generation) cacheKey(s *config.Server) string {
	if g.opts.AbsentInputs && g.Config.AbsentInput(&s.Transport, s.Auth) != nil {
		if key := catalog.LastKey(g.opts.Dirs.Cache, publicKey(g.Config, s)); key != "" {
			return key
		}
	}
	digest := g.manifests[g.plugin(s.Transport.Plugin).Use].Digest
	key := s.Fingerprint[:32] + "-" + digest[:min(16, len(digest))]
	if g.secrets != nil && g.needsSecrets(s) {
		sum := sha256.Sum256([]byte(g.secrets.UserVersion()))
		key += "-" + hex.EncodeToString(sum[:4])
	}
	return key
}

// publicKey identifies a server of a configuration by what may be known without its secrets.
func publicKey(c *config.Config, s *config.Server) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{c.Path, s.Name, s.Protocol, capture.Fingerprint(c, s)}, "\x00")))
	return hex.EncodeToString(sum[:16])
}

// plugin returns the plugin with a local name. A plugin without a declaration runs the
// bundled program of that name.
func (g *generation) plugin(name string) config.Plugin {
	for _, p := range g.Config.Plugins {
		if p.Name == name {
			return p
		}
	}
	return config.Plugin{Name: name, Use: name}
}

// pluginSpec returns the spec of the plugin process for a server.
func (g *generation) pluginSpec(name, server string) plugin.Spec {
	p := g.plugin(name)
	program := g.manifests[p.Use]
	spec := plugin.Spec{Name: p.Name, Path: program.Path, SHA256: p.SHA256, Digest: program.Digest, Env: p.Env}
	if p.Isolation == "server" {
		spec.Alone = server
	}
	return spec
}

// openRequest returns the plugin request for a connection to a server.
func (g *generation) openRequest(s *config.Server) plugin.Request {
	own := g.ownFiles()
	r := plugin.Request{
		Spec:       g.pluginSpec(s.Transport.Plugin, s.Name),
		Component:  s.Transport.Component,
		Server:     s.Name,
		Settings:   s.Transport.Settings,
		Dir:        s.Transport.Dir,
		MaxMessage: s.MaxMessage,
		Env:        g.opts.variables(s.Transport.EnvNames),
		Private:    own.private,
		Protected:  own.protected,
		Changeable: own.changeable,
	}
	if g.opts.Dirs.Cache != "" {
		r.Cache = filepath.Join(string(g.opts.Dirs.Cache), "plugins", s.Transport.Plugin)
	}
	return r
}

func offeredBy(patterns []config.Pattern) []policy.Pattern {
	if patterns == nil {
		return nil
	}
	rules := []policy.Pattern{}
	for _, p := range patterns {
		rules = append(rules, policy.Pattern{Glob: p.Glob, At: p.At.String()})
	}
	return rules
}

// repeatable returns a function that reports whether the configuration marks a tool as
// read-only or idempotent.
func repeatable(t config.Tools) func(string) bool {
	return func(tool string) bool {
		for _, p := range t.Write {
			if p.Match(tool) {
				return false
			}
		}
		for _, list := range [][]config.Pattern{t.Read, t.Idempotent} {
			for _, p := range list {
				if p.Match(tool) {
					return true
				}
			}
		}
		return false
	}
}

// patternsOf lists all patterns about a server's tools.
func patternsOf(t config.Tools) []catalog.Pattern {
	var all []catalog.Pattern
	for _, list := range []struct {
		name     string
		patterns []config.Pattern
	}{
		{"allow", t.Allow},
		{"deny", t.Deny},
		{"read", t.Read},
		{"write", t.Write},
		{"idempotent", t.Idempotent},
		{"confirm", t.Confirm},
	} {
		for _, p := range list.patterns {
			all = append(all, catalog.Pattern{List: list.name, Glob: p.Glob, Match: p.Match, At: p.At.String()})
		}
	}
	return all
}

func viewsOf(views []config.View) map[string]*catalog.View {
	m := map[string]*catalog.View{}
	for _, v := range views {
		places := map[string]string{}
		for name, at := range v.Places {
			places[name] = at.String()
		}
		m[v.Tool] = &catalog.View{
			Name: v.Name, Description: v.Description, HasDescription: v.HasDescription, Hidden: v.Hidden,
			Pin: v.Pin, Default: v.Default, At: v.At.String(), Places: places,
		}
	}
	return m
}

// A cachedRevision stores the revision of an upstream in the cache. It may be used
// concurrently.
type cachedRevision struct {
	dir  cache.Dir
	name string
}

func (r cachedRevision) Revision() mcp.Revision {
	text, _ := r.dir.Read(r.name)
	if v := mcp.Revision(text); v.Known() {
		return v
	}
	return ""
}

func (r cachedRevision) Remember(v mcp.Revision) {
	if r.Revision() != v {
		r.dir.Write(r.name, []byte(v))
	}
}

// commandOf returns the command line in the settings of a transport, or nil. The
// bundled transports that start programs have the settings "command" and "args".
func commandOf(settings []byte) []string {
	var s struct {
		Command []string `json:"command"`
		Args    []string `json:"args"`
	}
	if json.Unmarshal(settings, &s) != nil {
		return nil
	}
	return append(s.Command, s.Args...)
}
