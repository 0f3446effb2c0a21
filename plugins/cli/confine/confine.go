// Package confine keeps the paths in the arguments of a call within one
// directory.
//
// It checks a path before the program starts and resolves it as the program
// will: from the working directory of the program, link by link. It refuses
// paths through procfs, where the same name is another file for each process.
// It does not cover changes between this check and the moment when the program
// opens the path, nor links that the program follows on its own.
//
// resolve.go follows a path, and pieces.go finds paths within values. Package run calls [Dir.Path]
// and its like for each value of a call, on the goroutine of the request.
package confine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// The work that checks of one Dir may do.
const (
	maxWork = 1_000_000 // components of paths; see lookup
	maxText = 64 << 20  // bytes of texts, each once for each place at which a path may begin
)

// A Dir is the directory that paths must not leave. It is for the values of one call: its
// checks fail when they have done too much. It is not safe for concurrent use.
type Dir struct {
	given string // as the configuration names it; the working directory of programs
	real  string // with all symbolic links resolved
	work  int    // that is left
	text  int    // likewise
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
	return &Dir{given: dir, real: real, work: maxWork, text: maxText}, nil
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

func (d *Dir) refuse(reason string) error { return &Error{Dir: d.given, Reason: reason} }

// Path checks a value that is a path. It fails if the path leads out of the
// directory, or if it begins like an address, as "cache:x" and "http://x" do,
// and no file has that name.
func (d *Dir) Path(value string) error {
	if Schemed(value) {
		if _, err := os.Lstat(filepath.Join(d.real, value)); err != nil {
			return d.refuse("a text before a colon may name another place; write ./ before the name of a file")
		}
	}
	return d.Place(value)
}

// Place checks a value that is a path or the address of another machine.
func (d *Dir) Place(value string) error {
	switch {
	case value == "" || value == "-":
		return nil // standard input or output
	case address.MatchString(value):
		return d.Text(value)
	}
	if err := d.inside(value, true); err != nil {
		return err
	}
	return d.Text(value)
}

// Prefix checks the beginning of the names of files that a program creates, as
// split does. It fails if a link with such a name leads out of the directory.
func (d *Dir) Prefix(value string) error {
	if err := d.Path(value); err != nil {
		return err
	}
	parent, start := filepath.Split(value)
	if !filepath.IsAbs(parent) {
		parent = filepath.Join(d.real, parent)
	}
	entries, err := os.ReadDir(parent)
	if err != nil {
		return nil // there is no link
	}
	for _, e := range entries {
		if e.Type()&fs.ModeSymlink == 0 || !strings.HasPrefix(e.Name(), start) {
			continue
		}
		if real, _, err := resolve(d.real, filepath.Join(parent, e.Name()), &d.work); err != nil || !d.holds(real) {
			return d.refuse("a symbolic link begins with this prefix and points elsewhere")
		}
	}
	return nil
}

// Text checks a value that may be a path, or contain one as in "@FILE",
// "KEY=FILE", "NAME:FILE", "concat:A|B" and "file://PATH". It fails if such a
// path leads out of the directory.
func (d *Dir) Text(value string) error { return d.scan(value, separates) }

// Sentence checks a value that is a message or a pattern by the name of its
// argument. Unlike [Dir.Text] it allows paths between the words.
func (d *Dir) Sentence(value string) error { return d.scan(value, joins) }

// scheme matches the beginning of an address, or of what a program takes for
// one.
var scheme = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.,_-]*:`)

// Schemed reports whether a path begins with a name and a colon. A program may
// take such a path for an address.
func Schemed(path string) bool {
	if volume := filepath.VolumeName(path); volume != "" && filepath.IsAbs(path) {
		return false // a drive of Windows
	}
	return scheme.MatchString(path)
}

// inside checks one path. certain is false for a text that may not be a path.
func (d *Dir) inside(path string, certain bool) error {
	if path == "" {
		return nil
	}
	if strings.HasPrefix(path, "~") && (certain || home.MatchString(path)) {
		return d.refuse("~ stands for a home directory")
	}
	if absolute(path) {
		return d.absolute(path)
	}
	switch {
	case leavesParent(path):
		return d.refuse("the path climbs with ..") // some programs clean a path before they resolve links
	case certain && climbsOtherwise(path):
		return d.refuse("the path can be read as one that climbs with ..")
	}
	return d.relative(path, certain)
}

var home = regexp.MustCompile(`^~([A-Za-z_][A-Za-z0-9_-]*)?(/|$)`)

// relative checks a path that does not begin with a slash.
func (d *Dir) relative(path string, certain bool) error {
	if !certain && len(path) > maxPath {
		return nil
	}
	for _, spelling := range []string{path, filepath.Clean(path)} {
		real, _, err := resolve(d.real, spelling, &d.work)
		switch {
		case errors.Is(err, errTooMuch):
			return err
		case errors.Is(err, errMagic), errors.Is(err, errTooLong), err != nil && certain:
			return d.refuse(err.Error())
		case err == nil && !d.holds(real):
			return d.refuse("a symbolic link in the path points elsewhere")
		}
		if !strings.Contains(path, "..") {
			break
		}
	}
	return nil
}

// absolute checks a path that begins at the root. The null device holds nothing.
func (d *Dir) absolute(path string) error {
	if path == os.DevNull {
		return nil
	}
	if rest, below := d.below(path); below {
		return d.inside("."+string(os.PathSeparator)+rest, true)
	}
	real, _, err := resolve(d.real, path, &d.work)
	switch {
	case err != nil:
		return d.refuse(err.Error())
	case !d.holds(real):
		return d.refuse("the path is absolute")
	}
	return nil
}

// below returns the rest of an absolute path that begins with the directory.
func (d *Dir) below(path string) (rest string, ok bool) {
	if os.IsPathSeparator(path[0]) {
		path = string(os.PathSeparator) + strings.TrimLeft(path, string(os.PathSeparator))
	}
	for _, dir := range []string{d.given, d.real} {
		rest, ok := strings.CutPrefix(path, dir)
		if ok && !d.All() && (rest == "" || os.IsPathSeparator(rest[0])) {
			return strings.TrimLeft(rest, string(os.PathSeparator)), true
		}
	}
	return "", false
}

// holds reports whether a resolved path is inside the directory.
func (d *Dir) holds(real string) bool {
	rel, err := filepath.Rel(d.real, real)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(os.PathSeparator))
}

// absolute reports whether a path begins at the root of a file system.
func absolute(path string) bool {
	return filepath.IsAbs(path) || strings.HasPrefix(path, "/") ||
		strings.HasPrefix(path, `\`) && os.PathSeparator == '\\'
}

// leavesParent reports whether a relative path leads above its start.
func leavesParent(path string) bool {
	path = filepath.Clean(path)
	return path == ".." || strings.HasPrefix(path, ".."+string(os.PathSeparator))
}

// climbsOtherwise reports whether a relative path climbs for a program that
// takes a backslash for a slash, or that expands patterns as a shell does.
func climbsOtherwise(path string) bool {
	if strings.Contains(path, `\`) && leavesParent(strings.ReplaceAll(path, `\`, "/")) {
		return true
	}
	segments := strings.Split(path, "/")
	for i, segment := range segments {
		if strings.HasPrefix(segment, ".") && strings.ContainsAny(segment, "?*[") {
			if match, err := filepath.Match(segment, ".."); err == nil && match {
				segments[i] = ".."
			}
		}
	}
	return leavesParent(strings.Join(segments, "/"))
}
