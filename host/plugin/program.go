package plugin

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/ownership"
)

// FilePrefix is the prefix of a plugin program's file name.
const FilePrefix = "junctor-plugin-"

// BuiltinSource is the prefix of the source of bundled plugins.
const BuiltinSource = "builtin/"

// maxProgram is the maximum size of a program, in bytes.
const maxProgram = 1 << 30

// Find returns the path of a plugin's program. source is "builtin/NAME", which is
// looked up in dirs, or the path of a directory or of the program.
func Find(source, name string, dirs []string) (string, error) {
	if builtin, ok := strings.CutPrefix(source, BuiltinSource); ok {
		for _, dir := range dirs {
			path := filepath.Join(dir, fileName(builtin))
			if _, err := os.Stat(path); err == nil && filepath.Base(path) == fileName(builtin) {
				return path, nil
			}
		}
		return "", fault.New(fault.PluginNotFound, "bundled plugin %q is not installed (looked in %s)",
			builtin, strings.Join(dirs, ", ")).
			WithHint("install the plugin beside junctor, or set another source in plugins { required }")
	}
	info, err := os.Stat(source)
	if err != nil {
		return "", fault.New(fault.PluginNotFound, "plugin %q: %s does not exist", name, source).
			WithHint("correct source in plugins { required }; a relative path starts at the directory of the configuration file")
	}
	if !info.IsDir() {
		return source, nil
	}
	path := filepath.Join(source, fileName(name))
	if _, err := os.Stat(path); err == nil && filepath.Base(path) == fileName(name) {
		return path, nil
	}
	f := fault.New(fault.PluginNotFound, "plugin %q: %s does not contain %s", name, source, fileName(name))
	if there := pluginsIn(source); len(there) > 0 {
		return "",
			f.WithHint("the directory contains %s; the name in plugins { required } must match the plugin's name",
				strings.Join(there, ", "))
	}
	return "", f
}

// pluginsIn returns up to five programs in a directory with the names of plugins.
func pluginsIn(dir string) (names []string) {
	paths, _ := filepath.Glob(filepath.Join(dir, FilePrefix+"*"))
	for _, path := range paths[:min(len(paths), 5)] {
		names = append(names, filepath.Base(path))
	}
	return names
}

func fileName(name string) string {
	if runtime.GOOS == "windows" {
		return FilePrefix + name + ".exe"
	}
	return FilePrefix + name
}

// Dirs returns the directories of bundled plugins: JUNCTOR_PLUGIN_DIR and directories
// beside the running program.
func Dirs(lookup func(string) (string, bool)) []string {
	var dirs []string
	if dir, ok := lookup("JUNCTOR_PLUGIN_DIR"); ok && dir != "" {
		dirs = append(dirs, dir)
	}
	if self, err := os.Executable(); err == nil {
		if real, err := filepath.EvalSymlinks(self); err == nil {
			self = real
		}
		dir := filepath.Dir(self)
		dirs = append(dirs, filepath.Join(dir, "plugins"), filepath.Join(dir, "..", "libexec", "junctor", "plugins"))
	}
	return dirs
}

// A program is an opened program of a plugin. Linux executes this open file, so a later
// change at its path has no effect. knownPrograms owns it and closes it at the end of the host.
type program struct {
	path   string
	file   *os.File
	digest string      // hex sha256; from the cache until verify has succeeded
	stat   fs.FileInfo // from before the digest was computed

	users int // guarded by mu of knownPrograms; starts that use the file, and knownPrograms itself

	verifying sync.Mutex
	hashed    bool // guarded by verifying once the program is shared; digest was computed
}

// openProgram opens, checks and hashes a program.
func openProgram(path string) (*program, error) {
	b, err := openUnhashed(path)
	if err != nil {
		return nil, err
	}
	if b.digest, err = b.hash(); err != nil {
		b.close()
		return nil, err
	}
	b.hashed = true
	return b, nil
}

// openUnhashed opens and checks a program. The caller sets its digest.
func openUnhashed(path string) (*program, error) {
	path, err := filepath.Abs(path)
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		return nil, fault.Because(fault.PluginNotFound, err, "finding the plugin's program")
	}
	if err := checkOwnership(path); err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fault.Because(fault.PluginNotFound, err, "opening the plugin's program")
	}
	b := &program{path: path, file: f}
	if err := b.check(); err != nil {
		b.close()
		return nil, err
	}
	return b, nil
}

// script is the beginning of a file that an interpreter runs. Its digest would not
// cover the interpreter. On Linux the interpreter could not read an open file.
const script = "#!"

// check sets stat. It fails for scripts.
func (b *program) check() (err error) {
	if b.stat, err = b.file.Stat(); err != nil {
		return fault.Because(fault.PluginNotFound, err, "reading the plugin's program")
	}
	start := make([]byte, len(script))
	if _, err := b.file.ReadAt(start, 0); err == nil && string(start) == script {
		return fault.New(fault.PluginNotAllowed, "%s is a script; a plugin must be a binary", b.path).
			WithHint("configure the program that the script starts")
	}
	return nil
}

// hash returns the digest of the open file. It fails for oversized files.
func (b *program) hash() (string, error) {
	h := sha256.New()
	n, err := io.Copy(h, io.NewSectionReader(b.file, 0, maxProgram+1))
	switch {
	case err != nil:
		return "", fault.Because(fault.PluginNotFound, err, "reading the plugin's program")
	case n > maxProgram:
		return "", fault.New(fault.PluginNotAllowed,
			"%s is larger than the limit of 1 GiB for a plugin's program", b.path)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// current reports whether the open file has not been modified since it was opened, and is still
// the file at a path, to which symbolic links may lead.
func (b *program) current(path string) bool {
	path, err := filepath.Abs(path)
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if err != nil || path != b.path {
		return false
	}
	held, err := b.file.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(b.path)
	return err == nil && os.SameFile(held, there) && sameVersion(held, b.stat)
}

func (b *program) close() { _ = b.file.Close() }

// closeUnused closes a program that has no users. The caller holds mu of knownPrograms.
func (b *program) closeUnused() {
	if b.users == 0 {
		b.close()
	}
}

// checkOwnership rejects a program that a user other than the current one and root can
// replace.
func checkOwnership(path string) error {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return fault.New(fault.PluginNotFound, "%s does not exist", path)
	}
	if err != nil {
		return fault.Because(fault.PluginNotFound, err, "reading the plugin's program")
	}
	if !info.Mode().IsRegular() {
		return fault.New(fault.PluginNotAllowed, "%s is not a regular file", path)
	}
	for _, p := range []string{path, filepath.Dir(path)} {
		if why, command := ownership.Exposed(p); why != "" {
			return fault.New(fault.PluginNotAllowed, "refused to run plugin %s: %s %s", path, p, why).
				WithHint("run `%s %s`, or move the plugin to a directory of your own", command, p)
		}
	}
	return nil
}
