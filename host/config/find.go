package config

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/junctor-mcp/junctor/host/config/source"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/ownership"
)

// A Location is a configuration and how it was chosen. Package invocation passes it from Find to the
// question of trust and to Load. Nothing in this file reads a configuration's text.
type Location struct {
	Path string // a file, or a directory of *.hcl files, as the user would write it

	// Found is true for a junctor.hcl, of the working directory or one above, that the user did not
	// name. Another person
	// may have written it, so it must not be loaded before the user has trusted it.
	// It is also true for a file that the user named and had trusted: see Named.
	Found bool

	// Named is true where the user named the file.
	Named bool

	// Text is the configuration itself if it is not in a file. Path is then its name.
	Text []byte

	// Own is true for the user's own configuration, also if the user named it.
	Own bool

	// Under are the weaker layers, the strongest first. They need no review.
	Under []Location
}

// UnderPaths returns the paths of the weaker layers.
func (l Location) UnderPaths() (paths []string) {
	for _, u := range l.Under {
		paths = append(paths, u.Path)
	}
	return paths
}

// Has reports whether a file is the configuration, or one of the files of its directory, under
// whatever name.
func (l Location) Has(file string) bool {
	if l.Text != nil {
		return false
	}
	names, err := source.FilesAt(l.Path)
	return err == nil && slices.ContainsFunc(names, func(name string) bool { return source.SameFile(name, file) })
}

// Names returns the absolute paths of the configuration with the links of its first directories
// resolved, of none to all. Where a directory was replaced by a link, one of them is the path
// that it had before.
func (l Location) Names() []string {
	path, err := filepath.Abs(l.Path)
	if err != nil || l.Text != nil {
		return nil
	}
	all := []string{path}
	for i := 1; i < len(path); i++ {
		if path[i] != filepath.Separator {
			continue
		}
		if real, err := filepath.EvalSymlinks(path[:i]); err == nil && real != path[:i] {
			all = append(all, filepath.Join(real, path[i:]))
		}
	}
	return all
}

// Canonical returns the absolute path of the configuration in a directory without
// symbolic links. A file that is itself a symbolic link keeps its own name.
// Relative paths in it start at the link's directory, so two links to one file are
// two configurations. Canonical fails when the path does not exist.
func (l Location) Canonical() (string, error) {
	info, err := os.Stat(l.Path)
	if err != nil {
		return "", err
	}
	if info.IsDir() {
		return source.Canonical(l.Path)
	}
	path, err := filepath.Abs(l.Path)
	if err != nil {
		return "", err
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	return filepath.Join(dir, filepath.Base(path)), err
}

// staticRoot returns the directory that modules must be in.
func (o *Options) staticRoot() string {
	dir := filepath.Dir(o.Path)
	if o.Texts[o.Path] == nil && o.Text == nil {
		dir = source.RootOf(o.Path)
	}
	if real, err := source.Canonical(dir); err == nil {
		return real
	}
	return dir
}

// FoundName is the name of the configuration of a project.
const FoundName = "junctor.hcl"

// InlineVariable names the variable that holds the text of a configuration.
const InlineVariable = "JUNCTOR_CONFIG_INLINE"

// FindLayers is [Find] for several explicit paths, of which each is stronger than the one
// before.
func FindLayers(explicit []string, lookup func(string) (string, bool)) (Location, error) {
	if len(explicit) == 0 {
		return Find("", lookup)
	}
	var layers []Location // the strongest first
	for _, path := range explicit {
		at, err := Find(path, lookup)
		if err != nil {
			return Location{}, err
		}
		layers = append([]Location{at}, layers...)
	}
	at := layers[0]
	at.Under = layers[1:]
	return at, nil
}

// Find returns the configuration to load: explicit if it is not empty, else
// $JUNCTOR_CONFIG, else the text in $JUNCTOR_CONFIG_INLINE, else the junctor.hcl of this
// directory or the nearest one above (see projectFile), above the user's own files for the project
// and for everything, else the latter. A nil lookup is [os.LookupEnv].
//
// Its error is a [*fault.Error] of code [fault.ConfigMissing], or [fault.Usage] if both
// variables are set.
func Find(explicit string, lookup func(string) (string, bool)) (Location, error) {
	if lookup == nil {
		lookup = os.LookupEnv
	}
	own := userFile(lookup)
	if explicit != "" {
		return named(explicit, own, "as asked for")
	}
	text, _ := lookup(InlineVariable)
	path, _ := lookup("JUNCTOR_CONFIG")
	switch {
	case path != "" && text != "":
		return Location{}, fault.New(fault.Usage, "JUNCTOR_CONFIG and %s are both set", InlineVariable).
			WithHint("unset one of them")
	case text != "":
		return Location{Path: InlineVariable, Text: []byte(text)}, nil
	case path != "":
		return named(path, own, "which JUNCTOR_CONFIG names")
	}
	places := []string{FoundName + " here and in the directories above"}
	if own != "" {
		places = append(places, own)
	}
	hasOwn := own != "" && present(own)
	project := projectFile(lookup)
	switch {
	case project != "" && isOwn(project, own):
		return Location{Path: project, Own: true}, nil
	case project != "":
		at := Location{Path: project, Found: true}
		if private := PrivatePath(project, lookup); private != "" && present(private) {
			at.Under = append(at.Under, Location{Path: private, Own: true})
		}
		if hasOwn {
			at.Under = append(at.Under, Location{Path: own, Own: true})
		}
		return at, nil
	case hasOwn:
		return Location{Path: own, Own: true}, nil
	}
	return Location{}, fault.New(fault.ConfigMissing, "no configuration found; looked at %s",
		strings.Join(places, ", and at ")).
		WithHint("run `junctor add NAME -- COMMAND` to add a server, `junctor init` to take over those of your clients, or write junctor.hcl; --config and JUNCTOR_CONFIG name a file or directory elsewhere")
}

// named returns the location of a path that the user named. why says how.
func named(path, own, why string) (Location, error) {
	if present(path) {
		return Location{Path: path, Own: isOwn(path, own)}, nil
	}
	return Location{}, fault.New(fault.ConfigMissing, "there is no configuration at %s, %s", path, why).
		WithHint("check the path; it is a file, or a directory of *.hcl files")
}

// isOwn reports whether a path is the user's own configuration: the same file in the
// same directory. A link to it in another directory is another configuration, because
// relative paths in it resolve differently.
func isOwn(path, own string) bool {
	return own != "" && source.SameFile(path, own) && source.SameFile(filepath.Dir(path), filepath.Dir(own))
}

// present reports whether a path exists. It returns true if that cannot be determined;
// Load reports the reason.
func present(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// userFile returns the path of the user's own configuration, or "" without a home
// directory.
func userFile(lookup func(string) (string, bool)) string {
	if home, _ := lookup("JUNCTOR_HOME"); home != "" {
		return filepath.Join(home, "config", "junctor.hcl")
	}
	// The XDG specification says to ignore a relative path.
	if dir, _ := lookup("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "junctor", "junctor.hcl")
	}
	if home, _ := lookup("HOME"); home != "" {
		return filepath.Join(home, ".config", "junctor", "junctor.hcl")
	}
	return ""
}

// OwnPath returns the path of the user's own configuration; empty if the user has no
// directory for it.
func OwnPath(lookup func(string) (string, bool)) string { return userFile(lookup) }

// projectFile returns the configuration of the project that the working directory is in: ./junctor.hcl,
// or else the absolute path of the one in the nearest directory above. It returns "" if there is
// none. The search ends at a directory with .git, below the home directory, at the border of a
// file system, and at a file that belongs to another user.
func projectFile(lookup func(string) (string, bool)) string {
	if present(FoundName) {
		return FoundName
	}
	dir, err := os.Getwd()
	if err != nil {
		return ""
	}
	home, _ := lookup("HOME")
	for !present(filepath.Join(dir, ".git")) && !isHome(dir, home) {
		above := filepath.Dir(dir)
		if above == dir || isHome(above, home) || !ownership.SameDevice(above, dir) {
			return ""
		}
		dir = above
		path := filepath.Join(dir, FoundName)
		if _, err := os.Lstat(path); err != nil {
			continue // also a directory that cannot be read
		}
		if !ownership.Own(path) {
			return ""
		}
		return path
	}
	return ""
}

// PrivatePath returns the path of the configuration that a user has for a project alone, beside
// the user's own one, where no repository has it. file is that of the
// project. The result is "" without a home directory.
func PrivatePath(file string, lookup func(string) (string, bool)) string {
	own := userFile(lookup)
	dir, err := source.Canonical(filepath.Dir(file))
	if own == "" || err != nil {
		return ""
	}
	name := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("._-", r) {
			return r
		}
		return '_'
	}, filepath.Base(dir))
	sum := sha256.Sum256([]byte(dir))
	return filepath.Join(filepath.Dir(own), "projects", fmt.Sprintf("%s-%x.hcl", name, sum[:6]))
}

// isHome reports whether a directory is the home directory.
func isHome(dir, home string) bool { return home != "" && source.SameFile(dir, home) }
