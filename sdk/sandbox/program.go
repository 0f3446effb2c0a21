package sandbox

import (
	"bufio"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
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
	".pyenv", ".rbenv", ".nodenv", ".nvm", ".volta", ".asdf", ".local/share/mise", ".local/share/fnm",
	".local/share/uv", ".local/share/pipx", ".local/pipx", ".local/share/pnpm", ".rustup", ".sdkman", ".jenv", ".jbang",
	".deno/bin", ".bun", ".krew", ".linuxbrew", ".nix-profile", ".local/state/nix/profiles", ".local/bin", ".local/lib",
	".local/opt", ".cargo/bin", "go/bin", ".go", ".npm-global", ".yarn/bin", ".dotnet", ".ghcup", ".juliaup", ".opam",
	"bin", "miniconda3", "anaconda3", "miniforge3", "mambaforge", ".conda/envs",
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

// A Start describes how a program is started.
type Start struct {
	Executable string
	Command    []string // its argument list, whose first words may name scripts relative to Dir
	Dir        string
	Path       string   // the variable PATH
	Writable   []string // what tools may have written, which is granted anyway
	Private    []string // granted to no program, beside [Private]
}

// Program returns what a program must read to start: its file, its interpreter, and the
// libraries that are installed beside them. Links and files in the writable directories
// lead nowhere but to each other, to the system and to toolchains.
func Program(s Start) []string {
	f := &programFinder{path: s.Path, writable: distinct(s.Writable), forbidden: append(Private(), s.Private...)}
	f.program(s.Executable, maxInterpreters)
	for _, word := range s.Command[min(1, len(s.Command)):] {
		f.argument(word, s.Dir)
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
	return slices.ContainsFunc(f.writable, func(dir string) bool { return path == dir || Within(path, dir) })
}

// program adds an executable that nothing written chose, and what it needs.
func (f *programFinder) program(path string, depth int) {
	for range maxLinks {
		path = filepath.Clean(path)
		if depth == 0 || !filepath.IsAbs(path) {
			return
		}
		real, err := filepath.EvalSymlinks(path)
		if err != nil {
			return
		}
		if f.changeable(path) || f.changeable(real) {
			f.written(path, depth)
			return
		}
		f.beside(path)
		target, err := os.Readlink(path)
		if err != nil { // no link, but a directory above may be one
			f.beside(real)
			f.interpreters(real, func(at string) { f.program(at, depth-1) }, depth)
			return
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(path), target)
		}
		path = target
	}
}

// written adds what a path needs that a tool may have written, or that something written
// names. It may read the writable directories and the system anyway. Beside these it gets a
// toolchain, and only the one that the file is really in.
func (f *programFinder) written(path string, depth int) {
	real, err := filepath.EvalSymlinks(path)
	if depth == 0 || err != nil || !filepath.IsAbs(real) {
		return
	}
	if f.changeable(path) {
		f.environment(filepath.Dir(filepath.Dir(path)), func(at string) { f.written(at, depth-1) })
	}
	switch tools := toolchain(real, Home()); {
	case f.changeable(real):
		f.interpreters(real, func(at string) { f.written(at, depth-1) }, depth)
	case tools != "":
		f.add(tools)
		f.interpreters(real, func(at string) { f.program(at, depth-1) }, depth)
	}
}

// interpreters calls add with the interpreter of a script.
func (f *programFinder) interpreters(script string, add func(path string), depth int) {
	words := Interpreter(script)
	if len(words) == 0 {
		return
	}
	add(words[0])
	if filepath.Base(words[0]) != "env" {
		return
	}
	for _, word := range words[1:] {
		if strings.HasPrefix(word, "-") || strings.Contains(word, "=") {
			continue
		}
		if at := f.lookup(word); at != "" { // further words are arguments
			f.program(at, depth-1) // PATH is the configuration's
		}
		return
	}
}

// beside adds what is installed with a program: its file, its toolchain, or its
// directory bin with the directories lib, libexec and share beside that.
func (f *programFinder) beside(path string) {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() || inSystem(path) {
		return
	}
	f.add(path)
	home := Home()
	if tools := toolchain(path, home); tools != "" {
		f.add(tools)
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
	if f.environment(prefix, f.beside) {
		f.add(prefix)
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
		if home != "" {
			at := filepath.Join(home, tools)
			if Within(path, at) {
				return at
			}
			if real, err := filepath.EvalSymlinks(at); err == nil && real != at && Within(path, real) {
				return real
			}
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

// environment calls add with the installation of Python that a virtual environment uses.
// It reports whether there is such an environment in a directory.
func (f *programFinder) environment(dir string, add func(path string)) bool {
	config, err := os.ReadFile(filepath.Join(dir, "pyvenv.cfg"))
	for line := range strings.Lines(string(config)) {
		name, value, _ := strings.Cut(line, "=")
		if bin := strings.TrimSpace(value); strings.TrimSpace(name) == "home" && filepath.IsAbs(bin) {
			add(filepath.Join(bin, "python3"))
			add(filepath.Join(bin, "python"))
		}
	}
	return err == nil
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
	f.program(at, maxInterpreters)
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
		if info, err := os.Stat(at); filepath.IsAbs(dir) && err == nil && info.Mode().IsRegular() &&
			info.Mode()&0o111 != 0 {
			return at
		}
	}
	return ""
}

// Interpreter returns the words of a script's first line, or nil. It reads the line as the
// kernel does: only spaces and tabs separate words.
func Interpreter(path string) []string {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a tool may put a named pipe there meanwhile
	if err != nil {
		return nil
	}
	defer file.Close()
	line, err := bufio.NewReaderSize(file, firstLine).ReadSlice('\n')
	if err != nil && !errors.Is(err, bufio.ErrBufferFull) && len(line) == 0 {
		return nil
	}
	rest, script := strings.CutPrefix(strings.TrimSuffix(string(line), "\n"), "#!")
	if !script {
		return nil
	}
	return strings.FieldsFunc(rest, func(r rune) bool { return r == ' ' || r == '\t' })
}
