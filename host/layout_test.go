package host_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/junctor-mcp/junctor/"

// verbImports are what the packages of verbs may import: never one another.
const verbImports = "cmd/host/arguments cmd/host/auditlog cmd/host/changes cmd/host/clientfiles cmd/host/invocation " +
	"cmd/host/items cmd/host/listreader cmd/host/processes cmd/host/results cmd/host/secrets cmd/host/terminal " +
	"cmd/host/verb host host/* sdk sdk/process sdk/sandbox sdk/wire"

// allowed is the whole architecture: which of our packages each dir may
// import. A new dir or a new edge is a design decision; make it here.
var allowed = map[string]string{
	"sdk":                    "sdk/ndjson",
	"sdk/ndjson":             "",
	"sdk/process":            "",
	"sdk/sandbox":            "sdk/process",
	"sdk/sandbox/launch":     "sdk/process sdk/sandbox sdk/sandbox/launchplan",
	"sdk/sandbox/launchplan": "",
	"sdk/memory":             "",
	"sdk/stdio":              "sdk sdk/ndjson sdk/process",
	"sdk/goplugin":           "",
	"sdk/wire":               "sdk sdk/goplugin sdk/ndjson sdk/process",
	"sdk/serve":              "sdk sdk/goplugin sdk/memory sdk/process sdk/wire",
	"sdk/plugintest":         "sdk sdk/goplugin sdk/process sdk/stdio sdk/wire",
	"sdk/mcpconn":            "sdk", // a module of its own

	"host/fault":                 "",
	"host/cache":                 "",
	"host/credential":            "host/fault host/filelock sdk",
	"host/filelock":              "",
	"host/authn":                 "host/authn/jwks host/limit host/truncate",
	"host/authn/jwks":            "host/loopback host/neterror host/regularfile host/truncate",
	"host/limit":                 "",
	"host/seal":                  "host/filelock host/ownership host/sqlitefile",
	"host/sendqueue":             "host/limit",
	"host/ownership":             "",
	"host/sessionstore":          "host/filelock host/limit",
	"host/suggest":               "",
	"host/lazyregexp":            "",
	"host/lockfile":              "host/config/language host/hcltext host/lazyregexp",
	"host/loopback":              "",
	"host/neterror":              "",
	"host/truncate":              "",
	"host/mcp":                   "host/fault host/truncate",
	"host/config/language":       "host/fault host/lazyregexp host/suggest sdk",
	"host/config/source":         "host/config/language host/fault host/hcltext host/lazyregexp host/ownership host/redact host/regularfile host/secretname",
	"host/config/expression":     "host/config/language host/config/source host/fault host/lazyregexp host/redact host/suggest",
	"host/redact":                "host/lazyregexp",
	"host/config/command":        "host/config/source host/lazyregexp sdk/sandbox",
	"host/config/review":         "host/config/command host/config/expression host/config/language host/config/source host/lockfile host/redact host/lazyregexp host/secretname sdk/sandbox",
	"host/config/inbound":        "host/authn host/authn/jwks host/config/expression host/config/language host/config/source host/fault host/loopback host/lazyregexp",
	"host/config":                "host/config/inbound host/config/review host/lockfile host/config/command host/config/language host/config/source host/config/expression host/redact host/authn host/authn/jwks host/condition host/fault host/forward host/limit host/loopback host/managed host/ownership host/policy host/regularfile host/secretname host/suggest sdk sdk/ndjson sdk/sandbox host/lazyregexp host/hcltext",
	"host/visible":               "",
	"host/schema":                "host/suggest host/truncate",
	"host/classify":              "",
	"host/shape":                 "host/mcp",
	"host/secretname":            "",
	"host/regularfile":           "",
	"host/sqlitefile":            "",
	"host/managed":               "host/condition",
	"host/condition":             "host/authn host/lazyregexp host/mcp",
	"host/policy/check":          "host/authn host/catalog host/condition host/config host/config/inbound host/config/source host/fault host/policy host/schema host/suggest",
	"host/policy":                "host/authn host/classify host/condition host/fault host/visible",
	"host/plugin":                "host/cache host/fault host/limit host/ownership host/truncate sdk sdk/process sdk/sandbox sdk/stdio sdk/wire host/outcome host/tracing",
	"host/upstream":              "host/authn host/fault host/limit host/mcp host/sendqueue host/policy host/outcome host/tracing host/truncate",
	"host/tokencount":            "",
	"host/catalog":               "host/cache host/classify host/fault host/mcp host/schema host/shape host/suggest host/tokencount host/upstream host/truncate host/lazyregexp host/visible",
	"host/era":                   "host/mcp",
	"host/approval":              "host/authn host/fault host/mcp host/policy host/secretname host/sqlitefile host/visible",
	"host/audit":                 "host/fault host/mcp host/ownership host/truncate host/visible",
	"host/control":               "host/event host/fault host/feed host/logbuffer host/ownership host/plan host/usage host/visible sdk/process sdk/sandbox",
	"host/plan":                  "host/lazyregexp",
	"host/plan/capture":          "host/authn host/catalog host/config host/config/source host/mcp host/plan host/policy host/policy/check host/tokencount",
	"host/bench":                 "",
	"host/forward":               "host/loopback",
	"host/notify":                "host/loopback host/neterror host/regularfile host/truncate",
	"host/pins":                  "host/cache host/catalog host/config host/config/source host/fault host/filelock host/lockfile host/lockfile host/mcp",
	"host/doctor":                "host/clientconfig host/config host/config/source host/control host/fault host/launcher host/lazyregexp host/loopback host/ownership sdk sdk/process sdk/sandbox sdk/stdio",
	"host/usage":                 "",
	"host/outcome":               "host/fault",
	"host/tracing":               "host/outcome",
	"host/telemetry":             "host/control host/gateway host/limit host/loopback host/mcp host/outcome host/tracing",
	"host/telemetry/otlptest":    "", // tests only
	"host/console":               "host/approval host/authn host/catalog host/control host/event host/fault host/httpserver/origin host/limit host/logbuffer host/loopback host/mcp host/pins host/policy host/schema host/usage host/visible",
	"host/console/consoletest":   "host/truncate",
	"host/console/source":        "host/audit host/authn host/catalog host/config host/config/inbound host/config/source host/console host/control host/event host/fault host/feed host/gateway host/limit host/logbuffer host/mcp host/pins host/policy host/policy/check host/sendqueue host/upstream host/usage",
	"host/connpool":              "host/authn host/fault host/limit host/upstream",
	"host/event":                 "host/authn host/feed",
	"host/feed":                  "",
	"host/top":                   "host/control host/logbuffer host/usage",
	"host/logbuffer":             "host/feed host/truncate",
	"host/gateway":               "host/gateway/question host/approval host/audit host/catalog host/condition host/connpool host/era host/event host/fault host/authn host/lazyregexp host/limit host/loopback host/mcp host/seal host/sendqueue host/policy host/schema host/shape host/subscription host/truncate host/upstream host/usage host/outcome host/tracing",
	"host/gateway/question":      "host/fault host/loopback host/mcp host/schema host/truncate host/upstream",
	"host/subscription":          "host/catalog host/mcp host/sendqueue host/upstream",
	"host/secret":                "host/fault sdk host/filelock",
	"host/trust":                 "host/config host/config/review host/config/source host/fault host/ownership",
	"host/cliconfig":             "host/tokencount host/truncate sdk sdk/sandbox",
	"host/clientconfig":          "host/lazyregexp",
	"host/bundle":                "host/clientconfig host/lazyregexp",
	"host/configedit":            "host/hcltext",
	"host/hcltext":               "",
	"host/clientimport":          "host/clientconfig host/condition host/lazyregexp host/secretname",
	"host/languageserver":        "host/condition host/config host/config/expression host/config/language host/config/source host/hcltext host/secretname sdk",
	"host/launcher":              "host/lazyregexp",
	"host/registry/registrytest": "", // tests only
	"host/registry":              "host/cache host/clientconfig host/fault host/lazyregexp host/loopback host/neterror",
	"host/login":                 "host/loopback host/truncate sdk sdk/process",
	"host/httpserver":            "host/audit host/era host/fault host/gateway host/authn host/limit host/httpserver/http1 host/httpserver/httpconn host/httpserver/origin host/mcp host/regularfile host/sendqueue host/sessionstore sdk/ndjson host/outcome host/tracing",

	"host/stdioserver": "host/authn host/gateway host/sendqueue sdk/ndjson",

	"host/httpserver/http1":    "",
	"host/httpserver/httpconn": "host/httpserver/http1",
	"host/httpserver/origin":   "",

	"host/interoptest": "", // tests only

	"host":     "host/* sdk sdk/memory sdk/ndjson sdk/process sdk/sandbox",
	"cmd/host": "host host/* cmd/host/* sdk sdk/process sdk/sandbox sdk/wire",

	"cmd/host/terminal":    "host/fault host/login host/visible sdk",
	"cmd/host/invocation":  "cmd/host/terminal host host/* sdk sdk/process",
	"cmd/host/verb":        "cmd/host/terminal host/fault host/gateway host/lazyregexp host/schema host/suggest",
	"cmd/host/items":       "cmd/host/invocation cmd/host/terminal cmd/host/verb host host/*",
	"cmd/host/arguments":   "cmd/host/invocation cmd/host/terminal cmd/host/verb host/catalog host/classify host/fault host/mcp host/schema host/secretname",
	"cmd/host/results":     "cmd/host/invocation cmd/host/terminal host/fault host/lazyregexp host/mcp host/tokencount host/upstream",
	"cmd/host/processes":   "cmd/host/invocation cmd/host/terminal cmd/host/verb host/config host/control host/fault host/suggest",
	"cmd/host/auditlog":    "cmd/host/invocation cmd/host/processes cmd/host/terminal cmd/host/verb host/audit host/fault host/suggest",
	"cmd/host/changes":     "cmd/host/invocation cmd/host/items cmd/host/processes cmd/host/terminal host host/config host/control host/fault host/plan host/policy/check",
	"cmd/host/clientfiles": "cmd/host/invocation cmd/host/terminal host/clientconfig host/fault",
	"cmd/host/listreader":  "cmd/host/invocation host/clientconfig sdk/process",
	"cmd/host/secrets":     "cmd/host/invocation host host/secret sdk/process",

	"cmd/host/verb/configure":   verbImports,
	"cmd/host/verb/permissions": verbImports,
	"cmd/host/verb/operate":     verbImports,
	"cmd/host/verb/plugins":     verbImports,
	"cmd/host/verb/use":         verbImports,
	"cmd/host/verb/serve":       verbImports,
	"cmd/host/verb/credentials": verbImports,

	"plugins": "sdk sdk/ndjson sdk/process sdk/sandbox sdk/serve sdk/stdio plugins/internal/*",

	"plugins/internal/buffer":         "",
	"plugins/internal/sse":            "plugins/internal/buffer",
	"plugins/internal/jsonrpc":        "",
	"plugins/internal/httpclient":     "sdk",
	"plugins/internal/docscheck":      "sdk", // tests only
	"plugins/internal/editdistance":   "",
	"plugins/internal/subprocess":     "sdk/process sdk/sandbox sdk/sandbox/launch",
	"plugins/internal/launcher":       "sdk/sandbox/launchplan",
	"plugins/internal/httpclienttest": "", // tests only
	"plugins/internal/legacysse":      "sdk sdk/ndjson plugins/internal/sse plugins/internal/jsonrpc plugins/internal/httpclient",
}

// homes are the packages that may import a library which shapes the code around
// it. Other packages use these packages instead.
var homes = map[string]string{
	"github.com/hashicorp/go-plugin":           "host/plugin",
	"github.com/hashicorp/hcl/v2":              "host/config host/config/language host/config/source host/config/expression host/config/inbound host/config/review host/cliconfig host/clientimport host/configedit host/hcltext host/languageserver host/lockfile",
	"github.com/zclconf/go-cty":                "host/config host/config/language host/config/source host/config/expression host/config/inbound host/config/review host/cliconfig host/configedit",
	"github.com/99designs/keyring":             "plugins/keyring",
	"github.com/godbus/dbus":                   "plugins/keyring",
	"github.com/gsterjov/go-libsecret":         "plugins/keyring",
	"github.com/modelcontextprotocol/go-sdk":   "sdk/mcpconn plugins/oauth",
	"golang.org/x/oauth2":                      "plugins/oauth",
	"github.com/santhosh-tekuri/jsonschema/v6": "host/schema",
	"go.lsp.dev/jsonrpc2":                      "host/languageserver",
	"github.com/spf13/cobra":                   "cmd/host cmd/host/invocation cmd/host/verb cmd/host/items cmd/host/processes cmd/host/auditlog cmd/host/verb/configure cmd/host/verb/permissions cmd/host/verb/operate cmd/host/verb/plugins cmd/host/verb/credentials cmd/host/verb/use cmd/host/verb/serve",
	"charm.land/bubbletea/v2":                  "cmd/host/verb/operate host/top",
	"charm.land/lipgloss/v2":                   "host/top",
	"github.com/agext/levenshtein":             "host/suggest plugins/internal/editdistance",
	"github.com/go-json-experiment/json":       "host/approval host/authn host/authn/jwks host/mcp host/schema host/upstream plugins/internal/jsonrpc plugins/oauth",
	"github.com/google/jsonschema-go":          "",
	"github.com/landlock-lsm/go-landlock":      "sdk/sandbox/launch",
	"github.com/elastic/go-seccomp-bpf":        "sdk/sandbox/launch",
	"code.dny.dev/ssrf":                        "plugins/internal/httpclient host/notify",
	"github.com/kballard/go-shellquote":        "cmd/host/arguments cmd/host/invocation cmd/host/verb/configure cmd/host/verb/operate",
	"github.com/pelletier/go-toml/v2":          "host/clientconfig",
	"go.yaml.in/yaml/v3":                       "host/clientconfig",
	"github.com/google/renameio/v2":            "host/clientconfig host/pins host/seal host/trust",
	"filippo.io/age":                           "host/secret",
	"golang.org/x/crypto":                      "host/seal",
	"github.com/gofrs/flock":                   "host/filelock",
	"github.com/tailscale/hujson":              "host/clientconfig",
	"github.com/tailscale/peercred":            "host/control",
	"github.com/shirou/gopsutil/v4":            "host/control",
	"github.com/golang-jwt/jwt/v5":             "host/authn plugins/oauth",
	"github.com/MicahParks/jwkset":             "host/authn/jwks",
	"github.com/prometheus":                    "host/telemetry",
	"go.opentelemetry.io":                      "host/telemetry host/telemetry/otlptest",
	"github.com/go-logr/logr":                  "host/telemetry",
	"os/exec":                                  "host/plugin sdk/plugintest",
	"modernc.org/sqlite":                       "host/audit host/sqlitefile",
	"database/sql":                             "host/approval host/audit host/seal host/sqlitefile",
}

// TestLayout reads the sources instead of running "go list", so that the test
// cache notices when an import changes.
func TestLayout(t *testing.T) {
	walkSources(t, func(rel, dir string, imports []string) {
		may, ok := allowed[dir]
		if !ok {
			t.Errorf("%s: %q has no line in allowed", rel, dir)
		}
		for _, imp := range imports {
			dep, ours := strings.CutPrefix(imp, module)
			if ours && !within(rel, dep) && !slices.ContainsFunc(strings.Fields(may), covers(dep)) {
				t.Errorf("%s: %s may not import %s", rel, dir, dep)
			}
			for library, packages := range homes {
				if imp != library && !strings.HasPrefix(imp, library+"/") {
					continue
				}
				if home := path.Dir(filepath.ToSlash(rel)); !slices.Contains(strings.Fields(packages), home) {
					t.Errorf("%s: %s may not import %s, only %q may", rel, dir, imp, packages)
				}
			}
		}
	})
}

// TestPackageNames refuses package names that say nothing.
func TestPackageNames(t *testing.T) {
	empty := []string{"util", "utils", "common", "helper", "helpers", "manager", "base", "types", "misc", "shared"}
	walkSources(t, func(rel, _ string, _ []string) {
		if name := path.Base(path.Dir(filepath.ToSlash(rel))); slices.Contains(empty, name) {
			t.Errorf("%s: a package called %s could hold anything", rel, name)
		}
	})
}

func walkSources(t *testing.T, each func(rel, dir string, imports []string)) {
	t.Helper()
	root := filepath.Join("..")
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() &&
			(d.Name() == "testdata" || d.Name() == "bin" || strings.HasPrefix(d.Name(), ".") && d.Name() != "..") {
			return fs.SkipDir
		}
		if filepath.Ext(file) != ".go" || strings.HasSuffix(file, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		dir := path.Dir(filepath.ToSlash(rel))
		if strings.HasPrefix(dir, "plugins/") && !strings.HasPrefix(dir, "plugins/internal/") {
			dir = "plugins"
		}
		var imports []string
		for _, imp := range f.Imports {
			imports = append(imports, strings.Trim(imp.Path.Value, `"`))
		}
		each(rel, dir, imports)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// within reports whether a file belongs to the same plugin as what it imports:
// a plugin may arrange its own packages as it likes.
func within(rel, dep string) bool {
	parts := strings.Split(filepath.ToSlash(rel), "/")
	return parts[0] == "plugins" && parts[1] != "internal" && strings.HasPrefix(dep, "plugins/"+parts[1]+"/")
}

// covers reports whether a pattern, which may end in "*", covers dep.
func covers(dep string) func(pattern string) bool {
	return func(pattern string) bool {
		prefix, wild := strings.CutSuffix(pattern, "*")
		return dep == pattern || wild && strings.HasPrefix(dep, prefix)
	}
}
