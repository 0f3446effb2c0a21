package review

import (
	"os"
	"path/filepath"

	"github.com/hashicorp/hcl/v2"

	"github.com/junctor-mcp/junctor/host/config/language"
	"github.com/junctor-mcp/junctor/host/config/source"
	"github.com/junctor-mcp/junctor/host/lockfile"
)

// Read reads and parses the configuration at path, a file or a directory. It
// evaluates no expression and starts no program. It opens only the files of the
// configuration and files below its directory that file() names. The Content is nil
// exactly if a diagnostic is an error. Package config calls it, and passes its Facts.
func Read(path string, f Facts) (*Content, source.Diagnostics) {
	return readContent(path, f, nil, true)
}

// ReadText is [Read] for the text that the file at path is to have, which may use
// modules in any directory.
func ReadText(path string, text []byte, f Facts) (*Content, source.Diagnostics) {
	if text == nil {
		text = []byte{} // of a new file
	}
	return readContent(path, f, map[string][]byte{path: text}, false)
}

// Digest returns a text that changes with the content of the configuration at path, which
// may use modules in any directory.
func Digest(path string, f Facts) string {
	content, diags := readContent(path, f, nil, false)
	if content == nil {
		return "invalid: " + diags.Err().Error()
	}
	return content.Digest()
}

// readContent is Read; the modules of a content that is for a review are in the directory of the
// configuration. texts are those of files as an editor has them.
func readContent(path string, f Facts, texts map[string][]byte, review bool) (*Content, source.Diagnostics) {
	files, dir := source.NewSet(f.Words), source.RootOf(path)
	files.Texts = texts
	if texts[path] != nil {
		dir = filepath.Dir(path) // the file may be new
	}
	files.Read(path)
	t := source.NewTree(files)
	root, err := source.Canonical(dir)
	if err == nil && review { // else it is reported below
		t.Root = root
	}
	if files.Count() > 0 || !t.Parse() || files.Count() > 0 {
		return nil, files.Diagnostics()
	}
	if err != nil {
		files.Problem(language.Problem{
			At:      hcl.Range{Filename: path},
			Summary: "cannot find the directory of the configuration: " + source.Cause(err).Error(),
		})
		return nil, files.Diagnostics()
	}
	c := newContent(path, root)
	for _, file := range files.All {
		module := t.ModuleOf(file)
		c.texts = append(c.texts, source.NamedText{Name: file.Name, Module: module, Text: file.Text})
		c.keepSettings(file, module)
		c.include(file)
	}
	if f.Lookup == nil {
		f.Lookup = os.LookupEnv
	}
	out := outliner{tree: t, facts: f, content: c}
	c.Outline, c.Plugins = out.outline()
	return c, files.Diagnostics()
}

// newContent returns the content of a configuration without files, but for its lock file.
func newContent(path, root string) *Content {
	c := &Content{
		Path:     path,
		Root:     root,
		included: map[string]include{},
		links:    map[string]string{},
		programs: map[string]string{},
		settings: map[string]string{},
	}
	c.lock, c.lockErr = source.ReadFile(filepath.Join(root, lockfile.Name), lockfile.MaxBytes)
	return c
}
