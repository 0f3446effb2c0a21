package sandbox

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// maxGrants bounds the entries that are granted one by one for one directory. Each
// costs the start of a program about 10 µs.
const maxGrants = 16 << 10

// A Grant is a directory, or the parts of it that rules can grant. It is not changed once made.
type Grant struct {
	Paths []string // absolute, without symbolic links
	// Without holds the forbidden paths in the directory. If there are any, Paths
	// has its other entries one by one, and no new entries can be created in it.
	Without []string
}

// Around returns the grant for a directory without the forbidden paths. Both may
// have symbolic links, which it resolves; it grants no entry that is a link. Where a
// forbidden path does not exist, nothing can be created in its place. It
// fails with a *ForbiddenError if the directory is forbidden or lies in a forbidden
// one, and with a *TooManyError if there are too many entries.
func Around(dir string, forbidden []string) (Grant, error) {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return Grant{}, err
	}
	var inside []string
	for _, f := range resolved(forbidden) {
		switch {
		case f == real || Within(real, f):
			return Grant{}, &ForbiddenError{Dir: dir, Forbidden: f}
		case Within(f, real):
			inside = append(inside, f)
		}
	}
	if len(inside) == 0 {
		return Grant{Paths: []string{real}}, nil
	}
	g := Grant{Without: inside}
	if err := g.split(real, inside); err != nil {
		return Grant{}, err
	}
	return g, nil
}

// A ForbiddenError is returned for a directory that must not be granted.
type ForbiddenError struct{ Dir, Forbidden string }

func (e *ForbiddenError) Error() string {
	return fmt.Sprintf("%s holds credentials or private files (%s)", e.Dir, e.Forbidden)
}

// A TooManyError is returned for a directory whose entries are too many to grant one
// by one. Dir is the one that was being read.
type TooManyError struct {
	Dir       string
	Forbidden []string // what is forbidden in it
}

func (e *TooManyError) Error() string {
	names := e.Forbidden
	if len(names) > 3 {
		names = append(slices.Clone(names[:3]), "and others")
	}
	return fmt.Sprintf("%s has more than %d entries beside %s, too many to grant one by one",
		e.Dir, maxGrants, strings.Join(names, ", "))
}

// split grants the entries of a directory that has forbidden paths in it.
func (g *Grant) split(dir string, forbidden []string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil // what cannot be listed is not granted
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		below := slices.ContainsFunc(forbidden, func(f string) bool { return Within(f, path) })
		switch {
		case slices.Contains(forbidden, path), e.Type()&fs.ModeSymlink != 0:
			continue // the rule would be about the target of the link
		case below:
			if err := g.split(path, forbidden); err != nil {
				return err
			}
			continue
		}
		if g.Paths = append(g.Paths, path); len(g.Paths) > maxGrants {
			inside := slices.DeleteFunc(slices.Clone(forbidden), func(f string) bool { return !Within(f, dir) })
			return &TooManyError{Dir: dir, Forbidden: inside}
		}
	}
	return nil
}

// Within reports whether a clean path lies below a directory.
func Within(path, dir string) bool {
	if dir == string(filepath.Separator) {
		return path != dir && filepath.IsAbs(path)
	}
	return strings.HasPrefix(path, dir+string(filepath.Separator))
}

// resolved returns the paths with their links resolved, as far as they exist, beside the
// links themselves.
func resolved(paths []string) []string {
	var all []string
	add := func(path string) {
		if !slices.Contains(all, path) {
			all = append(all, path)
		}
	}
	for _, path := range paths {
		add(filepath.Join(Resolve(filepath.Dir(path)), filepath.Base(path)))
		add(Resolve(path))
	}
	return all
}

// Resolve returns a path without symbolic links, as far as it exists.
func Resolve(path string) string {
	for rest := ""; ; path, rest = filepath.Dir(path), filepath.Join(filepath.Base(path), rest) {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			return filepath.Join(real, rest)
		}
		if path == filepath.Dir(path) {
			return filepath.Join(path, rest)
		}
	}
}
