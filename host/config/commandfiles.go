package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/host/config/source"
	"github.com/junctor-mcp/junctor/sdk/sandbox"
)

const (
	// maxPathText is the maximum length of a text in settings that may be a path.
	maxPathText = 4096
	// maxCommandDirs bounds the directories in which the words of a command are looked up.
	maxCommandDirs = 16
)

// A command is what starts a server or an auth provider.
type command struct {
	words []string
	env   map[string]string // that the configuration sets or passes
	dir   string            // the working directory
	path  string            // PATH, if env has none
	// wrapped is set for a program whose arguments name what it works on. Only programs among
	// them count, unless it is an interpreter.
	wrapped bool
}

// A commandReader collects the files that decide what a command runs.
type commandReader struct {
	command
	dirs  []string // in which words are looked up: the working directory, and others that words name
	found []string
	whole []string // directories of packages, of which everything may run

	interprets bool // the command has an interpreter

	before string // the part before the current one
	runs   string // the interpreter or runner whose first argument has not come yet; may be empty
}

// files returns the files that the command names: the program and scripts, whether they exist
// or are made later, and what else is there. A word may be a path, the value of an option, a
// line for a shell, a module, or the directory of a script. packages are the directories, which
// may not exist, in which the program looks for packages. What a script loads from beside it
// is not known.
func (c command) files() (named, packages []string) {
	r := &commandReader{command: c, dirs: []string{c.dir}}
	var lines []string
	for _, word := range c.words {
		if len(word) <= maxPathText && !strings.ContainsRune(word, 0) {
			lines = append(lines, word)
		}
	}
	var values []string
	for name, value := range c.env {
		if name != "PATH" && len(value) <= maxPathText && !strings.ContainsRune(value, 0) {
			values = append(values, value)
		}
	}
	for _, line := range slices.Concat(lines, values) {
		r.addDirs(line)
	}
	for i, line := range lines {
		if i == 0 {
			r.program(line)
		}
		if expanded := r.expand(line); expanded != line {
			r.undivided(expanded)
			for _, part := range strings.FieldsFunc(expanded, separatesWords) {
				r.named(part, true)
			}
		}
		r.undivided(line)
		for _, part := range strings.FieldsFunc(line, separatesWords) {
			r.interprets = r.interprets || interpreter.MatchString(filepath.Base(part))
			r.part(part)
			r.inPath(part)
		}
	}
	r.runs = ""
	for _, value := range values {
		r.undivided(value)
		for _, part := range strings.FieldsFunc(value, separatesWords) {
			r.named(part, false)
		}
	}
	if !r.wrapped {
		r.libraries()
		for _, path := range slices.Clone(r.found) {
			r.targets(path)
		}
	}
	r.interpreters()
	for _, path := range r.found {
		if filepath.Ext(path) == ".py" { // what Python has compiled of it may run instead
			r.whole = append(r.whole, filepath.Join(filepath.Dir(path), "__pycache__"))
		}
	}
	slices.Sort(r.whole)
	return r.found, slices.Compact(r.whole)
}

// libraries adds the directories that variables name as those of libraries or packages, but for
// the working directory and those above it.
func (r *commandReader) libraries() {
	for _, name := range codeVariables {
		if len(r.env[name]) > maxPathText {
			continue
		}
		for _, dir := range filepath.SplitList(r.env[name]) {
			if path := source.AbsoluteIn(r.dir, dir); dir != "" && path != r.dir && !sandbox.Within(r.dir, path) {
				r.whole = append(r.whole, path)
			}
		}
	}
}

// separatesWords reports whether a character ends a path in an option, in a list of paths or in
// a line for a shell.
func separatesWords(r rune) bool { return strings.ContainsRune(" \t\n\r;|&()<>\"'`$={},:", r) }

// undivided adds the file that a word names as a whole, behind the "=" of an option, or in
// quotes: a path may have spaces in it.
func (r *commandReader) undivided(word string) {
	_, value, _ := strings.Cut(word, "=")
	names := append([]string{word, value}, strings.FieldsFunc(word, func(r rune) bool { return r == '\'' || r == '"' })...)
	for _, name := range names {
		if strings.ContainsFunc(name, separatesWords) {
			r.named(name, false)
		}
	}
}

// addDirs adds the directories that a line names, such as that of --directory or of cd.
func (r *commandReader) addDirs(line string) {
	for _, part := range strings.FieldsFunc(line, separatesWords) {
		for _, name := range []string{part, strings.TrimPrefix(part, "-C")} {
			path := source.AbsoluteIn(r.dir, name)
			if real, ok := r.kernelPath(name); ok {
				path = real
			}
			if name != "" && isDirectory(path) && len(r.dirs) < maxCommandDirs && !slices.Contains(r.dirs, path) {
				r.dirs = append(r.dirs, path)
				r.environment(filepath.Join(path, "bin", "python"))
			}
		}
	}
}

// program adds the first word of the command, also where PATH finds it or may find it earlier.
func (r *commandReader) program(word string) {
	if strings.ContainsRune(word, filepath.Separator) {
		r.found = append(r.found, source.AbsoluteIn(r.dir, word))
		r.environment(source.AbsoluteIn(r.dir, word))
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
func (r *commandReader) programDirs() []string {
	list := r.path
	if own, set := r.env["PATH"]; set {
		list = own
	}
	return slices.DeleteFunc(filepath.SplitList(list), func(dir string) bool { return !filepath.IsAbs(dir) })
}

// inPath adds the program of a name that another one starts, such as env or a shell.
func (r *commandReader) inPath(name string) {
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
func (r *commandReader) environment(program string) {
	real, _ := filepath.EvalSymlinks(program)
	for _, path := range []string{program, real} {
		dir := filepath.Dir(filepath.Dir(path))
		if _, err := os.Lstat(filepath.Join(dir, "pyvenv.cfg")); path != "" && err == nil {
			r.whole = append(r.whole, dir)
		}
	}
}

// part adds what one part of the command names.
func (r *commandReader) part(part string) {
	before := r.before
	r.before = part
	r.named(part, true)
	if name := filepath.Base(part); interpreter.MatchString(name) || runnerFiles[name] != nil {
		r.runs = name
		r.runner(name)
		return
	}
	if part == "--run" && nodePackages.MatchString(r.runs) {
		r.existing(r.dir, "package.json") // a script of it
	}
	if strings.HasPrefix(r.runs, "py") {
		if before == "-W" || before == "-X" { // the value of an option
			return
		}
		if pythonModule.MatchString(before) {
			before = "-m"
		} else if option := pythonModule.FindString(part); option != "" && option != part {
			before, part = "-m", strings.TrimPrefix(part, option)
		}
	}
	if before == "-m" {
		module := filepath.Join(strings.Split(part, ".")...)
		r.inAll(module, moduleFiles)
		for above := filepath.Dir(module); above != "."; above = filepath.Dir(above) {
			r.inAll(above, moduleFiles[1:2]) // a package that holds it
		}
		if !r.wrapped { // nor may another module take its place, or that of one that it imports
			r.found = append(r.found, source.AbsoluteIn(r.dir, module+".py"))
		}
		r.runs = ""
		return
	}
	if r.runs == "" || strings.HasPrefix(part, "-") {
		return
	}
	r.inAll(part, append([]string{""}, scriptEndings...))
	r.inAll(part, directoryFiles)
	if isScript(part) {
		r.found = append(r.found, source.AbsoluteIn(r.dir, part))
	}
	if !r.wrapped && nodeRunners.MatchString(r.runs) && !strings.Contains(part, "@") {
		for _, dir := range r.above() { // npx takes a bin of the project before the package of that name
			r.found = append(r.found, filepath.Join(dir, "package.json"))
		}
	}
	r.runs = ""
}

// above returns the working directory and those above it.
func (r *commandReader) above() (all []string) {
	for dir := r.dir; len(all) < maxCommandDirs && !slices.Contains(all, dir); dir = filepath.Dir(dir) {
		all = append(all, dir)
	}
	return all
}

// runner adds the files in which a program finds what it runs, also if they are made later, and
// where it finds packages. An interpreter has only the latter.
func (r *commandReader) runner(name string) {
	if r.wrapped {
		return // its tools may change packages, which run behind the wall again
	}
	files, packages := runnerFiles[name], nodePackages.MatchString(name)
	if packages {
		r.inPath("node")
	}
	if pythonRunners.MatchString(name) {
		for _, dir := range r.dirs {
			r.whole = append(r.whole, filepath.Join(dir, ".venv"))
		}
	}
	for _, dir := range r.above() {
		if packages {
			r.whole = append(r.whole, filepath.Join(dir, "node_modules"))
		}
		for _, file := range files {
			if dir == r.dir || file == ".npmrc" { // which also counts in a parent
				r.found = append(r.found, filepath.Join(dir, file))
			}
		}
	}
	for _, dir := range r.dirs[1:] {
		r.existing(dir, files...)
		if packages {
			r.whole = append(r.whole, filepath.Join(dir, "node_modules"))
		}
	}
}

// named adds the file that a part names, or one that is joined to an option such as
// "-r./x.js". A script is added although it does not exist.
func (r *commandReader) named(part string, scripts bool) {
	names := []string{part, strings.TrimPrefix(part, "@")} // "@": a file of arguments
	if len(part) > 2 && part[0] == '-' && part[1] != '-' {
		names = append(names, part[2:])
	}
	for _, name := range names {
		if r.wrapped && !(r.interprets && isScript(name)) {
			r.executables(name)
			continue
		}
		r.behindLinks(name)
		r.inAll(name, []string{""})
		if scripts && !r.wrapped && !strings.ContainsRune(name, filepath.Separator) { // "app.main" of uvicorn
			r.inAll(strings.ReplaceAll(name, ".", "/"), moduleFiles)
		}
		if scripts && !r.wrapped && isScript(name) {
			r.found = append(r.found, source.AbsoluteIn(r.dir, name))
		}
	}
}

// behindLinks adds the file that the kernel finds under a name.
func (r *commandReader) behindLinks(name string) {
	if real, ok := r.kernelPath(name); ok && !isDirectory(real) {
		r.found = append(r.found, real)
	}
}

// kernelPath returns what the kernel finds under a name with "..", which may be behind a link.
func (r *commandReader) kernelPath(name string) (string, bool) {
	if !strings.Contains(name, "..") {
		return "", false
	}
	if !filepath.IsAbs(name) {
		name = r.dir + string(filepath.Separator) + name
	}
	real, err := filepath.EvalSymlinks(name)
	return real, err == nil
}

// inAll adds the files with a name and one of the endings that exist in the directories.
func (r *commandReader) inAll(name string, endings []string) {
	for _, dir := range r.dirs {
		for _, ending := range endings {
			r.existing("", source.AbsoluteIn(dir, name)+filepath.FromSlash(ending))
		}
	}
}

// executables adds the files with a name in the directories that can be executed.
func (r *commandReader) executables(name string) {
	for _, dir := range r.dirs {
		path := source.AbsoluteIn(dir, name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 || errors.Is(err, fs.ErrPermission) {
			r.found = append(r.found, path)
		}
	}
}

// existing adds the files that exist.
func (r *commandReader) existing(dir string, names ...string) {
	for _, name := range names {
		path := filepath.Join(dir, name)
		if info, err := os.Lstat(path); err == nil && !info.IsDir() || errors.Is(err, fs.ErrPermission) {
			r.found = append(r.found, path)
			r.environment(path)
		}
	}
}

// isScript reports whether a word names a file for certain, although none is there.
func isScript(word string) bool {
	return strings.HasPrefix(word, "./") || strings.HasPrefix(word, "../") || slices.Contains(scriptEndings, filepath.Ext(word))
}
