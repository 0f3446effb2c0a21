package run

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// A Written is the file that a program was to write.
type Written struct {
	Output
	Problem string // why there is no file; empty if there is one
}

// A FileDir is the directory with the files of a call. Only the program of the run uses it.
type FileDir struct {
	root *os.Root
	out  string
}

// OpenFiles writes the files of a call into a directory. It keeps the directory open, so
// that a program which puts another one in its place changes nothing.
func OpenFiles(dir string, c *Call) (*FileDir, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	d := &FileDir{root: root, out: c.Out}
	for _, f := range c.Files {
		if err := d.write(f); err != nil {
			d.Close()
			return nil, err
		}
	}
	return d, nil
}

func (d *FileDir) write(f File) error {
	file, err := d.root.OpenFile(f.Name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.WriteString(file, f.Text)
	return errors.Join(err, file.Close())
}

// Close closes the directory. It does not remove the files.
func (d *FileDir) Close() { _ = d.root.Close() }

// Read returns at most most bytes of the file that the program has written, or nil if it
// was to write none. No process of the run may be left. Read follows no links.
func (d *FileDir) Read(most int) *Written {
	if d.out == "" {
		return nil
	}
	w := &Written{}
	info, err := d.root.Lstat(d.out)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		w.Problem = "the program wrote no file: its result is what it writes to the path at {out}"
	case err != nil:
		w.Problem = "the file at {out} cannot be read: " + reason(err)
	case info.Mode()&fs.ModeSymlink != 0:
		w.Problem = "there is a symbolic link at {out}, which is not followed"
	case info.IsDir():
		w.Problem = "there is a directory at {out} in place of a file"
	case !info.Mode().IsRegular():
		w.Problem = "there is no regular file at {out}"
	}
	if w.Problem == "" {
		if err := d.read(w, info, most); err != nil {
			w.Problem = "the file at {out} cannot be read: " + reason(err)
		}
	}
	return w
}

var errReplaced = errors.New("it was replaced meanwhile")

func (d *FileDir) read(w *Written, info fs.FileInfo, most int) error {
	_ = d.root.Chmod(d.out, 0o600) // the program may have taken the permission away
	f, err := d.root.Open(d.out)
	if err != nil {
		return err
	}
	defer f.Close()
	now, err := f.Stat()
	if err != nil {
		return err
	}
	if !os.SameFile(info, now) {
		return errReplaced
	}
	if w.Head, err = io.ReadAll(io.LimitReader(f, int64(most))); err != nil {
		return err
	}
	w.Omitted = max(now.Size()-int64(len(w.Head)), 0)
	if w.Omitted > 0 {
		cut := cutRune(w.Head)
		w.Head = w.Head[:len(w.Head)-cut]
		w.Omitted += int64(cut)
	}
	return nil
}

// reason returns an error without the path, which is private to the run.
func reason(err error) string {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err.Error()
	}
	return fmt.Sprint(err)
}
