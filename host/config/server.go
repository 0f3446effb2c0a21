package config

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
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
	shareAt   hcl.Range         // empty: not set
	globs     map[string][]item // the patterns of the tools block, by attribute
	transport pluginRef
	auth      *pluginRef // nil: no auth block
}

// serverForm lists the attributes and blocks of a server block.
var serverForm = form{
	attributes: attributeNames("", false),
	blocks: func() map[string]shape {
		blocks := map[string]shape{"transport": {labels: 1}, "auth": {labels: 1}, "tool": {labels: 1, many: true}}
		for _, name := range attributeBlocks(false) {
			blocks[name] = shape{}
		}
		return blocks
	}(),
}

// server reads a server block without the bodies that belong to plugins.
func (l *loader) server(b *hclsyntax.Block) *draft {
	r := l.section(b, "")
	r.fallback = l.generalDefaults()
	r.check(serverForm)
	if len(b.Labels) > 0 && !labelRule.MatchString(r.label) {
		r.wrong(r.labelAt, "", "server name %q: use %s", r.label, labelWords)
	}
	d := &draft{Server: &Server{Name: r.label, At: startOf(r.head)}, block: r, prefixAt: r.labelAt, globs: map[string][]item{}}
	t, found := r.block("transport")
	if !found {
		r.wrong(r.head, `write transport "stdio" { ... }, or another kind`, "%s has no transport", r.what)
	}
	// A disabled server may name variables and plugins that do not exist, so the
	// rest of its block is not evaluated. If "enabled" is wrong, the rest is checked
	// too, because it will be used once "enabled" is corrected.
	r.readAttributes(d, "", false)
	if !d.Enabled {
		return d
	}
	if found {
		d.transport = t.use(transports)
	}
	if a, found := r.block("auth"); found {
		auth := a.use(providers)
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

var prefixRule = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

const maxPrefix = 40

// prefix reads the prefix of exposed names. Its grammar keeps all exposed names
// distinct, so that no exposed name has to be parsed.
func (r blockReader) prefix(d *draft) string {
	text, a, set := r.text("prefix")
	if set {
		d.prefixAt = a.Expr.Range()
		if text == "" {
			return ""
		}
	} else {
		text = r.label
	}
	var why string
	switch {
	case !set && !labelRule.MatchString(text):
		// The label was reported.
	case !prefixRule.MatchString(text):
		why = "may hold letters, digits, - and _ only"
	case strings.Contains(text, "__"):
		why = `must not contain "__", which stands between prefix and name`
	case strings.HasSuffix(text, "_"):
		why = `must not end in "_"`
	case len(text) > maxPrefix:
		why = fmt.Sprintf("must be at most %d characters long", maxPrefix)
	}
	switch {
	case why == "":
	case set:
		r.wrong(d.prefixAt, "", "a prefix %s", why)
	default:
		r.wrong(d.prefixAt, `set prefix = "..." in the block`, "the server's name is also its prefix, which %s", why)
	}
	return text
}

// idle reads "adaptive", "never" or a duration.
func (r blockReader) idle() Idle {
	v, a, set := r.value("idle", cty.String)
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
		r.wrong(a.Expr.Range(), "", `"idle" must be "adaptive", "never" or a duration such as "5m"%s`, notThat(word.AsString(), len(marks) > 0))
	case d <= 0 || d > maxIdle:
		r.wrong(a.Expr.Range(), `"never" keeps connections open`, `"idle" must be more than zero and at most %s`, short(maxIdle))
	}
	return Idle{After: d}
}

// install reads the timeout of a start that installs the server. A value of the
// block itself must be at least start; a default and an inherited value are
// raised to start.
func (r blockReader) install(start time.Duration) time.Duration {
	d := r.duration("install", max(defaultInstall, start), maxInstall)
	if own := r.body.Attributes["install"]; d < start && own != nil {
		r.wrong(own.Expr.Range(), "", `"install" must be at least %s, which "start" is`, short(start))
	}
	return max(d, start)
}

// checkNames reports servers with the same name and servers with the same prefix.
func checkNames(l *loader, drafts []*draft) {
	names, prefixes := map[string]*draft{}, map[string]*draft{}
	for _, d := range drafts {
		if first := names[d.Name]; first != nil && d.Name != "" {
			d.block.twice(d.block.labelAt, first.block.labelAt, "server %q", d.Name)
			continue
		}
		names[d.Name] = d
		if !d.Enabled || d.Prefix == "" {
			continue
		}
		if first := prefixes[d.Prefix]; first != nil {
			d.block.wrong(d.prefixAt, "give one of them another prefix", "prefix %q is also that of server %q, at %s",
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
