package command

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/host/config/source"
	"github.com/junctor-mcp/junctor/sdk/sandbox"
)

// LoadsCode returns a program in the command lines, such as npm or python3, that loads code which
// they do not name, and the real directories in which it may look: that of its script, or the
// working directory, and those of the programs and scripts that the lines name by a path. If it
// loads none, program is the name of the first line's program. Of the lines, Words and Dir count.
//
// The doctor calls it, through config.Server.LoadsCode, to warn of a server whose tools may change
// one of the directories of another one: a directory that is missing loses a warning, and one too
// many makes a false one. It protects nothing; see Files for what does.
func LoadsCode(lines ...Line) (program string, dirs []string) {
	if len(lines) == 0 || len(lines[0].Words) == 0 {
		return "", nil
	}
	for i, line := range lines {
		also, more := loadedBy(line.Words, line.Dir)
		program = cmp.Or(program, also)
		if i == 0 {
			dirs = more
			continue
		}
		for _, dir := range more {
			if !slices.Contains(dirs, dir) && len(dirs) < maxDirs {
				dirs = append(dirs, dir)
			}
		}
	}
	return cmp.Or(program, filepath.Base(lines[0].Words[0])), dirs
}

// loadedBy is LoadsCode for one command. program may be empty.
func loadedBy(words []string, cwd string) (program string, dirs []string) {
	parts := partsOf(words)
	program, dir := loadsCode(parts, cwd)
	if dir != "" {
		dirs = append(dirs, sandbox.Resolve(dir))
	}
	for _, part := range parts {
		path := source.AbsoluteIn(cwd, part)
		info, err := os.Stat(path)
		if !strings.ContainsRune(part, filepath.Separator) || err != nil || !info.Mode().IsRegular() {
			continue
		}
		runs := info.Mode()&0o111 != 0 || slices.Contains(scriptEndings, filepath.Ext(part))
		if runs && len(dirs) < maxDirs {
			dirs = append(dirs, filepath.Dir(sandbox.Resolve(path)))
		}
	}
	return program, dirs
}

// partsOf returns the words of a command, divided where a path may begin or end.
func partsOf(words []string) (parts []string) {
	for _, word := range words {
		if len(word) <= MaxText {
			parts = append(parts, strings.FieldsFunc(word, separatesWords)...)
		}
	}
	return parts
}

// loadsCode returns the first loader in a command, and where it looks.
func loadsCode(parts []string, dir string) (program, from string) {
	for i, part := range parts {
		name := strings.TrimSuffix(strings.ToLower(filepath.Base(part)), ".exe")
		rest := parts[i+1:]
		switch {
		case i > 0 && changesDirectory.MatchString(parts[i-1]):
			if path := source.AbsoluteIn(dir, part); isDirectory(path) {
				dir = path
			}
		case slices.Contains(packageRunners, name):
			from = namedDirectory(rest, dir)
		case runnerFiles[name] != nil:
			from = cmp.Or(changedDirectory(rest, dir), dir)
		case interpreter.MatchString(name) && !shells.MatchString(name):
			from = scriptDirectory(rest, dir)
		}
		if from != "" {
			return name, from
		}
	}
	return "", ""
}

// changedDirectory returns the directory that an option such as --prefix names, or "".
func changedDirectory(words []string, dir string) string {
	for i, word := range words {
		if i > 0 && changesDirectory.MatchString(words[i-1]) && isDirectory(source.AbsoluteIn(dir, word)) {
			return source.AbsoluteIn(dir, word)
		}
	}
	return ""
}

// namedDirectory returns the first directory that a word names as a path, or "".
func namedDirectory(words []string, dir string) string {
	for _, word := range words {
		if path := source.AbsoluteIn(dir, word); word == "." || word == ".." ||
			strings.ContainsRune(word, filepath.Separator) {
			if isDirectory(path) {
				return path
			}
		}
	}
	return ""
}

// scriptDirectory returns where an interpreter with arguments looks for modules first.
func scriptDirectory(arguments []string, dir string) string {
	for _, word := range arguments {
		switch {
		case strings.HasPrefix(word, "-m"), word == "-c", word == "-e":
			return dir // before the modules that are installed
		case strings.HasPrefix(word, "-"):
			continue
		}
		path := source.AbsoluteIn(dir, word)
		if isDirectory(path) {
			return path
		}
		return filepath.Dir(path)
	}
	return ""
}
