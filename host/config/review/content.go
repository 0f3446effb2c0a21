package review

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/junctor-mcp/junctor/host/config/expression"
	"github.com/junctor-mcp/junctor/host/config/language"
	"github.com/junctor-mcp/junctor/host/config/source"
	"github.com/junctor-mcp/junctor/host/lockfile"
	"github.com/junctor-mcp/junctor/sdk/sandbox"
)

// A Content is the text of a configuration, read once and not evaluated. A person
// reviews it before the configuration is used for the first time. Load with
// this Content uses exactly this text, even if the files have changed since.
//
// A Content is not safe for concurrent use.
type Content struct {
	Path string // as the user would write it
	Root string // the directory of the configuration, absolute and without symbolic links

	// Outline lists the programs, files, hosts and settings of the configuration.
	Outline []Item
	// Plugins are the plugins that are not bundled.
	Plugins []Plugin
	// Named is true if the user named the configuration, so that its secret_store and its audit
	// block count.
	Named bool

	texts    []source.NamedText
	settings map[string]string  // digests of the settings in texts, by ContentFile.Name; see Settings
	included map[string]include // the files below Root that file() reads, by absolute path
	links    map[string]string  // targets of other symbolic links below Root that lead out of it
	programs map[string]string  // sha256 of plugins' programs, by Plugin.Name; see Pin
	lock     []byte             // the lock file; see lockErr
	lockErr  error              // why it was not read: fs.ErrNotExist if there is none
}

// An include is a file that file() names, as it was when the Content was read. A
// symbolic link out of Root is not followed before the user has trusted the
// configuration. Then link is its target, and Load reads the target.
type include struct {
	text []byte
	err  error
	link string
}

// include reads the files below Root that file() names in a source. Files elsewhere
// belong to the user, not to the author of the configuration.
func (c *Content) include(s *source.File) {
	_ = hclsyntax.VisitAll(s.Body, func(n hclsyntax.Node) hcl.Diagnostics {
		call, ok := n.(*hclsyntax.FunctionCallExpr)
		if !ok || call.Name != "file" || len(call.Args) != 1 {
			return nil
		}
		name, ok := language.Literal(call.Args[0])
		if !ok {
			return nil
		}
		path := source.AbsoluteIn(s.Dir, name)
		if _, known := c.included[path]; known || source.IsRemote(path, c.Root) || !c.covers(path) {
			return nil
		}
		var in include
		if in.link = c.leadsOut(path); in.link == "" {
			in.text, in.err = source.ReadFile(path, expression.MaxIncluded)
		}
		c.included[path] = in
		return nil
	})
}

// covers reports whether a path is below Root, as it is written or behind
// symbolic links.
func (c *Content) covers(path string) bool {
	if source.Below(c.Root, path) {
		return true
	}
	// The directory may exist if the file does not.
	for _, p := range []string{path, filepath.Dir(path)} {
		if real, err := filepath.EvalSymlinks(p); err == nil && source.Holds(c.Root, real) {
			return true
		}
	}
	return false
}

// leadsOut returns the target of a path below Root if symbolic links lead out of
// Root, and "" otherwise. The target need not exist.
func (c *Content) leadsOut(path string) string {
	real, links, err := sandbox.Walk(path)
	if err != nil || len(links) == 0 || source.Holds(c.Root, real) || !c.covers(path) {
		return ""
	}
	return real
}

// errNotReviewed is the error for a file below Root that was not reviewed.
var errNotReviewed = errors.New("a file below the directory of a configuration that was found there must be named by a text in quotes and nothing else")

// ReadFile returns the content of a file for file(). Below Root it returns the reviewed
// content, and fails for a file that was not reviewed. c may be nil.
func (c *Content) ReadFile(path string) ([]byte, error) {
	if c == nil {
		return source.ReadFile(path, expression.MaxIncluded)
	}
	path = filepath.Clean(path)
	if known, ok := c.included[path]; ok {
		if known.link != "" {
			return source.ReadFile(known.link, expression.MaxIncluded)
		}
		return known.text, known.err
	}
	if c.covers(path) {
		return nil, errNotReviewed
	}
	return source.ReadFile(path, expression.MaxIncluded)
}

// Text returns the text of a file of the configuration by its name there, or nil.
func (c *Content) Text(name string) []byte {
	for _, t := range c.texts {
		if t.Name == name {
			return t.Text
		}
	}
	return nil
}

// Texts returns the files of the configuration.
func (c *Content) Texts() []source.NamedText { return c.texts }

// Lock returns the text of the lock file. The error is [fs.ErrNotExist] if there is none.
func (c *Content) Lock() ([]byte, error) { return c.lock, c.lockErr }

// Pinned returns the sha256 that Pin recorded for the program of a plugin, or "".
func (c *Content) Pinned(plugin string) string { return c.programs[plugin] }

// Pin records the sha256 of a plugin's program. Load rejects another program.
func (c *Content) Pin(plugin, sha256 string) { c.programs[plugin] = sha256 }

// Digest returns the sha256 of the configuration: its files, the files below Root
// that file() reads, the lock file and the pinned programs. It does not depend on the
// directory.
func (c *Content) Digest() string {
	h := sha256.New()
	for _, f := range c.Files() {
		h.Write([]byte("file\x00" + f.Name + "\x00" + f.SHA256 + "\n"))
	}
	c.writePrograms(h)
	return hex.EncodeToString(h.Sum(nil))
}

// writePrograms writes the digests of the pinned programs.
func (c *Content) writePrograms(w io.Writer) {
	for _, name := range slices.Sorted(maps.Keys(c.programs)) {
		_, _ = io.WriteString(w, "program\x00"+name+"\x00"+textDigest([]byte(c.programs[name]))+"\n")
	}
}

// A ContentFile is one file of a configuration.
type ContentFile struct {
	Name   string // relative to the configuration's directory, with slashes
	SHA256 string // hex; "absent" for a file that could not be read, "link to PATH" for one that is elsewhere
}

// Files lists the files that Digest covers, sorted by name, without programs.
func (c *Content) Files() []ContentFile {
	var all []ContentFile
	add := func(path string, text []byte, err error) {
		digest := textDigest(text)
		if err != nil {
			digest = "absent"
		}
		all = append(all, ContentFile{c.relative(path), digest})
	}
	for _, t := range c.texts {
		add(source.AbsoluteIn(cmp.Or(t.Module, c.Root), filepath.Base(t.Name)), t.Text, nil)
	}
	for path, in := range c.included {
		if in.link != "" {
			all = append(all, ContentFile{c.relative(path), "link to " + in.link})
			continue
		}
		add(path, in.text, in.err)
	}
	for path, link := range c.links {
		all = append(all, ContentFile{c.relative(path), "link to " + link})
	}
	if !errors.Is(c.lockErr, fs.ErrNotExist) {
		add(filepath.Join(c.Root, lockfile.Name), c.lock, c.lockErr)
	}
	slices.SortFunc(all, func(a, b ContentFile) int { return strings.Compare(a.Name+a.SHA256, b.Name+b.SHA256) })
	return all
}

// LockSHA256 returns the SHA-256 of the lock file; "" if there is none or it cannot be read.
func (c *Content) LockSHA256() string {
	if c.lockErr != nil {
		return ""
	}
	return textDigest(c.lock)
}

// textDigest returns the SHA-256 of a text in hexadecimal digits.
func textDigest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// relative returns a path relative to Root, with slashes.
func (c *Content) relative(path string) string {
	rel, err := filepath.Rel(c.Root, path)
	if err != nil {
		return filepath.ToSlash(path)
	}
	return filepath.ToSlash(rel)
}
