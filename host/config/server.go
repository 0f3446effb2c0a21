package config

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/junctor-mcp/junctor/host/config/expression"
	"github.com/junctor-mcp/junctor/host/config/language"
	"github.com/junctor-mcp/junctor/host/config/source"
	"github.com/junctor-mcp/junctor/host/lazyregexp"
)

// A draft is a Server whose transport and auth blocks are not decoded yet. They
// need the manifests of their plugins. loader.server makes it, finish completes it, and then its
// Server becomes part of the Config.
type draft struct {
	*Server
	block     blockReader
	prefixAt  hcl.Range
	shareAt   hcl.Range // empty: not set
	transport pluginRef
	auth      *pluginRef // nil: no auth block
	managed   bool       // of the managed configuration
}

// server reads a server block without the bodies that belong to plugins.
func (l *loader) server(r blockReader) *draft {
	r.Fallback = r.of.defaults
	if r.Label != "" && !labelRule.MatchString(r.Label) {
		r.ErrorAt(r.LabelAt, "", "server name %q: use %s", r.Label, labelWords)
	}
	d := &draft{block: r, prefixAt: r.LabelAt, Server: &Server{
		Name:    r.Label,
		At:      source.StartOf(r.Head),
		Layer:   r.of.layer,
		Managed: l.managed != nil && r.of == l.managed,
	}}
	t, found := r.block("transport")
	if r.IsSkipped("enabled") {
		r.Check(language.FormOf[Server]())
		return d // it may be disabled
	}
	// A disabled server may name variables and plugins that do not exist, so the
	// rest of its block is not evaluated. If "enabled" is wrong, the rest is checked
	// too, because it will be used once "enabled" is corrected.
	language.Decode(r.Reader, d.Server)
	noteWritten(r, d)
	if l.blocked != nil {
		d.Enabled = true // see Refused: a disabled server is refused as well
	}
	switch {
	case !d.Enabled:
		return d
	case !found && !replaced(r, "transport"):
		r.ErrorAt(r.Head, `write transport "stdio" { ... }, or another kind`, "%s has no transport", r.What)
	}
	if found {
		d.transport = l.plugins.resolve(t, transports)
	}
	if a, found := r.block("auth"); found {
		auth := l.plugins.resolve(a, providers)
		d.auth = &auth
	}
	if r.IsSet("prefix") {
		d.prefixAt = r.ValueAt("prefix", r.LabelAt)
	}
	if _, a, set := r.RawValue("share"); set {
		d.shareAt = a.Expr.Range() // possibly in the defaults block
	}
	d.Views = readViews(r)
	return d
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
				d.Prefix, first.Name, source.StartOf(first.prefixAt))
			continue
		}
		prefixes[d.Prefix] = d
	}
}

// finish decodes a server's transport and auth.
func (d *draft) finish(keys *expression.Keyring) {
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
	d.Fingerprint = d.fingerprint(keys)
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
		d.auth.ErrorAt(d.auth.LabelAt,
			`remove it, and give the program what it needs in the transport: env = { NAME = keyring("NAME") }`,
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
			d.auth.WarnAt(a.NameRange,
				`write issuer = "https://..." beside it, as that authorization server calls itself`,
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
			at := language.LocateIn(d.transport.Body, d.transport.Head,
				[]language.Step{{Name: "headers"}, {Name: name}})
			d.block.WarnAt(at, "keep one of them",
				"the transport sets this header itself, so %s is not asked before the server refuses it", d.auth.What)
		}
	}
}

var originRule = lazyregexp.New(`^[A-Za-z0-9._-]+/[A-Za-z0-9._-]+@[A-Za-z0-9][A-Za-z0-9.+_-]*$`)

// WhyBlocked says why a servers block does not let the server be used, and what to do.
func (s *Server) WhyBlocked() (message, hint string) {
	if s.BlockedByUser {
		return "a servers block does not allow the server: it is " + s.Blocked,
			"change the servers block, or remove the server"
	}
	return "the managed configuration does not allow the server: " + s.Blocked, "ask the administrator of this machine"
}
