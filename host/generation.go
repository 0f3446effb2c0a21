package host

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/config/language"
	"github.com/junctor-mcp/junctor/host/credential"
	"github.com/junctor-mcp/junctor/host/gateway"
	"github.com/junctor-mcp/junctor/host/plugin"
	"github.com/junctor-mcp/junctor/host/upstream"
)

// A generation is everything that one read of the configuration decides. It is immutable
// once it is in effect, and reuses the upstreams of the servers that have not changed since
// the generation before. It knows nothing of the process; see connector. read makes it,
// connector.build completes it and apply makes it the one in effect.
type generation struct {
	opts      *Options // of the process
	Config    *config.Config
	number    int                  // 1 for the first one
	loaded    time.Time            // when the configuration was read
	reviewed  bool                 // the user has trusted what was read
	mask      *configMask          // of its secrets
	manifests map[string]Described // by plugin
	secrets   *Secrets             // those of the generation before, if the store is the same
	http      config.HTTP          // of the listener for clients, as the command line chose it; set by Reload

	servers   []*catalog.Server
	offered   gateway.Generation
	upstreams map[string]*upstream.Upstream // of the enabled servers, by name
	inputs    map[string]string             // what each upstream was made of, by server

	disconnected map[string]*disconnection // the enabled servers that are left out

	findFiles sync.Once
	files     files
}

// files are the files that wrapped programs must not reach or change, and what they may change.
type files struct{ private, protected, changeable []string }

// ownFiles returns the files of the configuration, as they were at the first use.
func (g *generation) ownFiles() files {
	g.findFiles.Do(func() {
		g.files = files{g.Config.Confidential(), g.Config.Used(), g.Config.Changeable()}
		if !g.reviewed { // else a change has to be reviewed before it counts
			g.files.protected = append(g.files.protected, g.Config.Written()...)
		}
		for _, p := range g.Config.Plugins {
			if filepath.IsAbs(p.Source) { // not a bundled one: a program, or the directory with it
				g.files.protected = append(g.files.protected, p.Source, filepath.Join(
					p.Source, plugin.FilePrefix+p.Use,
				))
			}
		}
		for _, described := range g.manifests {
			g.files.protected = append(g.files.protected, described.Path)
		}
		if program, err := os.Executable(); err == nil {
			g.files.protected = append(g.files.protected, program)
		}
		g.files.private = append(g.files.private, g.opts.variableFiles(passwordVariables)...)
		g.files.protected = append(g.files.protected, g.opts.variableFiles(authorityVariables)...)
		slices.Sort(g.files.private)
		slices.Sort(g.files.protected)
	})
	return g.files
}

var (
	// passwordVariables are the environment variables that name files with secrets.
	passwordVariables = []string{"JUNCTOR_SECRETS_PASSWORD_FILE"}
	// authorityVariables are those that name certificates which Junctor and plugins trust.
	authorityVariables = []string{
		"SSL_CERT_FILE",
		"SSL_CERT_DIR",
		"OTEL_EXPORTER_OTLP_CERTIFICATE",
		"OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE",
		"OTEL_EXPORTER_OTLP_CLIENT_KEY",
	}
)

// variableFiles returns the files that environment variables name.
func (o *Options) variableFiles(names []string) (all []string) {
	for _, name := range names {
		value, _ := o.Lookup(name)
		for _, path := range filepath.SplitList(value) {
			if path, err := filepath.Abs(path); err == nil {
				all = append(all, path)
			}
		}
	}
	return all
}

// sameView reports whether clients see the items of one server in the same way with two
// of its blocks.
func sameView(x, y *config.Server) bool {
	return reflect.DeepEqual(language.Noticed(x, language.ReloadView), language.Noticed(y, language.ReloadView))
}

// connectionInput returns a digest of everything that the connections to a server depend on: the
// fields with the tag reload:"connection", and its transport and auth blocks with their
// plugins. A reload closes the connections whose digest changes.
func (g *generation) connectionInput(s *config.Server) string {
	plugins := []config.Plugin{g.plugin(s.Transport.Plugin)}
	var auth any
	if s.Auth != nil {
		plugins = append(plugins, g.plugin(s.Auth.Plugin))
		auth = []any{
			s.Auth.Plugin,
			s.Auth.Component,
			string(g.Config.Unresolved(s.Auth.Settings)),
			s.Auth.Dir,
			g.opts.variables(s.Auth.EnvNames),
		}
	}
	var programs []string
	for _, p := range plugins {
		programs = append(programs, g.program(p)...)
	}
	store := ""
	if s.Auth != nil || len(g.Config.SecretsIn(string(s.Transport.Settings))) > 0 {
		store = g.storeInput()
	}
	var kept any
	if s.Changeable() != nil { // its wall knows the files that its tools must not reach or change
		own := g.ownFiles()
		kept = [][]string{own.private, own.protected, own.changeable}
	}
	text, err := json.Marshal([]any{
		kept,
		language.Noticed(s, language.ReloadConnection),
		s.Transport.Plugin,
		s.Transport.Component,
		string(g.Config.Unresolved(s.Transport.Settings)),
		s.Transport.Dir,
		g.opts.variables(s.Transport.EnvNames),
		auth,
		programs,
		store,
	})
	if err != nil {
		panic(err) // texts and numbers
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// program identifies the program of a plugin and how it runs.
func (g *generation) program(p config.Plugin) []string {
	m := g.manifests[p.Use]
	return []string{m.Path, m.Digest, p.SHA256, p.Isolation, strings.Join(p.Env, " ")}
}

// credentialKey returns the key of the broker for a server and a tenant.
func (g *generation) credentialKey(s *config.Server, tenant string) credential.Key {
	return credential.Key{Server: s.Name, Tenant: tenant, Version: g.inputs[s.Name]}
}
