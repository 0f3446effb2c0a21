package source

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/junctor-mcp/junctor/host/config/language"
)

const deepestModule = 8 // modules in each other

// A NamedText is the text of a file that was reviewed.
type NamedText struct {
	Name   string // as messages have it
	Module string // the directory of the module that it belongs to; empty: the configuration itself
	Text   []byte
}

// A Tree is the files of a configuration and of the modules that they use. It belongs to one load
// or one review, and to its goroutine.
type Tree struct {
	Files  *Set
	Root   string // the directory that was reviewed; empty: the configuration needs no review
	Static bool   // modules outside of root are left out

	Reviewed []NamedText        // in place of the files below root; nil: the files are read
	Modules  map[string][]*File // by directory
}

// NewTree returns a tree without modules.
func NewTree(files *Set) *Tree {
	return &Tree{Files: files, Modules: map[string][]*File{}}
}

// Parse parses every file and the modules that they use. It returns false if a file has a
// syntax error.
func (t *Tree) Parse() bool {
	files := slices.Clone(t.Files.All)
	return t.Files.Parse(files) && t.readModules(files, nil)
}

// AddTexts adds the reviewed files of a module, or of the configuration itself.
func (t *Tree) AddTexts(module string) (files []*File) {
	for _, text := range t.Reviewed {
		if text.Module == module {
			files = append(files, t.Files.Add(text.Name, text.Text))
		}
	}
	return files
}

// Used returns the directory and the files of the module that a block uses. It reports nothing.
func (t *Tree) Used(b *hclsyntax.Block) (dir string, files []*File) {
	before := t.Files.Count()
	dir, ok := t.directory(t.Files.File(b.TypeRange.Filename), b)
	t.Files.Forget(before) // it was reported when the module was read
	if !ok {
		return "", nil
	}
	return dir, t.Modules[dir]
}

// readModules reads and parses the modules that files use, and those that these use. It
// returns false if a file has a syntax error.
func (t *Tree) readModules(sources []*File, within []string) bool {
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
			if _, known := t.Modules[dir]; !ok || known && !slices.Contains(within, dir) {
				continue
			}
			at := b.Body.Attributes["source"].Expr.Range()
			switch {
			case slices.Contains(within, dir):
				t.Files.Problem(language.Problem{In: language.TitleOf(b), At: at, Summary: "the module uses itself"})
			case len(within) >= deepestModule:
				t.Files.Problem(language.Problem{In: language.TitleOf(b), At: at,
					Summary: fmt.Sprintf("modules use each other more than %d deep", deepestModule)})
			default:
				files := t.readModule(s, b, dir)
				t.Modules[dir] = files
				whole = t.Files.Parse(files) && t.readModules(files, append(slices.Clone(within), dir)) && whole
			}
		}
	}
	return whole
}

// directory returns the directory of the module that a block uses, as an absolute
// path without symbolic links.
func (t *Tree) directory(s *File, b *hclsyntax.Block) (dir string, ok bool) {
	const hint = `write source = "./modules/NAME"`
	a := b.Body.Attributes["source"]
	if a == nil {
		t.Files.Problem(language.Problem{In: language.TitleOf(b), At: b.TypeRange, Hint: hint,
			Summary: "a module has a source"})
		return "", false
	}
	fail := func(hint, summary string) (string, bool) {
		t.Files.Problem(language.Problem{In: language.TitleOf(b), At: a.Expr.Range(), Hint: hint, Summary: summary})
		return "", false
	}
	text, literal := language.Literal(a.Expr)
	if !literal || text == "" {
		return fail(hint, `"source" is a text in quotes and nothing else`)
	}
	path := AbsoluteIn(s.Dir, filepath.FromSlash(text))
	if t.isReviewed(s) && IsRemote(path, t.Root) {
		return fail("", "the module is on another machine")
	}
	real, err := Canonical(path)
	switch {
	case err != nil:
		return fail("a module is a directory of *.hcl files; nothing is downloaded",
			"cannot read the module: "+Cause(err).Error())
	case t.Static && !Holds(t.Root, real):
		return "", false
	case t.isReviewed(s) && !Holds(t.Root, real):
		return fail("move it there, or remove the trust with `junctor trust --revoke`, if there is one, and name the configuration with --config",
			"the module is not in the directory of the configuration, so it cannot be reviewed")
	}
	return real, true
}

// isReviewed reports whether a file belongs to a configuration that a person has to review.
func (t *Tree) isReviewed(s *File) bool {
	return t.Root != "" && Holds(t.Root, s.Dir)
}

// readModule adds the files of a module that a file uses.
func (t *Tree) readModule(s *File, b *hclsyntax.Block, dir string) []*File {
	if t.Reviewed != nil && t.isReviewed(s) {
		return t.AddTexts(dir)
	}
	text, _ := language.Literal(b.Body.Attributes["source"].Expr)
	path := filepath.FromSlash(text) // as messages have it
	if !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(s.Name), path)
	}
	names, err := FilesAt(path)
	if err == nil && len(names) == 1 && names[0] == path {
		err = fmt.Errorf("%s is not a directory", filepath.Base(dir))
	}
	if err != nil {
		t.Files.Problem(language.Problem{In: language.TitleOf(b), At: b.Body.Attributes["source"].Expr.Range(),
			Hint: "a module is a directory of *.hcl files", Summary: "cannot read the module: " + err.Error()})
		return nil
	}
	for _, name := range names {
		if real, err := Canonical(name); t.isReviewed(s) && err == nil && !Holds(t.Root, real) {
			t.Files.Problem(language.Problem{In: language.TitleOf(b), At: b.Body.Attributes["source"].Expr.Range(),
				Hint: "copy the file there, or name the configuration with --config",
				Summary: fmt.Sprintf(
					"%s of the module is a link out of the directory of the configuration, so it cannot be reviewed",
					filepath.Base(name),
				)})
			return nil
		}
	}
	return t.Files.ReadFiles(names)
}

// ModuleOf returns the directory of the module that a file belongs to, or "".
func (t *Tree) ModuleOf(s *File) string {
	for dir, files := range t.Modules {
		if slices.Contains(files, s) {
			return dir
		}
	}
	return ""
}
