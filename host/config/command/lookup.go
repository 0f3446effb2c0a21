package command

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/host/config/source"
)

// A reader collects the files that decide what a command line runs. It belongs to one call.
type reader struct {
	Line
	dirs  []string // in which words are looked up: the working directory, and others that words name
	found []string
	whole []string // directories of packages, of which everything may run

	interprets bool // the command has an interpreter

	before string // the part before the current one
	runs   string // the interpreter or runner whose first argument has not come yet; may be empty
}

// program adds the first word of the command, also where PATH finds it or may find it earlier.
func (r *reader) program(word string) {
	if strings.ContainsRune(word, filepath.Separator) {
		r.found = append(r.found, source.AbsoluteIn(r.Dir, word))
		r.environment(source.AbsoluteIn(r.Dir, word))
		return
	}
	for _, dir := range r.programDirs() {
		r.environment(filepath.Join(dir, word))
		path := filepath.Join(dir, word)
		r.found = append(r.found, path)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return
		}
	}
}

// programDirs returns the directories in which programs are found by their names.
func (r *reader) programDirs() []string {
	list := r.Path
	if own, set := r.Env["PATH"]; set {
		list = own
	}
	return slices.DeleteFunc(filepath.SplitList(list), func(dir string) bool { return !filepath.IsAbs(dir) })
}

// inPath adds the program of a name that another one starts, such as env or a shell.
func (r *reader) inPath(name string) {
	if name == "" || strings.HasPrefix(name, "-") || strings.ContainsRune(name, filepath.Separator) {
		return
	}
	for _, dir := range r.programDirs() {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			r.found = append(r.found, path)
			r.environment(path)
			return
		}
	}
}

// environment adds the virtual environment that a program of Python lies in, and that of the
// file to which it links.
func (r *reader) environment(program string) {
	real, _ := filepath.EvalSymlinks(program)
	for _, path := range []string{program, real} {
		dir := filepath.Dir(filepath.Dir(path))
		if _, err := os.Lstat(filepath.Join(dir, "pyvenv.cfg")); path != "" && err == nil {
			r.whole = append(r.whole, dir)
		}
	}
}

// named adds the file that a part names, or one that is joined to an option such as
// "-r./x.js". A script is added although it does not exist.
func (r *reader) named(part string, scripts bool) {
	names := []string{part, strings.TrimPrefix(part, "@")} // "@": a file of arguments
	if len(part) > 2 && part[0] == '-' && part[1] != '-' {
		names = append(names, part[2:])
	}
	for _, name := range names {
		if r.Wrapped && !(r.interprets && isScript(name)) {
			r.executables(name)
			continue
		}
		r.behindLinks(name)
		r.inAll(name, []string{""})
		if scripts && !r.Wrapped && !strings.ContainsRune(name, filepath.Separator) { // "app.main" of uvicorn
			r.inAll(strings.ReplaceAll(name, ".", "/"), moduleFiles)
		}
		if scripts && !r.Wrapped && isScript(name) {
			r.found = append(r.found, source.AbsoluteIn(r.Dir, name))
		}
	}
}

// behindLinks adds the file that the kernel finds under a name.
func (r *reader) behindLinks(name string) {
	if real, ok := r.kernelPath(name); ok && !isDirectory(real) {
		r.found = append(r.found, real)
	}
}

// kernelPath returns what the kernel finds under a name with "..", which may be behind a link.
func (r *reader) kernelPath(name string) (string, bool) {
	if !strings.Contains(name, "..") {
		return "", false
	}
	if !filepath.IsAbs(name) {
		name = r.Dir + string(filepath.Separator) + name
	}
	real, err := filepath.EvalSymlinks(name)
	return real, err == nil
}

// inAll adds the files with a name and one of the endings that exist in the directories.
func (r *reader) inAll(name string, endings []string) {
	for _, dir := range r.dirs {
		for _, ending := range endings {
			r.existing("", source.AbsoluteIn(dir, name)+filepath.FromSlash(ending))
		}
	}
}

// executables adds the files with a name in the directories that can be executed.
func (r *reader) executables(name string) {
	for _, dir := range r.dirs {
		path := source.AbsoluteIn(dir, name)
		info, err := os.Stat(path)
		if err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 || errors.Is(err, fs.ErrPermission) {
			r.found = append(r.found, path)
		}
	}
}

// existing adds the files that exist.
func (r *reader) existing(dir string, names ...string) {
	for _, name := range names {
		path := filepath.Join(dir, name)
		if info, err := os.Lstat(path); err == nil && !info.IsDir() || errors.Is(err, fs.ErrPermission) {
			r.found = append(r.found, path)
			r.environment(path)
		}
	}
}
