package confine

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

const (
	maxComponents = 4096 // steps of resolving one path
	maxLinks      = 40   // links on the way, as in Linux
	lookup        = 20   // the work for an entry of a directory, where a component that is not looked up is 1
)

var (
	errTooLong = errors.New("the path has too many components")
	errLinks   = errors.New("the path has too many symbolic links")
	errMagic   = errors.New("the path passes through procfs or the descriptors of a process")
	// errTooMuch ends the check of a text that is long only to take time.
	errTooMuch = errors.New(
		"there are too many places at which a path may begin to check them all; pass a shorter text",
	)
)

// A walk is a path that is being resolved.
type walk struct {
	at     string   // the resolved part
	rest   []string // the components that follow
	exists bool     // whether everything so far exists
	links  int
	left   *int // the work that may still be done
}

// resolve resolves a path as a process in the directory start does, which has no
// links in its own path. What does not exist yet is appended as it is. exists
// reports whether the whole path exists. It fails with errMagic if the path
// means something else for each process.
func resolve(start, path string, left *int) (real string, exists bool, err error) {
	w := &walk{at: start, exists: true, left: left}
	w.follow(path)
	for n := 0; len(w.rest) > 0; n++ {
		if n > maxComponents || len(w.rest) > maxComponents {
			return "", false, errTooLong
		}
		name := w.rest[0]
		w.rest = w.rest[1:]
		if err := w.step(name); err != nil {
			return "", false, err
		}
	}
	return w.at, w.exists, nil
}

// follow puts a path in front of the rest.
func (w *walk) follow(path string) {
	if absolute(path) {
		volume := filepath.VolumeName(path)
		if volume == "" {
			volume = filepath.VolumeName(w.at)
		}
		path = strings.TrimPrefix(path, volume)
		w.at = volume + string(os.PathSeparator)
	}
	components := strings.FieldsFunc(path, func(r rune) bool { return r < 0x80 && os.IsPathSeparator(uint8(r)) })
	w.rest = append(components, w.rest...)
}

// step resolves one component.
func (w *walk) step(name string) error {
	switch name {
	case ".":
		return nil
	case "..":
		w.at = filepath.Dir(w.at)
		return nil
	}
	if *w.left--; *w.left < 0 {
		return errTooMuch
	}
	if !w.exists && len(w.at) > len(longestMagic) {
		w.at += string(os.PathSeparator) + name
		return nil
	}
	next := filepath.Join(w.at, name)
	if magicName(next) {
		return errMagic
	}
	if !w.exists {
		w.at = next
		return nil
	}
	*w.left -= lookup
	info, err := os.Lstat(next)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		w.at, w.exists = next, false
		return nil
	case err != nil:
		return plain(err)
	case info.Mode()&fs.ModeSymlink == 0:
		w.at = next
		if info.IsDir() && procfs(next) {
			return errMagic
		}
		return nil
	}
	if w.links++; w.links > maxLinks {
		return errLinks
	}
	target, err := os.Readlink(next)
	if err != nil {
		return plain(err)
	}
	w.follow(target)
	return nil
}

// longestMagic is the longest of the names that magicName knows.
const longestMagic = "/dev/stdout"

// magicName reports whether a resolved path is one of the names that mean
// something else for each process.
func magicName(path string) bool {
	switch path {
	case "/proc", "/dev/fd", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/tty":
		return true
	}
	return false
}

// plain returns an error without the path in it.
func plain(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err
	}
	return errors.New("the path cannot be resolved")
}
