package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/host/lazyregexp"
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
	env   map[string]string // that the configuration sets
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
		r.undivided(line)
		for _, part := range strings.FieldsFunc(line, separatesWords) {
			r.interprets = r.interprets || interpreter.MatchString(filepath.Base(part))
			r.part(part)
		}
	}
	r.runs = ""
	for _, value := range values {
		r.undivided(value)
		for _, part := range strings.FieldsFunc(value, separatesWords) {
			r.named(part, false)
		}
	}
	for _, path := range r.found {
		if filepath.Ext(path) == ".py" { // what Python has compiled of it may run instead
			r.whole = append(r.whole, filepath.Join(filepath.Dir(path), "__pycache__"))
		}
	}
	slices.Sort(r.whole)
	return r.found, slices.Compact(r.whole)
}

// separatesWords reports whether a character ends a path in an option, in a list of paths or in
// a line for a shell.
func separatesWords(r rune) bool { return strings.ContainsRune(" \t\n\r;|&()<>\"'`$={},:", r) }

// undivided adds the file that a word names as a whole, or behind the "=" of an option: a path
// may have spaces in it.
func (r *commandReader) undivided(word string) {
	_, value, _ := strings.Cut(word, "=")
	for _, name := range []string{word, value} {
		if strings.ContainsFunc(name, separatesWords) {
			r.named(name, false)
		}
	}
}

// addDirs adds the directories that a line names, such as that of --directory or of cd.
func (r *commandReader) addDirs(line string) {
	for _, part := range strings.FieldsFunc(line, separatesWords) {
		path := absoluteIn(r.dir, part)
		if info, err := os.Stat(path); err == nil && info.IsDir() && len(r.dirs) < maxCommandDirs && !slices.Contains(r.dirs, path) {
			r.dirs = append(r.dirs, path)
			r.environment(filepath.Join(path, "bin", "python"))
		}
	}
}

// program adds the first word of the command, also where PATH finds it or may find it earlier.
func (r *commandReader) program(word string) {
	if strings.ContainsRune(word, filepath.Separator) {
		r.found = append(r.found, absoluteIn(r.dir, word))
		r.environment(absoluteIn(r.dir, word))
		return
	}
	list := r.path
	if own, set := r.env["PATH"]; set {
		list = own
	}
	for _, dir := range filepath.SplitList(list) {
		if !filepath.IsAbs(dir) {
			continue
		}
		r.environment(filepath.Join(dir, word))
		path := filepath.Join(dir, word)
		r.found = append(r.found, path)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return
		}
	}
}

// environment adds the virtual environment that a program of Python lies in.
func (r *commandReader) environment(program string) {
	dir := filepath.Dir(filepath.Dir(program))
	if _, err := os.Lstat(filepath.Join(dir, "pyvenv.cfg")); err == nil {
		r.whole = append(r.whole, dir)
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
	if joined, ok := strings.CutPrefix(part, "-m"); ok && joined != "" && interpreter.MatchString(r.runs) {
		before, part = "-m", joined
	}
	if before == "-m" {
		module := filepath.Join(strings.Split(part, ".")...)
		r.inAll(module, moduleFiles)
		for above := filepath.Dir(module); above != "."; above = filepath.Dir(above) {
			r.inAll(above, moduleFiles[1:2]) // a package that holds it
		}
		if !r.wrapped { // nor may another module take its place, or that of one that it imports
			r.found = append(r.found, absoluteIn(r.dir, module+".py"))
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
		r.found = append(r.found, absoluteIn(r.dir, part))
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
	names := []string{part}
	if len(part) > 2 && part[0] == '-' && part[1] != '-' {
		names = append(names, part[2:])
	}
	for _, name := range names {
		if r.wrapped && !(r.interprets && isScript(name)) {
			r.executables(name)
			continue
		}
		r.inAll(name, []string{""})
		if scripts && !r.wrapped && isScript(name) {
			r.found = append(r.found, absoluteIn(r.dir, name))
		}
	}
}

// inAll adds the files with a name and one of the endings that exist in the directories.
func (r *commandReader) inAll(name string, endings []string) {
	for _, dir := range r.dirs {
		for _, ending := range endings {
			r.existing("", absoluteIn(dir, name)+filepath.FromSlash(ending))
		}
	}
}

// executables adds the files with a name in the directories that can be executed.
func (r *commandReader) executables(name string) {
	for _, dir := range r.dirs {
		path := absoluteIn(dir, name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			r.found = append(r.found, path)
		}
	}
}

// existing adds the files that exist.
func (r *commandReader) existing(dir string, names ...string) {
	for _, name := range names {
		path := filepath.Join(dir, name)
		if info, err := os.Lstat(path); err == nil && !info.IsDir() {
			r.found = append(r.found, path)
			r.environment(path)
		}
	}
}

// interpreter matches programs whose first argument is a script, or its directory.
var interpreter = lazyregexp.New(`^(?:python|pypy|perl|php|ruby|lua|nodejs|node|bun|deno|tsx|ts-node|sh|bash|dash|ash|zsh|ksh|fish)[0-9.]*$`)

// nodePackages matches programs that look for packages in node_modules, of their working
// directory and those above.
var nodePackages = lazyregexp.New(`^(?:nodejs|node|npx|npm|pnpx|pnpm|yarn|bunx|bun|tsx|ts-node)[0-9.]*$`)

// pythonRunners are those that run what is in the virtual environment of a project.
var pythonRunners = lazyregexp.New(`^(?:uv|poetry|pdm|hatch|pipenv)$`)

// nodeRunners are those that run a package by its name.
var nodeRunners = lazyregexp.New(`^(?:npx|pnpx|bunx)$`)

// runnerFiles are the files in which programs find what they run.
var runnerFiles = map[string][]string{
	"npx": {".npmrc"}, "pnpx": {".npmrc"}, "bunx": {".npmrc", "bunfig.toml"},
	"npm": {"package.json", ".npmrc"}, "pnpm": {"package.json", ".npmrc", ".pnpmfile.cjs", "pnpm-workspace.yaml"}, "yarn": {"package.json", ".yarnrc", ".yarnrc.yml"},
	"bun": {"package.json", "bunfig.toml"}, "deno": {"deno.json", "deno.jsonc", "package.json"},
	"uv": {"pyproject.toml", "uv.toml", "uv.lock"}, "poetry": {"pyproject.toml", "poetry.toml"}, "pipenv": {"Pipfile"}, "pdm": {"pyproject.toml", "pdm.toml"},
	"make": {"GNUmakefile", "makefile", "Makefile"}, "just": {"justfile", "Justfile", ".justfile"}, "task": {"Taskfile.yml", "Taskfile.yaml"},
	"compose": {"compose.yaml", "compose.yml", "docker-compose.yml", "docker-compose.yaml"},
	"go":      {"go.mod", "go.work", "main.go"}, "cargo": {"Cargo.toml"}, "dotnet": {"Program.cs"}, "mix": {"mix.exs"}, "bundle": {"Gemfile"}, "rake": {"Rakefile"}, "gradle": {"build.gradle", "build.gradle.kts"}, "mvn": {"pom.xml"},
}

var (
	// moduleFiles are the endings of what Python takes for a module.
	moduleFiles = []string{".py", "/__init__.py", "/__main__.py"}
	// directoryFiles are the endings of what a program takes for the script in a directory.
	directoryFiles = []string{"/__main__.py", "/package.json", "/index.js", "/index.mjs", "/index.cjs", "/index.ts", "/index.tsx", "/main.go"}
	// scriptEndings are the endings of files that interpreters run.
	scriptEndings = []string{".py", ".js", ".mjs", ".cjs", ".ts", ".mts", ".tsx", ".rb", ".pl", ".php", ".sh", ".bash", ".lua", ".jar", ".pyz", ".phar"}
)

// isScript reports whether a word names a file for certain, although none is there.
func isScript(word string) bool {
	return strings.HasPrefix(word, "./") || strings.HasPrefix(word, "../") || slices.Contains(scriptEndings, filepath.Ext(word))
}
