package config

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/junctor-mcp/junctor/sdk/ndjson"
)

// revisions of MCP that a server can be fixed to.
var revisions = []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"}

const (
	maxStart    = 600 * time.Second
	maxInstall  = time.Hour
	maxCall     = 600 * time.Second
	maxShutdown = 60 * time.Second
	maxIdle     = 24 * time.Hour

	leastMessage = 64 << 10 // bytes
	mostMessage  = 256 << 20
)

// A draft is a Server in the making: what is needed between reading its block
// and decoding what belongs to plugins, which waits for their manifests.
type draft struct {
	*Server
	block     blockReader
	prefixAt  hcl.Range
	shareAt   hcl.Range // empty: not set
	transport pluginRef
	auth      *pluginRef // nil: none
}

var serverForm = form{
	attributes: []string{"prefix", "protocol", "share", "idle", "required", "enabled", "max_message", "describe", "bad_schema"},
	blocks: map[string]shape{
		"transport": {labels: 1}, "auth": {labels: 1}, "timeouts": {}, "tools": {}, "tool": {labels: 1, many: true},
		"resources": {},
	},
}

// server reads a server block, apart from the bodies that belong to plugins.
func (l *loader) server(b *hclsyntax.Block) *draft {
	s := l.section(b, "")
	s.fallback = l.generalDefaults()
	s.check(serverForm)
	if len(b.Labels) > 0 && !labelRule.MatchString(s.label) {
		s.wrong(s.labelAt, "", "server name %q: use %s", s.label, labelWords)
	}
	d := &draft{Server: &Server{Name: s.label, At: startOf(s.head)}, block: s, prefixAt: s.labelAt}
	t, found := s.block("transport")
	if !found {
		s.wrong(s.head, `write transport "stdio" { ... }, or another kind`, "%s has no transport", s.what)
	}
	// What stands in a disabled server is not evaluated, so that it can name
	// variables and plugins that are not there. Where the attribute is wrong, the
	// rest is looked at as well: it will be used when that is mended.
	d.Enabled = s.flag("enabled", true)
	if !d.Enabled {
		return d
	}
	if found {
		d.transport = t.use(transports)
	}
	if a, found := s.block("auth"); found {
		auth := a.use(providers)
		d.auth = &auth
	}
	d.Prefix = s.prefix(d)
	d.Required = s.flag("required", false)
	d.Protocol = s.choice("protocol", append([]string{"auto"}, revisions...)...)
	d.MaxMessage = s.size("max_message", ndjson.DefaultLimit, leastMessage, mostMessage)
	s.general(d)
	d.Tools = s.tools()
	d.Views = s.views()
	d.Resources = s.optional("resources").resources()
	return d
}

var prefixRule = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

const maxPrefix = 40

// prefix reads what exposed names begin with. See D8 for the rules: they keep
// every name apart from every other without parsing.
func (s blockReader) prefix(d *draft) string {
	text, a, set := s.text("prefix")
	if set {
		d.prefixAt = a.Expr.Range()
		if text == "" {
			return ""
		}
	} else {
		text = s.label
	}
	var why string
	switch {
	case !set && !labelRule.MatchString(text):
		// one problem is enough
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
		s.wrong(d.prefixAt, "", "a prefix %s", why)
	default:
		s.wrong(d.prefixAt, `set prefix = "..." in the block`, "the server's name is also its prefix, which %s", why)
	}
	return text
}

// idle reads "adaptive", "never" or a duration.
func (s blockReader) idle() Idle {
	v, a, set := s.value("idle", cty.String)
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
		s.wrong(a.Expr.Range(), "", `"idle" must be "adaptive", "never" or a duration such as "5m"%s`, notThat(word.AsString(), len(marks) > 0))
	case d <= 0 || d > maxIdle:
		s.wrong(a.Expr.Range(), `"never" keeps connections open`, `"idle" must be more than zero and at most %s`, short(maxIdle))
	}
	return Idle{After: d}
}

func (s blockReader) timeouts() Timeouts {
	t, found := s.block("timeouts")
	if !found {
		t = blockReader{loader: s.loader, in: s.in, body: &hclsyntax.Body{}}
	}
	t.fallback = s.defaultsOf("timeouts")
	t.check(form{attributes: []string{"start", "install", "call", "shutdown", "progress_extends"}})
	start := t.duration("start", 10*time.Second, maxStart)
	return Timeouts{
		Start:   start,
		Install: t.install(start),
		Call:    t.duration("call", 60*time.Second, maxCall),
		// A server has two seconds from the end of its input to SIGTERM, and two
		// more to SIGKILL.
		Shutdown: t.duration("shutdown", 5*time.Second, maxShutdown),
		Extends:  t.flag("progress_extends", false),
	}
}

// resources reads what clients may read of a server.
func (s blockReader) resources() Resources {
	s.check(form{attributes: []string{"unlisted"}})
	return Resources{Unlisted: s.flag("unlisted", false)}
}

// install reads how long a start may take that installs the server first. It is
// never less than what any start may take: one that is inherited is raised.
func (s blockReader) install(start time.Duration) time.Duration {
	const unset = 5 * time.Minute
	d := s.duration("install", max(unset, start), maxInstall)
	if own := s.body.Attributes["install"]; d < start && own != nil {
		s.wrong(own.Expr.Range(), "", `"install" must be at least %s, which "start" is`, short(start))
	}
	return max(d, start)
}

// checkNames compares the servers with each other.
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
