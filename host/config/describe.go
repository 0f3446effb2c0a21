package config

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/go-version"
	"github.com/hashicorp/hcl/v2"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/sdk"
)

// target resolves a transport block's label, NAME or NAME/COMPONENT, to a
// plugin. It returns nil after reporting that there is none.
func (l *loader) target(s section) (p *plugin, component string) {
	name, component, explicit := strings.Cut(s.label, "/")
	if explicit && component == "" {
		s.wrong(s.labelAt, "write NAME, or NAME/COMPONENT", "transport %q names no component after the slash", s.label)
		return nil, ""
	}
	p = l.plugins[name]
	if p == nil && slices.Contains(bundled, name) {
		p = &plugin{
			Plugin: Plugin{Name: name, Use: name, Source: "builtin/" + name, Isolation: "shared", At: startOf(s.labelAt)},
			at:     s.labelAt,
		}
		l.plugins[name] = p
	}
	if p == nil && !l.pluginsLost {
		s.wrong(s.labelAt, cmp.Or(nearHint(name, append(l.programs(), slices.Collect(maps.Keys(l.plugins))...)),
			fmt.Sprintf(`require it: plugins { required = { %s = { source = "..." } } }`, name)), "there is no plugin %q", name)
	}
	return p, component
}

// describeAll obtains the manifest of every program that is used.
func (l *loader) describeAll(ctx context.Context, drafts []*draft) {
	for _, d := range drafts {
		if d.plugin != nil {
			l.describe(ctx, d.plugin, d.transport)
		}
	}
	if !l.All {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(l.plugins)) {
		if p := l.plugins[name]; p.required {
			l.describe(ctx, p, section{loader: l, in: "plugins", labelAt: p.at})
		}
	}
}

// describe asks for the manifest of the program that p runs, once for all that
// run it. What goes wrong is reported where the program is required or, for a
// bundled one, where it is used.
func (l *loader) describe(ctx context.Context, p *plugin, user section) {
	if _, done := l.manifests[p.Use]; done || p.Source == "" {
		return
	}
	at, in := user.labelAt, user.in
	if from := l.plugins[p.Use]; from != nil && from.required {
		p, at, in = from, from.at, "plugins"
	}
	l.manifests[p.Use] = nil // until it is known to be good
	m, err := l.Describe(ctx, p.Plugin)
	if err != nil {
		f := fault.As(err)
		l.problem(problem{in: in, at: at, code: f.Code, hint: f.Hint, output: f.Output,
			summary: fmt.Sprintf("plugin %q: %s", p.Name, strings.TrimPrefix(f.Message, fmt.Sprintf("plugin %q: ", p.Name)))})
		return
	}
	if l.versionFits(p, m, at, in) {
		l.manifests[p.Use] = &m
	}
}

func (l *loader) versionFits(p *plugin, m sdk.Manifest, at hcl.Range, in string) bool {
	have, err := version.NewSemver(m.Version)
	if err != nil {
		l.problem(problem{in: in, at: at, code: fault.PluginDescribe,
			summary: fmt.Sprintf("plugin %q says that its version is %q, which is no semantic version", p.Name, m.Version)})
		return false
	}
	if p.Version == "" {
		return true
	}
	want, err := version.NewConstraint(p.Version)
	if err != nil || want.Check(have) {
		return true // a malformed constraint was reported
	}
	l.problem(problem{in: in, at: p.versionAt, code: fault.PluginVersion,
		summary: fmt.Sprintf("plugin %q has version %s, the configuration asks for %q", p.Name, m.Version, p.Version),
		hint:    "install another version, or change the constraint"})
	return false
}

// component picks the transport of a manifest that a block means: the one it
// names, else the one called like the plugin, else the only one.
func (s section) component(p *plugin, m *sdk.Manifest, explicit string) (string, bool) {
	offered := slices.Sorted(maps.Keys(m.Transports))
	if explicit != "" {
		if slices.Contains(offered, explicit) {
			return explicit, true
		}
		s.wrong(s.labelAt, didYouMean(explicit, offered), "plugin %q offers no transport %q", p.Name, explicit)
		return "", false
	}
	for _, name := range []string{p.Name, p.Use} {
		if slices.Contains(offered, name) {
			return name, true
		}
	}
	switch len(offered) {
	case 0:
		s.wrong(s.labelAt, "", "plugin %q offers no transport", p.Name)
		return "", false
	case 1:
		return offered[0], true
	}
	full := make([]string, len(offered))
	for i, name := range offered {
		full[i] = p.Name + "/" + name
	}
	s.wrong(s.labelAt, "write one of "+quoted(full), "plugin %q offers several transports", p.Name)
	return "", false
}
