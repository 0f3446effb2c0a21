package config

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/junctor-mcp/junctor/host/config/language"
	"github.com/junctor-mcp/junctor/host/config/source"
)

const deepestModule = 8 // modules in each other

// A NamedText is the text of a file that was reviewed.
type NamedText struct {
	Name   string // as messages have it
	Module string // the directory of the module that it belongs to; empty: the configuration itself
	Text   []byte
}

// A tree is the files of a configuration and of the modules that they use.
type tree struct {
	files  *source.Set
	root   string // the directory that was reviewed; empty: the configuration needs no review
	static bool   // modules outside of root are left out

	reviewed []NamedText               // in place of the files below root; nil: the files are read
	modules  map[string][]*source.File // by directory
}

// newTree returns a tree without modules.
func newTree(files *source.Set) *tree {
	return &tree{files: files, modules: map[string][]*source.File{}}
}

// parse parses every file and the modules that they use. It returns false if a file has a
// syntax error.
func (t *tree) parse() bool {
	files := slices.Clone(t.files.All)
	return t.files.Parse(files) && t.readModules(files, nil)
}

// AddTexts adds the reviewed files of a module, or of the configuration itself.
func (t *tree) AddTexts(module string) (files []*source.File) {
	for _, text := range t.reviewed {
		if text.Module == module {
			files = append(files, t.files.Add(text.Name, text.Text))
		}
	}
	return files
}

// used returns the directory and the files of the module that a block uses. It reports nothing.
func (t *tree) used(b *hclsyntax.Block) (dir string, files []*source.File) {
	before := t.files.Count()
	dir, ok := t.directory(t.files.File(b.TypeRange.Filename), b)
	t.files.Forget(before) // it was reported when the module was read
	if !ok {
		return "", nil
	}
	return dir, t.modules[dir]
}

// readModules reads and parses the modules that files use, and those that these use. It
// returns false if a file has a syntax error.
func (t *tree) readModules(sources []*source.File, within []string) bool {
	whole := true
	for _, s := range sources {
		if s.Body == nil {
			continue
		}
		for _, b := range s.Body.Blocks {
			if b.Type != "module" {
				continue
			}
			dir, ok := t.directory(s, b)
			if _, known := t.modules[dir]; !ok || known && !slices.Contains(within, dir) {
				continue
			}
			at := b.Body.Attributes["source"].Expr.Range()
			switch {
			case slices.Contains(within, dir):
				t.files.Problem(language.Problem{In: language.TitleOf(b), At: at, Summary: "the module uses itself"})
			case len(within) >= deepestModule:
				t.files.Problem(language.Problem{In: language.TitleOf(b), At: at, Summary: fmt.Sprintf("modules use each other more than %d deep", deepestModule)})
			default:
				files := t.readModule(s, b, dir)
				t.modules[dir] = files
				whole = t.files.Parse(files) && t.readModules(files, append(slices.Clone(within), dir)) && whole
			}
		}
	}
	return whole
}

// directory returns the directory of the module that a block uses, as an absolute
// path without symbolic links.
func (t *tree) directory(s *source.File, b *hclsyntax.Block) (dir string, ok bool) {
	const hint = `write source = "./modules/NAME"`
	a := b.Body.Attributes["source"]
	if a == nil {
		t.files.Problem(language.Problem{In: language.TitleOf(b), At: b.TypeRange, Hint: hint, Summary: "a module has a source"})
		return "", false
	}
	fail := func(hint, summary string) (string, bool) {
		t.files.Problem(language.Problem{In: language.TitleOf(b), At: a.Expr.Range(), Hint: hint, Summary: summary})
		return "", false
	}
	text, literal := language.Literal(a.Expr)
	if !literal || text == "" {
		return fail(hint, `"source" is a text in quotes and nothing else`)
	}
	path := absoluteIn(s.Dir, filepath.FromSlash(text))
	if t.isReviewed(s) && isRemote(path, t.root) {
		return fail("", "the module is on another machine")
	}
	real, err := source.Canonical(path)
	switch {
	case err != nil:
		return fail("a module is a directory of *.hcl files; nothing is downloaded", "cannot read the module: "+source.Cause(err).Error())
	case t.static && !holds(t.root, real):
		return "", false
	case t.isReviewed(s) && !holds(t.root, real):
		return fail("move it there, or remove the trust with `junctor trust --revoke`, if there is one, and name the configuration with --config", "the module is not in the directory of the configuration, so it cannot be reviewed")
	}
	return real, true
}

// isReviewed reports whether a file belongs to a configuration that a person has to review.
func (t *tree) isReviewed(s *source.File) bool {
	return t.root != "" && holds(t.root, s.Dir)
}

// readModule adds the files of a module that a file uses.
func (t *tree) readModule(s *source.File, b *hclsyntax.Block, dir string) []*source.File {
	if t.reviewed != nil && t.isReviewed(s) {
		return t.AddTexts(dir)
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
		t.files.Problem(language.Problem{In: language.TitleOf(b), At: b.Body.Attributes["source"].Expr.Range(), Hint: "a module is a directory of *.hcl files", Summary: "cannot read the module: " + err.Error()})
		return nil
	}
	for _, name := range names {
		if real, err := source.Canonical(name); t.isReviewed(s) && err == nil && !holds(t.root, real) {
			t.files.Problem(language.Problem{In: language.TitleOf(b), At: b.Body.Attributes["source"].Expr.Range(), Hint: "copy the file there, or name the configuration with --config",
				Summary: fmt.Sprintf("%s of the module is a link out of the directory of the configuration, so it cannot be reviewed", filepath.Base(name))})
			return nil
		}
	}
	return t.files.ReadFiles(names)
}

// moduleOf returns the directory of the module that a file belongs to, or "".
func (t *tree) moduleOf(s *source.File) string {
	for dir, files := range t.modules {
		if slices.Contains(files, s) {
			return dir
		}
	}
	return ""
}
