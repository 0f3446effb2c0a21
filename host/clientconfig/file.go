package clientconfig

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/google/renameio/v2/maybe"
)

// A FileError says why a file cannot be read or written.
type FileError struct{ Path, What, Hint string }

func (e *FileError) Error() string { return e.Path + ": " + e.What }

// A File is a client's file as it was when it was opened. It holds no descriptor and need not be closed.
type File struct {
	Path string // with symbolic links resolved
	Text []byte // nil: the file does not exist
	mode fs.FileMode

	root string // of a project, see [ChooseWithin]; else empty
	name string // in root
}

// Choose opens the first of paths that exists, or the last one to create it.
func Choose(paths []string) (*File, error) {
	for _, path := range paths {
		if _, err := os.Lstat(path); err == nil {
			return open(path)
		}
	}
	return open(paths[len(paths)-1])
}

// open reads a file and fails if it could not be replaced.
func open(path string) (*File, error) {
	real, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Lstat(path); err == nil {
			return nil, &FileError{path, "it is a link to a file that does not exist",
				"create the file, or remove the link"}
		}
		return &File{Path: path}, nil
	}
	if err != nil {
		return nil, ioError(path, err)
	}
	info, err := os.Stat(real)
	switch {
	case err != nil:
		return nil, ioError(path, err)
	case info.IsDir():
		return nil, &FileError{path, "it is a directory instead of a file", "move it away"}
	case !info.Mode().IsRegular():
		return nil, &FileError{path, "it is not a regular file", "move it away"}
	case info.Mode()&0o200 == 0:
		return nil, &FileError{path, "it is read-only",
			"make it writable, or add the entry where the file is generated from"}
	}
	text, err := readAll(real)
	if err != nil {
		return nil, ioError(path, err)
	}
	return &File{Path: real, Text: text, mode: info.Mode().Perm()}, nil
}

func readAll(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, MostBytes+1))
	if text == nil {
		text = []byte{} // an empty file, in contrast to no file
	}
	return text, err
}

func ioError(path string, err error) *FileError {
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		err = at.Err
	}
	return &FileError{path, err.Error(), "check that you may read and write the file and its directory"}
}

// Write replaces the file by text and returns the path of a backup, which it creates in
// the same directory. It fails if the file changed since it was opened, because clients
// write their files while they run. The replacement is atomic, except on Windows.
func (f *File) Write(text []byte, now time.Time) (backup string, err error) {
	if f.Text != nil {
		if backup, err = f.keep(now); err != nil {
			return "", ioError(f.Path, err)
		}
	}
	err = f.Replace(text)
	var changed *FileError
	if backup != "" && errors.As(err, &changed) && *changed == *f.changed() {
		_ = os.Remove(backup)
		backup = ""
	}
	return backup, err
}

// Replace writes the file without a backup. It fails if the file has changed since it was
// opened.
func (f *File) Replace(text []byte) error {
	if f.Text == nil {
		if _, err := os.Lstat(f.Path); err == nil {
			return f.changed()
		}
		return f.put(text, 0o600)
	}
	if current, err := f.current(); err != nil || !bytes.Equal(current, f.Text) {
		return f.changed()
	}
	return f.put(text, f.mode)
}

// current reads the file again.
func (f *File) current() ([]byte, error) {
	if f.root != "" {
		return f.read()
	}
	return readAll(f.Path)
}

// put writes the file and the directories above.
func (f *File) put(text []byte, mode fs.FileMode) error {
	if f.root != "" {
		return wrap(f.Path, f.replaceWithin(text, mode))
	}
	if err := os.MkdirAll(filepath.Dir(f.Path), 0o755); err != nil {
		return ioError(f.Path, err)
	}
	return wrap(f.Path, maybe.WriteFile(f.Path, text, mode))
}

func (f *File) changed() *FileError {
	return &FileError{f.Path, "another program changed it at the same time", "try again, or close the client first"}
}

func wrap(path string, err error) error {
	if err == nil {
		return nil
	}
	return ioError(path, err)
}

// keep writes a backup of the file. It never replaces an existing one.
func (f *File) keep(now time.Time) (path string, err error) {
	base := f.Path + ".bak-" + now.Format("20060102-150405")
	path = base
	for n := 2; ; n++ {
		var file *os.File
		file, err = f.create(path)
		if err == nil {
			if err = writeAll(file, f.Text); err != nil {
				_ = os.Remove(path)
			}
			return path, err
		}
		if !errors.Is(err, fs.ErrExist) || n > 100 {
			return "", err
		}
		path = fmt.Sprintf("%s-%d", base, n)
	}
}
