// Package confine keeps the paths that a call names within one directory.
//
// A path is looked at before the program starts, with its symbolic links
// resolved. What changes between the check and the program's own open is not
// covered, nor are links that the program follows by itself.
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

// A Dir is the directory that paths may not leave.
type Dir struct {
	given string // as the configuration names it; programs run here
	real  string // with its links resolved
}

// New returns a Dir. It fails where the directory cannot be read.
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

// All reports whether the directory is the root of the file system, which
// confines nothing.
func (d *Dir) All() bool { return filepath.Dir(d.real) == d.real }

// An Error is a path that leads out of the directory. It does not repeat the
// path, which may be private.
type Error struct{ Dir, Reason string }

func (e *Error) Error() string {
	return fmt.Sprintf("leads out of the directory %s: %s; name a path below it", e.Dir, e.Reason)
}

// Path checks a value that is a path.
func (d *Dir) Path(value string) error {
	if value == "" || value == "-" {
		return nil // standard input or output
	}
	if err := d.inside(value, true); err != nil {
		return err
	}
	return d.Text(value)
}

// Text checks a value that may be a path, or hold one as in "@FILE", "KEY=FILE"
// and "file://PATH". It refuses what exists outside of the directory, or could be
// created there.
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

// parts are the pieces of a value that programs read as paths.
func parts(value string) []string {
	all := []string{value}
	for _, m := range fileURL.FindAllStringSubmatch(value, 8) {
		all = append(all, m[1])
		if text, err := url.PathUnescape(m[1]); err == nil {
			all = append(all, text)
		}
	}
	if scheme.MatchString(value) {
		return all // the path of an address is the server's
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

// inside checks one path. certain is false for a text that may not be one.
func (d *Dir) inside(path string, certain bool) error {
	if path == "" {
		return nil
	}
	if strings.HasPrefix(path, "~") && (certain || path == "~" || strings.HasPrefix(path, "~/")) {
		return d.refuse("programs take ~ for the home directory")
	}
	absolute := filepath.IsAbs(path) || strings.HasPrefix(path, "/") || strings.HasPrefix(path, `\`) && os.PathSeparator == '\\'
	full := path
	if !absolute {
		if climbs(path) {
			return d.refuse("it climbs with ..") // programs that clean a path do so before links count
		}
		full = d.given + string(os.PathSeparator) + path // not cleaned: "link/.." is where the link leads
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
		return d.refuse("a symbolic link in it points elsewhere")
	case certain, exists, creatable(full):
		return d.refuse("it is absolute")
	}
	return nil
}

func (d *Dir) refuse(reason string) error { return &Error{Dir: d.given, Reason: reason} }

// holds reports whether a resolved path is in the directory.
func (d *Dir) holds(real string) bool {
	rel, err := filepath.Rel(d.real, real)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(os.PathSeparator))
}

// climbs reports whether a relative path leaves its beginning.
func climbs(path string) bool {
	path = filepath.Clean(path)
	return path == ".." || strings.HasPrefix(path, ".."+string(os.PathSeparator))
}

// creatable reports whether an absolute path that does not exist stands in a
// directory that does. "/pattern" is a text, "/tmp/x" is a path.
func creatable(path string) bool {
	parent := filepath.Dir(filepath.Clean(path))
	if filepath.Dir(parent) == parent || strings.ContainsAny(path, " \t\n") {
		return false
	}
	info, err := os.Stat(parent)
	return err == nil && info.IsDir()
}

// mostComponents bounds the steps of resolving one path.
const mostComponents = 512

var errLong = errors.New("it has too many parts")

// resolve resolves the links of a path as far as it exists. What follows the
// part that exists is appended: it cannot hold a link.
func resolve(path string) (real string, exists bool, err error) {
	rest := ""
	for n := 0; ; n++ {
		if n > mostComponents {
			return "", false, errLong
		}
		real, err := filepath.EvalSymlinks(path)
		if err == nil {
			return filepath.Join(real, rest), rest == "", nil
		}
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
			return "", false, plain(err)
		}
		if target, linkErr := os.Readlink(strings.TrimRight(path, string(os.PathSeparator))); linkErr == nil {
			// A link to what does not exist yet: opening it creates that.
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

// plain takes the path out of an error.
func plain(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err
	}
	return errors.New("it cannot be resolved")
}
