package bundle

import (
	"archive/zip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"unicode"
)

const (
	// MostBytes is the maximum size of a bundle in bytes.
	MostBytes = 512 << 20

	maxFiles    = 50_000
	maxUnpacked = 1 << 30 // bytes of all files
	maxManifest = 1 << 20 // bytes
	maxName     = 1024    // bytes of a name
	maxDepth    = 64      // directories in a name
	// maxRatio is the maximum ratio of all files to the bundle, if they are larger than
	// freeBytes.
	maxRatio  = 100
	freeBytes = 64 << 20
)

// A Bundle is an archive whose files have been checked.
type Bundle struct {
	manifest manifest
	files    []*zip.File
	digest   string
}

// Open reads the list of files and the manifest of a bundle. It fails if a file could be
// written outside of a directory, is a link, or is too large.
func Open(r io.ReaderAt, size int64) (*Bundle, error) {
	if size > MostBytes {
		return nil, fmt.Errorf("it is larger than %d MiB", MostBytes>>20)
	}
	archive, err := zip.NewReader(r, size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return nil, errors.New("it is not a zip archive")
	}
	b := &Bundle{files: archive.File}
	if err := b.check(size); err != nil {
		return nil, err
	}
	if err := b.readManifest(); err != nil {
		return nil, err
	}
	hash := sha256.New()
	if _, err := io.Copy(hash, io.NewSectionReader(r, 0, size)); err != nil {
		return nil, err
	}
	b.digest = hex.EncodeToString(hash.Sum(nil))
	return b, nil
}

// check refuses archives that would write more, or elsewhere, than into one directory.
func (b *Bundle) check(size int64) error {
	if len(b.files) > maxFiles {
		return fmt.Errorf("it has %d files, at most %d are unpacked", len(b.files), maxFiles)
	}
	kinds := map[string]bool{} // by name in lower case: whether it is a directory
	var total uint64
	for _, f := range b.files {
		if err := checkFile(f); err != nil {
			return fmt.Errorf("%+q: %w", f.Name, err)
		}
		if f.UncompressedSize64 > maxUnpacked || total+f.UncompressedSize64 > maxUnpacked {
			return fmt.Errorf("its files are larger than %d MiB together", maxUnpacked>>20)
		}
		total += f.UncompressedSize64
		name := strings.ToLower(path.Clean(f.Name))
		if _, twice := kinds[name]; twice {
			return fmt.Errorf("%+q occurs twice, perhaps with other capital letters", f.Name)
		}
		kinds[name] = f.FileInfo().IsDir()
	}
	for name := range kinds {
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			if isDir, known := kinds[dir]; known && !isDir {
				return fmt.Errorf("%+q is a file and a directory", dir)
			}
		}
	}
	if total > freeBytes && total/maxRatio > uint64(size) {
		return fmt.Errorf("its files are more than %d times as large as the bundle", maxRatio)
	}
	return nil
}

// checkFile refuses names that lead elsewhere, and everything but files and directories.
func checkFile(f *zip.File) error {
	name := f.Name
	switch mode := f.Mode(); {
	case len(name) > maxName || strings.Count(name, "/") > maxDepth:
		return errors.New("the name is too long")
	case strings.ContainsAny(name, "\\:") || strings.ContainsFunc(name, unicode.IsControl):
		return errors.New(`the name has a \, a : or a control character`)
	case strings.HasPrefix(name, "/") || !filepath.IsLocal(filepath.FromSlash(name)):
		return errors.New("the name leads out of the directory of the bundle")
	case mode&fs.ModeType != 0 && !mode.IsDir():
		return errors.New("it is a link or another special file")
	case f.Flags&1 != 0:
		return errors.New("it is encrypted")
	case f.Method != zip.Store && f.Method != zip.Deflate:
		return errors.New("its compression is not known")
	}
	for part := range strings.SplitSeq(strings.TrimSuffix(name, "/"), "/") {
		if part == "" || part == "." || part == ".." || strings.TrimRight(part, " .") != part {
			return errors.New("the name has an empty part, or one that ends in a dot or a space")
		}
	}
	return nil
}

// Directory returns the name of a directory for the bundle. It is another one for other
// content.
func (b *Bundle) Directory() string { return b.Name() + "-" + b.digest[:12] }

// Unpack writes the files into a new directory. If the directory exists already, Unpack does
// nothing. If it fails, it leaves no directory.
func (b *Bundle) Unpack(dir string) (err error) {
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return err
	}
	temporary, err := os.MkdirTemp(filepath.Dir(dir), ".unpack-")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.RemoveAll(temporary)
		}
	}()
	root, err := os.OpenRoot(temporary)
	if err != nil {
		return err
	}
	for _, f := range b.files {
		if err = unpack(root, f); err != nil {
			_ = root.Close()
			return fmt.Errorf("%+q: %w", f.Name, err)
		}
	}
	if err = root.Close(); err != nil {
		return err
	}
	return os.Rename(temporary, dir)
}

// unpack writes one file or directory.
func unpack(root *os.Root, f *zip.File) error {
	name := filepath.FromSlash(path.Clean(f.Name))
	if f.FileInfo().IsDir() {
		return root.MkdirAll(name, 0o755)
	}
	if dir := filepath.Dir(name); dir != "." {
		if err := root.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	mode := fs.FileMode(0o644)
	if f.Mode()&0o111 != 0 {
		mode = 0o755
	}
	in, err := f.Open()
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	out, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	n, err := io.Copy(out, io.LimitReader(in, int64(f.UncompressedSize64)+1))
	if closeErr := out.Close(); err == nil {
		err = closeErr
	}
	if err == nil && uint64(n) != f.UncompressedSize64 {
		err = errors.New("it is larger than the archive says")
	}
	return err
}
