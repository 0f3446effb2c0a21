package config

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/junctor-mcp/junctor/host/config/language"
	"github.com/junctor-mcp/junctor/host/lazyregexp"
)

// revisions lists the revisions of MCP that "protocol" accepts.
var revisions = []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"}

const (
	maxStart    = 600 * time.Second
	maxInstall  = time.Hour
	maxCall     = 600 * time.Second
	maxShutdown = 60 * time.Second
	maxIdle     = 24 * time.Hour

	defaultInstall = 5 * time.Minute

	leastMessage = 64 << 10 // bytes
	mostMessage  = 256 << 20
)

// A draft is a Server whose transport and auth blocks are not decoded yet. They
// need the manifests of their plugins.
type draft struct {
	*Server
	block     blockReader
	prefixAt  hcl.Range
	shareAt   hcl.Range                  // empty: not set
	globs     map[string][]language.Item // the patterns of the tools block, by attribute
	transport pluginRef
	auth      *pluginRef // nil: no auth block
	managed   bool       // of the managed configuration
}

// serverForm lists the attributes and blocks of a server block.
var serverForm = language.Form{
	Entries: append(serverEntries("", false), language.Entry{Name: forEach,
		Values: language.Values{Accepts: "a map, or a list of texts; at most 100 elements", Schema: map[string]any{"type": []string{"object", "array"}}}, Unset: "one server",
		Doc: "Makes several servers of the block. See [Several servers from one block](#several-servers-from-one-block)."}),
	Blocks: func() map[string]language.Shape {
		blocks := serverBlocks(false)
		blocks["transport"] = language.Shape{Labels: 1, Role: &transports, Doc: "How Junctor reaches the server. The label is the kind: `stdio`, `http`, `sse`, `cli`, or a required plugin."}
		blocks["auth"] = language.Shape{Labels: 1, Role: &providers, Doc: "How Junctor logs in to the server. The label is the provider: `bearer`, `oauth`, `command`, or a required plugin."}
		blocks["tool"] = language.Shape{Labels: 1, Many: true, Body: &viewForm, Doc: "Changes how one tool is offered. The label is the server's own name of the tool."}
		return blocks
	}(),
}

// server reads a server block without the bodies that belong to plugins.
func (l *loader) server(r blockReader) *draft {
	r.Fallback = l.generalDefaults()
	r.Check(&serverForm)
	if r.Label != "" && !labelRule.MatchString(r.Label) {
		r.ErrorAt(r.LabelAt, "", "server name %q: use %s", r.Label, labelWords)
	}
	d := &draft{Server: &Server{Name: r.Label, At: startOf(r.Head), Layer: r.home.layer, Managed: l.managed != nil && r.home == l.managed}, block: r, prefixAt: r.LabelAt, globs: map[string][]language.Item{}}
	t, found := r.block("transport")
	if r.IsSkipped("enabled") {
		return d // it may be disabled
	}
	// A disabled server may name variables and plugins that do not exist, so the
	// rest of its block is not evaluated. If "enabled" is wrong, the rest is checked
	// too, because it will be used once "enabled" is corrected.
	r.readAttributes(d, "", false)
	if l.blocked != nil {
		d.Enabled = true // see Refused: a disabled server is refused as well
	}
	switch {
	case !d.Enabled:
		return d
	case !found && !r.replaced("transport"):
		r.ErrorAt(r.Head, `write transport "stdio" { ... }, or another kind`, "%s has no transport", r.What)
	}
	if found {
		d.transport = t.resolvePlugin(transports)
	}
	if a, found := r.block("auth"); found {
		auth := a.resolvePlugin(providers)
		d.auth = &auth
	}
	r.readAttributeBlocks(d, false)
	if tools, found := r.block("tools"); found {
		tools.exclusive("allow", "deny", d.globs)
		tools.exclusive("read", "write", d.globs)
	}
	d.Views = r.views()
	return d
}

var prefixRule = lazyregexp.New(`^[A-Za-z0-9_-]+$`)

const maxPrefix = 40

// prefix reads the prefix of exposed names. Its grammar keeps all exposed names
// distinct, so that no exposed name has to be parsed.
func (r blockReader) prefix(d *draft) string {
	text, a, set := r.Text("prefix")
	if set {
		d.prefixAt = a.Expr.Range()
		if text == "" {
			return ""
		}
	} else if r.IsSkipped("prefix") {
		return ""
	} else {
		text = r.Label
	}
	var why string
	switch {
	case !set && !labelRule.MatchString(text):
		// The label was reported.
	case !prefixRule.MatchString(text):
		why = "may hold letters, digits, - and _ only"
	case strings.Contains(text, "__"):
		why = `must not contain "__", which separates prefix and name`
	case strings.HasSuffix(text, "_"):
		why = `must not end in "_"`
	case len(text) > maxPrefix:
		why = fmt.Sprintf("must be at most %d characters long", maxPrefix)
	}
	switch {
	case why == "":
	case set:
		r.ErrorAt(d.prefixAt, "", "a prefix %s", why)
	default:
		r.ErrorAt(d.prefixAt, `set prefix = "..." in the block`, "the server's name is also its prefix, which %s", why)
	}
	return text
}

// idle reads "adaptive", "never" or a duration.
func (r blockReader) idle() Idle {
	v, a, set := r.Value("idle", cty.String)
	if !set {
		return Idle{Adaptive: true}
	}
	word, marks := v.Unmark()
	switch word.AsString() {
	case "adaptive":
		return Idle{Adaptive: true}
	case "never":
		return Idle{Never: true}
	}
	d, err := time.ParseDuration(word.AsString())
	switch {
	case err != nil:
		r.ErrorAt(a.Expr.Range(), language.UnlessSecret(marks, language.DurationHint("idle", word.AsString())), `"idle" must be "adaptive", "never" or a duration such as "5m"%s`, language.GotText(word.AsString(), len(marks) > 0))
	case d <= 0 || d > maxIdle:
		r.ErrorAt(a.Expr.Range(), `write idle = "never" to keep connections open`, `"idle" must be more than zero and at most %s`, language.ShortDuration(maxIdle))
	}
	return Idle{After: d}
}

// install reads the timeout of a start that installs the server. A value of the
// block itself must be at least start; a default and an inherited value are
// raised to start.
func (r blockReader) install(start time.Duration) time.Duration {
	d := r.Duration("install", max(defaultInstall, start), maxInstall)
	if own := r.Body.Attributes["install"]; d < start && own != nil {
		r.ErrorAt(own.Expr.Range(), "", `"install" must be at least %s, which "start" is`, language.ShortDuration(start))
	}
	return max(d, start)
}

// checkNames reports servers with the same name and servers with the same prefix.
func checkNames(l *loader, drafts []*draft) {
	names, prefixes := map[string]*draft{}, map[string]*draft{}
	for _, d := range drafts {
		if first := names[d.Name]; first != nil && d.Name != "" {
			d.block.Duplicate(d.block.LabelAt, first.block.LabelAt, "server %q", d.Name)
			continue
		}
		names[d.Name] = d
		if !d.Enabled || d.Prefix == "" {
			continue
		}
		if first := prefixes[d.Prefix]; first != nil {
			d.block.ErrorAt(d.prefixAt, "give one of them another prefix", "prefix %q is also that of server %q, at %s",
				d.Prefix, first.Name, startOf(first.prefixAt))
			continue
		}
		prefixes[d.Prefix] = d
	}
}

// finish decodes a server's transport and auth.
func (l *loader) finish(d *draft) {
	transport, ok := d.transport.decode()
	if d.auth != nil {
		if auth, ok := d.auth.decode(); ok {
			d.Auth = &auth
		}
	}
	if !ok {
		return
	}
	d.Transport = transport
	d.checkAuth()
	d.Fingerprint = l.fingerprint(d)
}

// checkAuth reports an auth block without effect, and warns of risky ones. It
// checks the bundled transports only: how other transports use credentials is not
// known.
func (d *draft) checkAuth() {
	if d.Auth == nil {
		return
	}
	switch d.transport.plugin.Source {
	case "builtin/stdio", "builtin/cli":
		d.auth.ErrorAt(d.auth.LabelAt, `remove it, and give the program what it needs in the transport: env = { NAME = keyring("NAME") }`,
			"%s starts a program, so there are no requests to authenticate", d.transport.What)
	case "builtin/http", "builtin/sse":
		d.warnHeaderConflict()
	}
	if d.auth.plugin.Source == "builtin/oauth" {
		d.warnWithoutIssuer()
	}
}

// warnWithoutIssuer warns of secrets for an authorization server without "issuer".
// The MCP server names the authorization server then. An attacker with control of the
// MCP server would therefore receive the secrets.
func (d *draft) warnWithoutIssuer() {
	set := d.auth.Body.Attributes
	for _, name := range []string{"client_secret", "subject_token"} {
		if a := set[name]; a != nil && set["issuer"] == nil {
			d.auth.WarnAt(a.NameRange, `write issuer = "https://..." beside it, as that authorization server calls itself`,
				"%q is sent to any authorization server that the server names", name)
		}
	}
}

// warnHeaderConflict warns of a header that both the transport and the auth block
// set. The transport's value is sent first.
func (d *draft) warnHeaderConflict() {
	var transport struct{ Headers map[string]string }
	var auth struct{ Header string } // absent for providers of Authorization
	_ = json.Unmarshal(d.Transport.Settings, &transport)
	_ = json.Unmarshal(d.Auth.Settings, &auth)
	header := cmp.Or(auth.Header, "Authorization")
	for _, name := range slices.Sorted(maps.Keys(transport.Headers)) {
		value := strings.Fields(transport.Headers[name])
		bare := len(value) == 0 || len(value) == 1 && strings.EqualFold(value[0], "Bearer") // from an empty variable
		if strings.EqualFold(name, header) && !bare {
			at := language.LocateIn(d.transport.Body, d.transport.Head, []language.Step{{Name: "headers"}, {Name: name}})
			d.block.WarnAt(at, "keep one of them", "the transport sets this header itself, so %s is not asked before the server refuses it", d.auth.What)
		}
	}
}

var originRule = lazyregexp.New(`^[A-Za-z0-9._-]+/[A-Za-z0-9._-]+@[A-Za-z0-9][A-Za-z0-9.+_-]*$`)

// origin reads the attribute registry.
func (r blockReader) origin() string {
	text, a, set := r.Text("registry")
	if set && !originRule.MatchString(text) {
		r.ErrorAt(a.Expr.Range(), `write registry = "io.github.user/server@1.2.3"`, "%q is not the name and version of an entry", "registry")
	}
	return text
}

// WhyBlocked says why a servers block does not let the server be used, and what to do.
func (s *Server) WhyBlocked() (message, hint string) {
	if s.BlockedByUser {
		return "a servers block does not allow the server: it is " + s.Blocked, "change the servers block, or remove the server"
	}
	return "the managed configuration does not allow the server: " + s.Blocked, "ask the administrator of this machine"
}
