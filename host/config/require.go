package config

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/hashicorp/go-version"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

var (
	labelRule   = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,63}$`)
	builtinRule = regexp.MustCompile(`^builtin/[a-z0-9][a-z0-9-]{0,63}$`)
	sha256Rule  = regexp.MustCompile(`^[0-9a-fA-F]{64}$`)
	envRule     = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
)

const labelWords = "letters, digits, - and _, starting with a letter, at most 64"

// A plugin is a Plugin in the making.
type plugin struct {
	Plugin
	at        hcl.Range // where it is required, or where a server uses a bundled one
	versionAt hcl.Range
	required  bool
	block     hcl.Range // the label of its block, if there is one
	useAt     hcl.Range // of "use" in that block, if it names another
}

// requirements reads a plugins block.
func (l *loader) requirements(b *hclsyntax.Block) {
	s := l.section(b, "")
	s.check(form{attributes: []string{"required"}})
	v, a, set := s.public("required", cty.DynamicPseudoType)
	if !set {
		l.pluginsLost = l.pluginsLost || a != nil
		return
	}
	if !v.Type().IsObjectType() && !v.Type().IsMapType() {
		s.wrong(a.Expr.Range(), `write required = { NAME = { source = "..." } }`, `"required" must be an object, not %s`, typeName(v.Type()))
		l.pluginsLost = true
		return
	}
	members := v.AsValueMap()
	for _, name := range slices.Sorted(maps.Keys(members)) {
		s.requirement(a, name, members[name])
	}
}

// requirement reads one member of "required".
func (s blockReader) requirement(a *hclsyntax.Attribute, name string, v cty.Value) {
	at := keyRange(a.Expr, name)
	p := &plugin{Plugin: Plugin{Name: name, Use: name, Isolation: "shared", At: startOf(at)}, at: at, required: true}
	if first := s.plugins[name]; first != nil {
		s.twice(at, first.at, "plugin %q", name)
		return
	}
	s.plugins[name] = p // even when something is wrong with it: it is not missing
	if !labelRule.MatchString(name) {
		s.wrong(at, "", "plugin name %q: use %s", name, labelWords)
	}
	if v.IsNull() || !v.Type().IsObjectType() {
		s.wrong(at, fmt.Sprintf(`write %s = { source = "..." }`, name), "plugin %q must be an object", name)
		return
	}
	words := s.words(a, name, v)
	where := func(key string) hcl.Range { return locate(a.Expr, []step{{name: name}, {name: key}}) }
	p.versionAt = where("version")
	if source, ok := words["source"]; ok || !v.Type().HasAttribute("source") {
		p.Source = s.source(source, where("source"), name)
	}
	p.Version, p.SHA256 = words["version"], strings.ToLower(words["sha256"])
	if _, err := version.NewConstraint(p.Version); p.Version != "" && err != nil {
		s.wrong(p.versionAt, `write "1.2.3", ">= 1.2" or "~> 1.2"`, "plugin %q: the version constraint is malformed", name)
		p.Version = ""
	}
	if pin, set := words["sha256"]; set && !sha256Rule.MatchString(pin) {
		s.wrong(where("sha256"), "", "plugin %q: sha256 must be 64 hexadecimal digits", name)
		p.SHA256 = "" // the program would be found to differ from it
	}
}

// words reads the members of a requirement, all of which are strings.
func (s blockReader) words(a *hclsyntax.Attribute, name string, v cty.Value) map[string]string {
	known := []string{"source", "version", "sha256"}
	words := map[string]string{}
	for key, value := range v.AsValueMap() {
		within := []step{{name: name}, {name: key}}
		switch {
		case !slices.Contains(known, key):
			s.wrong(keyRange(cmp.Or(member(a.Expr, within[0]), a.Expr), key), didYouMean(key, known), "plugin %q: unknown %q", name, key)
		case value.IsNull():
		case value.Type() != cty.String:
			s.wrong(locate(a.Expr, within), "", "plugin %q: %q must be a string, not %s", name, key, typeName(value.Type()))
		default:
			words[key] = value.AsString()
		}
	}
	return words
}

// keyRange is where a member's name stands in an object, or the object.
func keyRange(e hclsyntax.Expression, name string) hcl.Range {
	if object, ok := plain(e).(*hclsyntax.ObjectConsExpr); ok {
		for _, item := range object.Items {
			if key, ok := literal(item.KeyExpr); ok && key == name {
				return item.KeyExpr.Range()
			}
		}
	}
	return e.Range()
}

// source resolves where a plugin comes from.
func (s blockReader) source(text string, at hcl.Range, name string) string {
	const hint = `write "builtin/NAME", or a path that starts with ./, ../ or /`
	path := filepath.FromSlash(text)
	switch {
	case text == "":
		s.wrong(at, hint, "plugin %q has no source", name)
	case strings.HasPrefix(text, "builtin/"):
		if !builtinRule.MatchString(text) {
			s.wrong(at, hint, "plugin %q: the source names no bundled plugin", name)
			return ""
		}
		return text
	case filepath.IsAbs(path):
		return filepath.Clean(path)
	case text == "." || text == ".." || strings.HasPrefix(text, "./") || strings.HasPrefix(text, "../"):
		return filepath.Join(s.byName[at.Filename].dir, path)
	default:
		s.wrong(at, hint, "plugin %q: this version takes plugins from directories only", name)
	}
	return ""
}

// pluginBlock reads a plugin block: how a plugin's process is run.
func (l *loader) pluginBlock(b *hclsyntax.Block) {
	s := l.section(b, "")
	s.check(form{attributes: []string{"isolation", "env", "use"}})
	name := s.label
	if !labelRule.MatchString(name) {
		if len(b.Labels) > 0 {
			s.wrong(s.labelAt, "", "plugin name %q: use %s", name, labelWords)
		}
		return
	}
	p := l.plugins[name]
	if p != nil && p.block != (hcl.Range{}) {
		s.twice(s.labelAt, p.block, "plugin %q", name)
		return
	}
	if p == nil {
		p = &plugin{Plugin: Plugin{Name: name, Use: name, At: startOf(s.head)}, at: s.labelAt}
		l.plugins[name] = p
	}
	p.block = s.labelAt
	p.Isolation = s.choice("isolation", "shared", "server")
	for _, e := range s.texts("env") {
		if !envRule.MatchString(e.text) {
			s.wrong(e.at, "", `"env" lists names of environment variables: letters, digits and _`)
			continue
		}
		p.Env = append(p.Env, e.text)
	}
	if use, a, set := s.text("use"); set && use != name {
		p.Use, p.useAt = use, a.Expr.Range()
	}
}

// pinPrograms binds every plugin that is not bundled to the program that was
// reviewed with the configuration's content, if it was.
func (l *loader) pinPrograms() {
	if l.Content == nil {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(l.plugins)) {
		p := l.plugins[name]
		if p.Source == "" || strings.HasPrefix(p.Source, "builtin/") {
			continue
		}
		pin := l.Content.programs[name]
		switch {
		case pin == "":
			blockReader{loader: l, in: "plugins"}.wrong(p.at, `write the source as a text in quotes, or name the configuration with --config`,
				"plugin %q: its program was not reviewed when the configuration was trusted", name)
		case p.SHA256 == "":
			p.SHA256 = pin
		case p.SHA256 != pin:
			blockReader{loader: l, in: "plugins"}.wrong(p.at, "correct sha256, or put the right program there",
				"plugin %q: the program has sha256 %s, not %s", name, pin, p.SHA256)
		}
	}
}

// resolveUses gives every plugin block the program that it runs.
func (l *loader) resolveUses() {
	for _, name := range slices.Sorted(maps.Keys(l.plugins)) {
		p := l.plugins[name]
		s := blockReader{loader: l, in: fmt.Sprintf("plugin %q", name)}
		switch {
		case p.required && p.useAt != (hcl.Range{}):
			s.wrong(p.useAt, "", "plugin %q has a source of its own in plugins { required }, so it cannot use another's", name)
		case p.required:
		case p.useAt == (hcl.Range{}) && !slices.Contains(bundled, name):
			if !l.pluginsLost {
				s.wrong(p.at, `require it, or say with "use" whose program it runs`, "plugin %q is not in plugins { required }", name)
			}
		default:
			l.borrow(s, p)
		}
	}
}

// borrow copies what is about the program from the plugin that p uses.
func (l *loader) borrow(s blockReader, p *plugin) {
	from := l.plugins[p.Use]
	switch {
	case from != nil && from.required:
		p.Source, p.Version, p.SHA256 = from.Source, from.Version, from.SHA256
	case slices.Contains(bundled, p.Use):
		p.Source = "builtin/" + p.Use
	case !l.pluginsLost:
		s.wrong(p.useAt, didYouMean(p.Use, l.programs()), "there is no plugin %q to use", p.Use)
	}
}

// programs lists what "use" may name.
func (l *loader) programs() []string {
	names := slices.Clone(bundled)
	for name, p := range l.plugins {
		if p.required {
			names = append(names, name)
		}
	}
	return names
}
