package command

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/host/config/source"
	"github.com/junctor-mcp/junctor/sdk/sandbox"
)

// Files returns the files that the command line names: the program and scripts, whether they exist
// or are made later, and what else is there. A word may be a path, the value of an option, a
// line for a shell, a module, or the directory of a script. packages are the directories, which
// may not exist, in which the program looks for packages. What a script loads from beside it
// is not known. All paths are absolute.
func (l Line) Files() (named, packages []string) {
	r := &reader{Line: l, dirs: []string{l.Dir}}
	var lines []string
	for _, word := range l.Words {
		if len(word) <= MaxText && !strings.ContainsRune(word, 0) {
			lines = append(lines, word)
		}
	}
	var values []string
	for name, value := range l.Env {
		if name != "PATH" && len(value) <= MaxText && !strings.ContainsRune(value, 0) {
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
	if !r.Wrapped {
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
func (r *reader) libraries() {
	for _, name := range codeVariables {
		if len(r.Env[name]) > MaxText {
			continue
		}
		for _, dir := range filepath.SplitList(r.Env[name]) {
			if path := source.AbsoluteIn(r.Dir, dir); dir != "" && path != r.Dir && !sandbox.Within(r.Dir, path) {
				r.whole = append(r.whole, path)
			}
		}
	}
}

// undivided adds the file that a word names as a whole, behind the "=" of an option, or in
// quotes: a path may have spaces in it.
func (r *reader) undivided(word string) {
	_, value, _ := strings.Cut(word, "=")
	quoted := strings.FieldsFunc(word, func(r rune) bool { return r == '\'' || r == '"' })
	names := append([]string{word, value}, quoted...)
	for _, name := range names {
		if strings.ContainsFunc(name, separatesWords) {
			r.named(name, false)
		}
	}
}

// addDirs adds the directories that a line names, such as that of --directory or of cd.
func (r *reader) addDirs(line string) {
	for _, part := range strings.FieldsFunc(line, separatesWords) {
		for _, name := range []string{part, strings.TrimPrefix(part, "-C")} {
			path := source.AbsoluteIn(r.Dir, name)
			if real, ok := r.kernelPath(name); ok {
				path = real
			}
			if name != "" && isDirectory(path) && len(r.dirs) < maxDirs && !slices.Contains(r.dirs, path) {
				r.dirs = append(r.dirs, path)
				r.environment(filepath.Join(path, "bin", "python"))
			}
		}
	}
}

// part adds what one part of the command names.
func (r *reader) part(part string) {
	before := r.before
	r.before = part
	r.named(part, true)
	if name := filepath.Base(part); interpreter.MatchString(name) || runnerFiles[name] != nil {
		r.runs = name
		r.runner(name)
		return
	}
	if part == "--run" && nodePackages.MatchString(r.runs) {
		r.existing(r.Dir, "package.json") // a script of it
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
		if !r.Wrapped { // nor may another module take its place, or that of one that it imports
			r.found = append(r.found, source.AbsoluteIn(r.Dir, module+".py"))
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
		r.found = append(r.found, source.AbsoluteIn(r.Dir, part))
	}
	if !r.Wrapped && nodeRunners.MatchString(r.runs) && !strings.Contains(part, "@") {
		for _, dir := range r.above() { // npx takes a bin of the project before the package of that name
			r.found = append(r.found, filepath.Join(dir, "package.json"))
		}
	}
	r.runs = ""
}

// above returns the working directory and those above it.
func (r *reader) above() (all []string) {
	for dir := r.Dir; len(all) < maxDirs && !slices.Contains(all, dir); dir = filepath.Dir(dir) {
		all = append(all, dir)
	}
	return all
}

// runner adds the files in which a program finds what it runs, also if they are made later, and
// where it finds packages. An interpreter has only the latter.
func (r *reader) runner(name string) {
	if r.Wrapped {
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
			if dir == r.Dir || file == ".npmrc" { // which also counts in a parent
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
