package sandbox

import (
	"bufio"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const (
	maxInterpreters = 4   // interpreters of interpreters
	maxLinks        = 16  // links of a program's path
	firstLine       = 512 // bytes read of a script
)

// toolchains are directories below the home directory that hold installed
// programs with their libraries, and nothing else. A program in one may read all
// of it.
var toolchains = []string{
	".pyenv", ".rbenv", ".nodenv", ".nvm", ".volta", ".asdf", ".local/share/mise", ".local/share/fnm", ".local/share/uv", ".local/share/pipx", ".local/pipx", ".local/share/pnpm",
	".rustup", ".sdkman", ".jenv", ".jbang", ".deno/bin", ".bun", ".krew", ".linuxbrew", ".nix-profile", ".local/state/nix/profiles",
	".local/bin", ".local/lib", ".local/opt", ".cargo/bin", "go/bin", ".go", ".npm-global", ".yarn/bin", ".dotnet", ".ghcup", ".juliaup", ".opam", "bin",
	"miniconda3", "anaconda3", "miniforge3", "mambaforge", ".conda/envs",
}

// programDirs are the names of directories that hold programs and nothing else.
var programDirs = []string{"bin", "sbin", "libexec", ".bin"}

// A programFinder collects what a program needs of the file system to start.
type programFinder struct {
	path      string   // the variable PATH of the program
	writable  []string // directories whose content tools may have written
	forbidden []string
	found     []string
}

// A source says who chose a path.
type source int

const (
	chosen  source = iota // the configuration, or a file that no tool can change
	written               // a link or a file in a writable directory
)

// Program returns what the program of a command must read to start: its file, its
// interpreter, and the libraries that are installed beside them. command is its
// argument list, whose first words may name scripts relative to dir; path is the
// variable PATH. Links and files in dir and in the writable directories lead
// nowhere but to these, to the system and to toolchains: a tool may have written
// them.
func Program(executable string, command []string, dir, path string, writable ...string) []string {
	f := &programFinder{path: path, writable: distinct(append(writable, dir)), forbidden: Private()}
	f.program(executable, maxInterpreters, chosen)
	for _, word := range command[min(1, len(command)):] {
		f.argument(word, dir)
	}
	return outermost(f.found)
}

// add grants a path unless it is private.
func (f *programFinder) add(path string) {
	if g, err := Around(path, f.forbidden); err == nil {
		f.found = append(f.found, g.Paths...)
	}
}

// changeable reports whether a path lies in a writable directory.
func (f *programFinder) changeable(path string) bool {
	return slices.ContainsFunc(f.writable, func(dir string) bool { return Within(path, dir) })
}

// program adds an executable and what it needs.
func (f *programFinder) program(path string, depth int, by source) {
	if depth == 0 || !filepath.IsAbs(path) {
		return
	}
	for range maxLinks {
		f.beside(path, by)
		if f.changeable(path) {
			by = written // so is what it leads to
		}
		target, err := os.Readlink(path)
		if err != nil {
			break
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(path), target)
		}
		path = target
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		f.beside(real, by)
		if path = real; f.changeable(path) {
			by = written
		}
	}
	words := interpreter(path)
	if len(words) == 0 {
		return
	}
	f.program(words[0], depth-1, by)
	if filepath.Base(words[0]) == "env" && len(words) > 1 {
		if at := f.lookup(words[1]); at != "" { // further words are arguments
			f.program(at, depth-1, chosen) // PATH is the configuration's
		}
	}
}

// beside adds what is installed with a program: its file, its toolchain, or its
// directory bin with the directories lib, libexec and share beside that.
func (f *programFinder) beside(path string, by source) {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return
	}
	if inSystem(path) {
		return
	}
	home := Home()
	real, err := filepath.EvalSymlinks(path)
	inTools := toolchain(path, home)
	switch {
	case err != nil, by == written && inTools == "" && !f.changeable(real), f.changeable(path) && !f.changeable(real) && toolchain(real, home) == "" && !inSystem(real):
		return
	}
	f.add(path)
	if inTools != "" {
		f.add(inTools)
		return
	}
	dir := filepath.Dir(path)
	if isShared(dir, home) {
		return
	}
	prefix := filepath.Dir(dir)
	if !slices.Contains(programDirs, filepath.Base(dir)) {
		return // only the file: anything may lie beside it
	}
	f.add(dir)
	if filepath.Base(dir) != "bin" || isShared(prefix, home) {
		return
	}
	if config, err := os.ReadFile(filepath.Join(prefix, "pyvenv.cfg")); err == nil {
		f.add(prefix)
		if f.changeable(prefix) {
			by = written
		}
		f.environment(string(config), by)
	}
	for _, name := range []string{"lib", "lib64", "libexec", "share"} {
		f.add(filepath.Join(prefix, name))
	}
}

// inSystem reports whether every program may read a path.
func inSystem(path string) bool {
	return slices.ContainsFunc(systemDirs, func(dir string) bool { return Within(path, dir) })
}

// toolchain returns the directory of toolchains that a path lies in, or "". The
// hidden ones are also known below another directory than the user's home, where
// PYENV_ROOT and the like put them.
func toolchain(path, home string) string {
	for _, tools := range toolchains {
		if at := filepath.Join(home, tools); home != "" && Within(path, at) {
			return at
		}
		if i := strings.Index(path, "/"+tools+"/"); i >= 0 && tools[0] == '.' {
			return path[:i+1+len(tools)]
		}
	}
	return ""
}

// isShared reports whether a directory holds more than one program's files.
func isShared(dir, home string) bool {
	return dir == home || dir == "/" || Within(home, dir) || dir == filepath.Clean(os.TempDir())
}

// environment adds the installation of Python that a virtual environment uses.
func (f *programFinder) environment(config string, by source) {
	for line := range strings.Lines(config) {
		name, value, _ := strings.Cut(line, "=")
		if dir := strings.TrimSpace(value); strings.TrimSpace(name) == "home" && filepath.IsAbs(dir) {
			f.beside(filepath.Join(dir, "python3"), by)
			f.beside(filepath.Join(dir, "python"), by)
		}
	}
}

// argument adds a file that a fixed argument names, such as the script of an
// interpreter, with its package.
func (f *programFinder) argument(word, dir string) {
	if word == "" || strings.HasPrefix(word, "-") {
		return
	}
	at := word
	if !filepath.IsAbs(at) {
		at = filepath.Join(dir, at)
	}
	info, err := os.Stat(at)
	if err != nil || !info.Mode().IsRegular() {
		return
	}
	real, err := filepath.EvalSymlinks(at)
	if err != nil || f.changeable(at) && !f.changeable(real) && toolchain(real, Home()) == "" {
		return // a link that a tool may have made
	}
	f.add(at)
	at = real
	f.program(at, maxInterpreters, chosen)
	for root, n := filepath.Dir(at), 0; n < 3; root, n = filepath.Dir(root), n+1 {
		for _, mark := range []string{"package.json", "pyproject.toml"} {
			if _, err := os.Stat(filepath.Join(root, mark)); err == nil && !isShared(root, Home()) {
				f.add(root)
				return
			}
		}
	}
}

// lookup finds a program in the absolute directories of PATH.
func (f *programFinder) lookup(name string) string {
	if strings.ContainsRune(name, filepath.Separator) {
		return ""
	}
	for _, dir := range filepath.SplitList(f.path) {
		at := filepath.Join(dir, name)
		if info, err := os.Stat(at); filepath.IsAbs(dir) && err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return at
		}
	}
	return ""
}

// interpreter returns the words of a script's first line, or nil.
func interpreter(path string) []string {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	file, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer file.Close()
	line, err := bufio.NewReaderSize(file, firstLine).ReadSlice('\n')
	if err != nil && !errors.Is(err, bufio.ErrBufferFull) && len(line) == 0 {
		return nil
	}
	rest, script := strings.CutPrefix(string(line), "#!")
	if !script {
		return nil
	}
	return slices.DeleteFunc(strings.Fields(rest), func(word string) bool { return strings.HasPrefix(word, "-") || strings.Contains(word, "=") })
}
