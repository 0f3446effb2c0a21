package clientconfig

import (
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// ChooseWithin is [Choose] for the files of a project: another person may have made the links
// in it. A path that leads out of root is an error, and the file is read and written by way
// of root alone, so that a directory that becomes a link meanwhile changes nothing.
func ChooseWithin(root string, paths []string) (*File, error) {
	path := paths[len(paths)-1]
	for _, p := range paths {
		if _, err := os.Lstat(p); err == nil {
			path = p
			break
		}
	}
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, ioError(path, err)
	}
	real, err := filepath.EvalSymlinks(root)
	if err != nil {
		return nil, ioError(root, err)
	}
	rel, err := relativeTo(root, real, path)
	if err != nil {
		return nil, err
	}
	f, err := open(filepath.Join(real, rel))
	if err != nil {
		return nil, err
	}
	f.root, f.name = real, rel
	if f.Text != nil {
		if f.Text, err = f.read(); err != nil {
			return nil, ioError(path, err)
		}
	}
	return f, nil
}

// relativeTo returns the path of a file in root, whose links are resolved in real, without
// symbolic links. A file that does not exist keeps its name in the directory that exists.
func relativeTo(root, real, path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", ioError(path, err)
	}
	at, missing := abs, "" // missing: the part of the path that does not exist
	for {
		_, err := os.Lstat(at)
		if !errors.Is(err, fs.ErrNotExist) || at == root || at == filepath.Dir(at) {
			break
		}
		at, missing = filepath.Dir(at), filepath.Join(filepath.Base(at), missing)
	}
	resolved, err := filepath.EvalSymlinks(at)
	if errors.Is(err, fs.ErrNotExist) {
		return "", &FileError{path, "it is a link to a file that does not exist", "remove the link"}
	}
	if err != nil {
		return "", ioError(path, err)
	}
	rel, err := filepath.Rel(real, filepath.Join(resolved, missing))
	if err != nil || !filepath.IsLocal(rel) {
		return "", &FileError{path, "a link leads out of " + root + ", to " + resolved,
			"name that file itself if you mean it, or remove the link"}
	}
	return rel, nil
}

// read reads a file of a project by way of its root.
func (f *File) read() ([]byte, error) {
	root, err := os.OpenRoot(f.root)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	file, err := root.OpenFile(f.name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, errors.New("it is not a regular file"))
	}
	text, err := io.ReadAll(io.LimitReader(file, MostBytes+1))
	if text == nil {
		text = []byte{}
	}
	return text, err
}

// replaceWithin replaces a file of a project by way of its root. The new file takes the place
// of a link and never follows one.
func (f *File) replaceWithin(text []byte, mode fs.FileMode) error {
	root, err := os.OpenRoot(f.root)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	if dir := filepath.Dir(f.name); dir != "." {
		if err := root.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	temp := filepath.Join(filepath.Dir(f.name), "."+filepath.Base(f.name)+"-"+rand.Text()[:10])
	file, err := root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	err = errors.Join(file.Chmod(mode), writeAll(file, text))
	if err == nil {
		err = root.Rename(temp, f.name)
	}
	if err != nil {
		_ = root.Remove(temp)
	}
	return err
}

// create opens a new file beside f.
func (f *File) create(path string) (*os.File, error) {
	if f.root == "" {
		return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, f.mode)
	}
	root, err := os.OpenRoot(f.root)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	return root.OpenFile(filepath.Join(filepath.Dir(f.name), filepath.Base(path)),
		os.O_WRONLY|os.O_CREATE|os.O_EXCL, f.mode)
}

// writeAll writes a new file to the disk and closes it.
func writeAll(file *os.File, text []byte) error {
	_, err := file.Write(text)
	if err == nil {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}
