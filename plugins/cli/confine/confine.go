// Package confine keeps the paths in the arguments of a call within one
// directory.
//
// It checks a path before the program starts and resolves its symbolic links.
// It does not cover changes between this check and the moment when the program
// opens the path, nor links that the program follows on its own.
package confine

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
)

// A Dir is the directory that paths must not leave.
type Dir struct {
	given string // as the configuration names it; the working directory of programs
	real  string // with all symbolic links resolved
}

// New returns a Dir. It fails if the directory cannot be resolved.
func New(dir string) (*Dir, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, err
	}
	return &Dir{given: dir, real: real}, nil
}

// All reports whether the directory is the root of the file system. Such a Dir
// confines nothing.
func (d *Dir) All() bool { return filepath.Dir(d.real) == d.real }

// An Error is returned for a path outside the directory. It does not contain
// the path, which may be private.
type Error struct{ Dir, Reason string }

func (e *Error) Error() string {
	return fmt.Sprintf("leads out of the directory %s: %s; name a path below it", e.Dir, e.Reason)
}

// Path checks a value that is a path. It fails if the path leads out of the
// directory.
func (d *Dir) Path(value string) error {
	if value == "" || value == "-" {
		return nil // standard input or output
	}
	if err := d.inside(value, true); err != nil {
		return err
	}
	return d.Text(value)
}

// Text checks a value that may be a path, or contain one as in "@FILE",
// "KEY=FILE" and "file://PATH". It fails if such a path exists outside the
// directory or could be created there.
func (d *Dir) Text(value string) error {
	for _, part := range parts(value) {
		if err := d.inside(part, false); err != nil {
			return err
		}
	}
	return nil
}

var (
	fileURL = regexp.MustCompile(`(?i)\bfileb?:(?://[^/]*)?([/\\.~%][^?#]*)`)
	scheme  = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*://`)
)

// parts returns the pieces of a value that a program may read as paths.
func parts(value string) []string {
	all := []string{value}
	for _, m := range fileURL.FindAllStringSubmatch(value, 8) {
		all = append(all, m[1])
		if text, err := url.PathUnescape(m[1]); err == nil {
			all = append(all, text)
		}
	}
	if scheme.MatchString(value) {
		return all // the path of a URL belongs to its server
	}
	rest := value
	for range 8 {
		i := strings.IndexAny(rest, "@=<,;")
		if i < 0 {
			break
		}
		rest = rest[i+1:]
		all = append(all, rest)
		if piece, _, more := strings.Cut(rest, ","); more {
			all = append(all, piece)
		}
	}
	return all
}

// inside checks one path. certain is false for a text that may not be a path.
func (d *Dir) inside(path string, certain bool) error {
	if path == "" {
		return nil
	}
	if strings.HasPrefix(path, "~") && (certain || path == "~" || strings.HasPrefix(path, "~/")) {
		return d.refuse("~ stands for the home directory")
	}
	absolute := filepath.IsAbs(path) || strings.HasPrefix(path, "/") || strings.HasPrefix(path, `\`) && os.PathSeparator == '\\'
	full := path
	if !absolute {
		if leavesParent(path) {
			return d.refuse("the path climbs with ..") // some programs clean a path before they resolve links
		}
		full = d.given + string(os.PathSeparator) + path // not cleaned: ".." after a link starts at the link's target
	}
	real, exists, err := resolve(full)
	switch {
	case err != nil && !certain:
		return nil
	case err != nil:
		return d.refuse(err.Error())
	case d.holds(real):
		return nil
	case !absolute:
		return d.refuse("a symbolic link in the path points elsewhere")
	case certain, exists, creatable(full):
		return d.refuse("the path is absolute")
	}
	return nil
}

func (d *Dir) refuse(reason string) error { return &Error{Dir: d.given, Reason: reason} }

// holds reports whether a resolved path is inside the directory.
func (d *Dir) holds(real string) bool {
	rel, err := filepath.Rel(d.real, real)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(os.PathSeparator))
}

// leavesParent reports whether a relative path leads above its start.
func leavesParent(path string) bool {
	path = filepath.Clean(path)
	return path == ".." || strings.HasPrefix(path, ".."+string(os.PathSeparator))
}

// creatable reports whether an absolute path that does not exist could be
// created, because its parent is an existing directory. It ignores files
// directly below the root: "/pattern" is a text, "/tmp/x" is a path.
func creatable(path string) bool {
	parent := filepath.Dir(filepath.Clean(path))
	if filepath.Dir(parent) == parent || strings.ContainsAny(path, " \t\n") {
		return false
	}
	info, err := os.Stat(parent)
	return err == nil && info.IsDir()
}

// maxComponents bounds the steps of resolving one path.
const maxComponents = 512

var errTooLong = errors.New("the path has too many components")

// resolve resolves the links of the existing part of a path and appends the
// rest, which cannot contain a link. exists reports whether the whole path
// exists.
func resolve(path string) (real string, exists bool, err error) {
	rest := ""
	for n := 0; ; n++ {
		if n > maxComponents {
			return "", false, errTooLong
		}
		real, err := filepath.EvalSymlinks(path)
		if err == nil {
			return filepath.Join(real, rest), rest == "", nil
		}
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
			return "", false, plain(err)
		}
		if target, linkErr := os.Readlink(strings.TrimRight(path, string(os.PathSeparator))); linkErr == nil {
			// A link to a path that does not exist yet: opening the link
			// creates that path.
			if !filepath.IsAbs(target) {
				target = filepath.Join(filepath.Dir(path), target)
			}
			path = target
			continue
		}
		parent, name := filepath.Split(strings.TrimRight(path, string(os.PathSeparator)))
		if parent == path || name == "" {
			return filepath.Join(path, rest), false, nil
		}
		path, rest = parent, filepath.Join(name, rest)
	}
}

// plain returns an error without the path in it.
func plain(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err
	}
	return errors.New("the path cannot be resolved")
}
