package config

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// commandFiles returns the files that the words of a command name, as seen from dir: the
// program and scripts, whether they exist or are made later, and what else is there. A word
// may be a path, the value of an option, a line for a shell, a module for Python, or the
// directory of a script.
func commandFiles(dir string, command any) []string {
	elements, _ := command.([]any)
	var all []string
	before := ""
	for i, element := range elements {
		word, _ := element.(string)
		if word == "" || len(word) > maxPathText || strings.ContainsRune(word, 0) {
			continue
		}
		if i == 0 && strings.ContainsRune(word, filepath.Separator) {
			all = append(all, absoluteIn(dir, word))
		}
		switch {
		case before == "-m":
			all = append(all, withEndings(absoluteIn(dir, filepath.Join(strings.Split(word, ".")...)), moduleFiles)...)
		case interpreter.MatchString(filepath.Base(before)):
			all = append(all, withEndings(absoluteIn(dir, word), directoryFiles)...)
		}
		for _, part := range strings.FieldsFunc(word, separatesWords) {
			path := absoluteIn(dir, part)
			if _, err := os.Lstat(path); err == nil || isScript(part) {
				all = append(all, path)
			}
		}
		before = word
	}
	return all
}

var (
	// interpreter matches programs whose first argument is a script, or its directory.
	interpreter = regexp.MustCompile(`^(?:python|pypy|node|bun|deno|tsx|ts-node)[0-9.]*$`)
	// moduleFiles are the endings of what Python takes for a module in its working directory.
	moduleFiles = []string{".py", "/__init__.py", "/__main__.py"}
	// directoryFiles are the endings of what an interpreter takes for the script in a directory.
	directoryFiles = []string{"/__main__.py", "/package.json", "/index.js", "/index.mjs", "/index.ts", "/index.tsx"}
)

// withEndings returns the paths that exist of those with an ending.
func withEndings(path string, endings []string) []string {
	var all []string
	for _, ending := range endings {
		if _, err := os.Lstat(path + filepath.FromSlash(ending)); err == nil {
			all = append(all, path+filepath.FromSlash(ending))
		}
	}
	return all
}

// separatesWords reports whether a character ends a path in an option or in a line for a shell.
func separatesWords(r rune) bool { return strings.ContainsRune(" \t\n\r;|&()<>\"'`$={},", r) }

// isScript reports whether a word names a file for certain, although none is there.
func isScript(word string) bool {
	if strings.Contains(word, "://") {
		return false
	}
	if strings.HasPrefix(word, "./") || strings.HasPrefix(word, "../") {
		return true
	}
	return slices.Contains(scriptEndings, filepath.Ext(word))
}

// scriptEndings are the endings of files that interpreters run.
var scriptEndings = []string{".py", ".js", ".mjs", ".cjs", ".ts", ".mts", ".rb", ".pl", ".php", ".sh", ".bash", ".lua", ".jar", ".pyz", ".phar"}
