package config

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"sync"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/junctor-mcp/junctor/host/config/language"
	"github.com/junctor-mcp/junctor/host/config/source"
)

// A module is a directory of HCL files with variables and servers. A module block uses
// it with values for its variables. The servers of module "base" are called
// base_NAME.

const (
	mostModules   = 200 // uses of modules in one configuration
	deepestModule = 8   // modules in each other
)

// moduleForm lists the blocks of a file of a module.
var moduleForm = sync.OnceValue(func() *language.Form {
	f := &language.Form{Blocks: map[string]language.Shape{}}
	for _, name := range []string{"variable", "locals", "server", "module", "defaults"} {
		f.Blocks[name] = topLevelForm().Blocks[name]
	}
	return f
})

// moduleBlockForm lists the attributes of a module block.
var moduleBlockForm = language.Form{
	Entries: []language.Entry{{Name: "source", Values: language.Texts("a path"), Required: true, Doc: "The directory of the module, relative to the file. Nothing is downloaded."}},
	Open:    "The value of a variable of the module.",
}

// An argument is the value that a module block has for a variable.
type argument struct {
	value cty.Value // NilVal: its problem was reported
	at    hcl.Range
}

// readModules reads and parses the modules that files use, and those that these use. It
// returns false if a file has a syntax error.
func (l *loader) readModules(sources []*source.File, within []string) bool {
	whole := true
	for _, s := range sources {
		if s.Body == nil {
			continue
		}
		for _, b := range s.Body.Blocks {
			if b.Type != "module" {
				continue
			}
			dir, ok := l.moduleDirectory(s, b)
			if _, known := l.moduleFiles[dir]; !ok || known && !slices.Contains(within, dir) {
				continue
			}
			at := b.Body.Attributes["source"].Expr.Range()
			switch {
			case slices.Contains(within, dir):
				l.files.Problem(language.Problem{In: language.TitleOf(b), At: at, Summary: "the module uses itself"})
			case len(within) >= deepestModule:
				l.files.Problem(language.Problem{In: language.TitleOf(b), At: at, Summary: fmt.Sprintf("modules use each other more than %d deep", deepestModule)})
			default:
				files := l.readModule(s, b, dir)
				l.moduleFiles[dir] = files
				whole = l.files.Parse(files) && l.readModules(files, append(slices.Clone(within), dir)) && whole
			}
		}
	}
	return whole
}

// moduleDirectory returns the directory of the module that a block uses, as an absolute
// path without symbolic links.
func (l *loader) moduleDirectory(s *source.File, b *hclsyntax.Block) (dir string, ok bool) {
	const hint = `write source = "./modules/NAME"`
	a := b.Body.Attributes["source"]
	if a == nil {
		l.files.Problem(language.Problem{In: language.TitleOf(b), At: b.TypeRange, Hint: hint, Summary: "a module has a source"})
		return "", false
	}
	fail := func(hint, summary string) (string, bool) {
		l.files.Problem(language.Problem{In: language.TitleOf(b), At: a.Expr.Range(), Hint: hint, Summary: summary})
		return "", false
	}
	text, literal := language.Literal(a.Expr)
	if !literal || text == "" {
		return fail(hint, `"source" is a text in quotes and nothing else`)
	}
	path := absoluteIn(s.Dir, filepath.FromSlash(text))
	if l.reviewed(s) && isRemote(path, l.root) {
		return fail("", "the module is on another machine")
	}
	real, err := source.Canonical(path)
	switch {
	case err != nil:
		return fail("a module is a directory of *.hcl files; nothing is downloaded", "cannot read the module: "+source.Cause(err).Error())
	case l.Static && !(&Content{Root: l.root}).holds(real):
		return "", false
	case l.reviewed(s) && !(&Content{Root: l.root}).holds(real):
		return fail("move it there, or remove the trust with `junctor trust --revoke`, if there is one, and name the configuration with --config", "the module is not in the directory of the configuration, so it cannot be reviewed")
	}
	return real, true
}

// reviewed reports whether a file belongs to a configuration that a person has to review.
func (l *loader) reviewed(s *source.File) bool {
	return l.root != "" && (&Content{Root: l.root}).holds(s.Dir)
}

// readModule adds the files of a module that a file uses.
func (l *loader) readModule(s *source.File, b *hclsyntax.Block, dir string) []*source.File {
	if l.Content != nil && l.reviewed(s) {
		var files []*source.File
		for _, t := range l.Content.texts {
			if t.module == dir {
				files = append(files, l.files.Add(t.name, t.text))
			}
		}
		return files
	}
	text, _ := language.Literal(b.Body.Attributes["source"].Expr)
	path := filepath.FromSlash(text) // as messages have it
	if !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(s.Name), path)
	}
	names, err := source.FilesAt(path)
	if err == nil && len(names) == 1 && names[0] == path {
		err = fmt.Errorf("%s is not a directory", filepath.Base(dir))
	}
	if err != nil {
		l.files.Problem(language.Problem{In: language.TitleOf(b), At: b.Body.Attributes["source"].Expr.Range(), Hint: "a module is a directory of *.hcl files", Summary: "cannot read the module: " + err.Error()})
		return nil
	}
	for _, name := range names {
		if real, err := source.Canonical(name); l.reviewed(s) && err == nil && !(&Content{Root: l.root}).holds(real) {
			l.files.Problem(language.Problem{In: language.TitleOf(b), At: b.Body.Attributes["source"].Expr.Range(), Hint: "copy the file there, or name the configuration with --config",
				Summary: fmt.Sprintf("%s of the module is a link out of the directory of the configuration, so it cannot be reviewed", filepath.Base(name))})
			return nil
		}
	}
	return l.files.ReadFiles(names)
}

// module reads one module block of the present scope.
func (l *loader) module(b *hclsyntax.Block) {
	r := l.openBlock(b, "")
	if len(b.Labels) != 1 {
		return // reported
	}
	for _, inner := range b.Body.Blocks {
		r.ErrorAt(inner.TypeRange, fmt.Sprintf("write %s = ..., with an equals sign", inner.Type), "a module block has no blocks, only values for the variables of the module")
	}
	if !labelRule.MatchString(r.Label) {
		r.ErrorAt(r.LabelAt, "", "module name %q: use %s", r.Label, labelWords)
		return
	}
	for _, m := range l.scope.modules {
		if m.owner == l.owner+r.Label+"_" {
			r.ErrorAt(r.LabelAt, "give one of them another name", "module %q appears twice", r.Label)
			return
		}
	}
	if l.moduleUses++; l.moduleUses > mostModules {
		r.ErrorAt(r.Head, "", "a configuration uses at most %d modules", mostModules)
		return
	}
	file := l.files.File(b.TypeRange.Filename)
	dir, ok := l.quietly(func() (string, bool) { return l.moduleDirectory(file, b) })
	files := l.moduleFiles[dir]
	if !ok || files == nil || slices.Contains(l.scope.within, dir) {
		return // reported when the modules were read
	}
	inner := newScope(l.layer)
	inner.owner, inner.sources, inner.given = l.owner+r.Label+"_", files, map[string]argument{}
	inner.within = append(slices.Clone(l.scope.within), dir)
	for _, name := range slices.Sorted(maps.Keys(b.Body.Attributes)) {
		a := b.Body.Attributes[name]
		r.files.Reveal(a)
		if name == "source" {
			continue
		}
		v, ok := r.eval(r.In, a.Expr)
		if !ok {
			v = cty.NilVal
		}
		inner.given[name] = argument{value: v, at: a.NameRange}
	}
	l.scope.modules = append(l.scope.modules, inner)
	l.collect(inner, moduleForm())
	for name, given := range inner.given {
		if inner.variables[name] == nil {
			known := slices.Sorted(maps.Keys(inner.variables))
			r.ErrorAt(given.at, language.DidYouMean(name, known), "the module has no variable %q", name)
		}
	}
	l.inScope(inner, func() { l.readDefaults(inner.top["defaults"]) })
}

// quietly calls do and drops the problems that it reports.
func (l *loader) quietly(do func() (string, bool)) (string, bool) {
	before := l.files.Count()
	defer l.files.Forget(before)
	return do()
}
