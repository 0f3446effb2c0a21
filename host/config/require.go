package config

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/go-version"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/junctor-mcp/junctor/host/config/language"
	"github.com/junctor-mcp/junctor/host/config/review"
	"github.com/junctor-mcp/junctor/host/config/source"
	"github.com/junctor-mcp/junctor/host/lazyregexp"
	"github.com/junctor-mcp/junctor/host/lockfile"
)

var (
	labelRule   = lazyregexp.New(`^[A-Za-z][A-Za-z0-9_-]{0,63}$`)
	builtinRule = lazyregexp.New(`^builtin/[a-z0-9][a-z0-9-]{0,63}$`)
	sha256Rule  = lazyregexp.New(`^[0-9a-fA-F]{64}$`)
	envRule     = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*$`)
)

const labelWords = "letters, digits, - and _, starting with a letter, at most 64"

// A pluginsBlock is a plugins block.
type pluginsBlock struct {
	Required requiredPlugins `hcl:"required" unset:"none" doc:"The plugins that are not bundled. A key is the plugin's own name, as 'junctor plugin describe' shows it."`
}

// A requiredPlugin declares the members of an object in "required".
type requiredPlugin struct {
	_ string `hcl:"source" accepts:"'\"builtin/NAME\"' or a path" doc:"'builtin/NAME', a directory with 'junctor-plugin-NAME', or the program; relative to the file."`
	_ string `hcl:"version" accepts:"a version constraint" unset:"any" doc:"The versions of the plugin that are accepted, such as '~> 1.2'."`
	_ string `hcl:"sha256" accepts:"64 hexadecimal digits" unset:"any" doc:"The digest of the program."`
}

// requiredPlugins are objects by the plugin's own name.
type requiredPlugins struct {
	members map[string]cty.Value
	lost    bool // something is wrong with the attribute, so that its members are not known
}

// Values implements [language.Valued].
func (requiredPlugins) Values() language.Values {
	return language.ObjectsOf("an object of objects, by the plugin's own name",
		language.FormOf[requiredPlugin]().Entries)
}

// ReadSetting implements [language.Setting].
func (p *requiredPlugins) ReadSetting(r language.Reader, name string) {
	v, a, set := r.PublicValue(name, cty.DynamicPseudoType)
	switch {
	case !set:
		p.lost = a != nil
	case !v.Type().IsObjectType() && !v.Type().IsMapType():
		r.ErrorAt(a.Expr.Range(), `write required = { NAME = { source = "..." } }`, "%q must be an object, not %s",
			name, language.TypeName(v.Type()))
		p.lost = true
	default:
		p.members = v.AsValueMap()
	}
}

// A pluginSettings is a plugin block.
type pluginSettings struct {
	Name      string   `hcl:"name,label"`
	Isolation string   `hcl:"isolation" words:"shared,server" doc:"'shared': one process for all servers; 'server': one for each."`
	Env       []string `hcl:"env" accepts:"a list of names" unset:"none" doc:"Variables of Junctor's environment that the process gets."`
	Use       *string  `hcl:"use" accepts:"the name of a plugin" unset:"the label" refers:"plugin" doc:"In a block with another name: runs the plugin of this name as a separate process."`
}

// A plugin is a Plugin with the ranges of its declarations.
type plugin struct {
	Plugin
	at        hcl.Range // of its requirement, or of the first use of a bundled plugin
	versionAt hcl.Range
	required  bool
	block     hcl.Range // the label of its plugin block; empty: none
	useAt     hcl.Range // of "use" in that block; empty: it names no other plugin

	useSkipped bool // "use" is not known; see Options.Static
	lock       string
}

// requirements reads a plugins block. lock is the path of the lock file that may pin its programs.
func (t *pluginTable) requirements(s blockReader, lock string) {
	var block pluginsBlock
	language.Decode(s.Reader, &block)
	t.lost = t.lost || block.Required.lost
	for _, name := range slices.Sorted(maps.Keys(block.Required.members)) {
		t.requirement(s, lock, s.Body.Attributes["required"], name, block.Required.members[name])
	}
}

// requirement reads one member of "required".
func (t *pluginTable) requirement(r blockReader, lock string, a *hclsyntax.Attribute, name string, v cty.Value) {
	at := keyRange(a.Expr, name)
	p := &plugin{Plugin: Plugin{Name: name, Use: name, Isolation: "shared", At: source.StartOf(at)}, at: at,
		required: true, lock: lock}
	if first := t.byName[name]; first != nil {
		r.Duplicate(at, first.at, "plugin %q", name)
		return
	}
	t.byName[name] = p // also if it has a problem: it is not missing
	if !labelRule.MatchString(name) {
		r.ErrorAt(at, "", "plugin name %q: use %s", name, labelWords)
	}
	if v.IsNull() || !v.Type().IsObjectType() {
		r.ErrorAt(at, fmt.Sprintf(`write %s = { source = "..." }`, name), "plugin %q must be an object", name)
		return
	}
	words := requirementFields(r, a, name, v)
	where := func(key string) hcl.Range { return language.Locate(a.Expr, []language.Step{{Name: name}, {Name: key}}) }
	p.versionAt = where("version")
	if text, ok := words["source"]; ok || !v.Type().HasAttribute("source") {
		p.Source = programSource(r, text, where("source"), name)
	}
	p.Version, p.SHA256 = words["version"], strings.ToLower(words["sha256"])
	if _, err := version.NewConstraint(p.Version); p.Version != "" && err != nil {
		r.ErrorAt(p.versionAt, `write "1.2.3", ">= 1.2" or "~> 1.2"`,
			"plugin %q: the version constraint is malformed", name)
		p.Version = ""
	}
	if pin, set := words["sha256"]; set && !sha256Rule.MatchString(pin) {
		r.ErrorAt(where("sha256"), "", "plugin %q: sha256 must be 64 hexadecimal digits", name)
		p.SHA256 = "" // else describe would report a mismatch too
	}
}

// requirementFields reads the members of a requirement. All of them are strings.
func requirementFields(r blockReader, a *hclsyntax.Attribute, name string, v cty.Value) map[string]string {
	known := language.FormOf[requiredPlugin]().AttributeNames()
	words := map[string]string{}
	for key, value := range v.AsValueMap() {
		within := []language.Step{{Name: name}, {Name: key}}
		switch {
		case !slices.Contains(known, key):
			r.ErrorAt(keyRange(cmp.Or(language.Member(a.Expr, within[0]), a.Expr), key),
				language.DidYouMean(key, known), "plugin %q: unknown %q", name, key)
		case value.IsNull():
		case value.Type() != cty.String:
			r.ErrorAt(language.Locate(a.Expr, within), "", "plugin %q: %q must be a string, not %s",
				name, key, language.TypeName(value.Type()))
		default:
			words[key] = value.AsString()
		}
	}
	return words
}

// keyRange returns the range of a key in an object expression, or of the expression
// if it does not contain the key literally.
func keyRange(e hclsyntax.Expression, name string) hcl.Range {
	if object, ok := language.Plain(e).(*hclsyntax.ObjectConsExpr); ok {
		for _, item := range object.Items {
			if key, ok := language.Literal(item.KeyExpr); ok && key == name {
				return item.KeyExpr.Range()
			}
		}
	}
	return e.Range()
}

// programSource resolves the source of a plugin to "builtin/NAME" or an absolute path. It
// returns "" and reports a problem for any other text.
func programSource(r blockReader, text string, at hcl.Range, name string) string {
	const hint = `write "builtin/NAME", or a path that starts with ./, ../ or /`
	path := filepath.FromSlash(text)
	switch {
	case text == "":
		r.ErrorAt(at, hint, "plugin %q has no source", name)
	case strings.HasPrefix(text, "builtin/"):
		if !builtinRule.MatchString(text) {
			r.ErrorAt(at, hint, "plugin %q: the source names no bundled plugin", name)
			return ""
		}
		return text
	case filepath.IsAbs(path):
		return filepath.Clean(path)
	case text == "." || text == ".." || strings.HasPrefix(text, "./") || strings.HasPrefix(text, "../"):
		return filepath.Join(r.of.ev.Files.DirOf(at.Filename), path)
	default:
		r.ErrorAt(at, hint, "plugin %q: this version takes plugins from directories only", name)
	}
	return ""
}

// pluginBlock reads a plugin block, which says how a plugin's processes are run.
func (t *pluginTable) pluginBlock(s blockReader) {
	var settings pluginSettings
	language.Decode(s.Reader, &settings)
	name := s.Label
	if !labelRule.MatchString(name) {
		if s.Label != "" {
			s.ErrorAt(s.LabelAt, "", "plugin name %q: use %s", name, labelWords)
		}
		return
	}
	p := t.byName[name]
	if p != nil && p.block != (hcl.Range{}) {
		s.Duplicate(s.LabelAt, p.block, "plugin %q", name)
		return
	}
	if p == nil {
		p = &plugin{Plugin: Plugin{Name: name, Use: name, At: source.StartOf(s.Head)}, at: s.LabelAt}
		t.byName[name] = p
	}
	p.block = s.LabelAt
	p.Isolation = settings.Isolation
	for i, variable := range settings.Env {
		if !envRule.MatchString(variable) {
			s.ErrorAt(s.ItemAt("env", i), "", `"env" lists names of environment variables: letters, digits and _`)
			continue
		}
		p.Env = append(p.Env, variable)
	}
	if use := settings.Use; use != nil && *use != name {
		p.Use, p.useAt = *use, s.ValueAt("use", s.Head)
	}
	p.useSkipped = s.IsSkipped("use")
}

// pinPrograms sets the sha256 of every third-party plugin to that of the program
// that was reviewed. of is any scope.
func (t *pluginTable) pinPrograms(of *scope, reviewed *review.Content) {
	for _, name := range slices.Sorted(maps.Keys(t.byName)) {
		p := t.byName[name]
		if p.Source == "" || strings.HasPrefix(p.Source, "builtin/") || reviewed.Text(p.at.Filename) == nil {
			continue
		}
		pin := reviewed.Pinned(name)
		switch {
		case pin == "":
			of.empty("plugins").ErrorAt(p.at,
				`write the source as a text in quotes, or name the configuration with --config`,
				"plugin %q: its program was not reviewed when the configuration was trusted", name)
		case p.SHA256 == "":
			p.SHA256 = pin
		case p.SHA256 != pin:
			hint := "correct sha256, or put the right program there"
			if p.Locked {
				hint = lockfile.PluginHint(name)
			}
			of.empty("plugins").ErrorAt(p.at, hint,
				"plugin %q: the program has sha256 %s, not %s", name, pin, p.SHA256)
		}
	}
}

// resolvePrograms sets the program of every plugin block. of is any scope.
func (t *pluginTable) resolvePrograms(of *scope) {
	for _, name := range slices.Sorted(maps.Keys(t.byName)) {
		p := t.byName[name]
		s := of.empty(fmt.Sprintf("plugin %q", name))
		switch {
		case p.required && p.useAt != (hcl.Range{}):
			s.ErrorAt(p.useAt, "",
				"plugin %q has a source of its own in plugins { required }, so it cannot use another's", name)
		case p.required:
		case p.useAt == (hcl.Range{}) && !slices.Contains(bundled, name):
			if !t.lost && !p.useSkipped {
				s.ErrorAt(p.at, `require it, or say with "use" whose program it runs`,
					"plugin %q is not in plugins { required }", name)
			}
		default:
			t.inheritProgram(s, p)
		}
	}
}

// inheritProgram copies source, version and sha256 from the plugin that p uses.
func (t *pluginTable) inheritProgram(s blockReader, p *plugin) {
	from := t.byName[p.Use]
	switch {
	case from != nil && from.required:
		p.Source, p.Version, p.SHA256 = from.Source, from.Version, from.SHA256
	case slices.Contains(bundled, p.Use):
		p.Source = "builtin/" + p.Use
	case !t.lost:
		s.ErrorAt(p.useAt, language.DidYouMean(p.Use, t.programs()), "there is no plugin %q to use", p.Use)
	}
}

// programs lists the plugins that "use" may name.
func (t *pluginTable) programs() []string {
	names := slices.Clone(bundled)
	for name, p := range t.byName {
		if p.required {
			names = append(names, name)
		}
	}
	return names
}
