package command

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const (
	// MaxText is the maximum length, in bytes, of a text that is taken for a path.
	MaxText = 4096
	// maxDirs bounds the directories in which the words of a command are looked up.
	maxDirs = 16
)

// A Line is a command line: the program that starts a server or an auth provider, with its
// arguments. Package config makes it of a block.
type Line struct {
	Words []string
	Env   map[string]string // that the configuration sets or passes
	Dir   string            // the working directory, an absolute path
	Path  string            // PATH, if Env has none
	// Wrapped is set for a program whose arguments name what it works on. Only programs among
	// them count, unless it is an interpreter.
	Wrapped bool
}

// isDirectory reports whether there is a directory, also behind a link.
func isDirectory(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// separatesWords reports whether a character ends a path in an option, in a list of paths or in
// a line for a shell.
func separatesWords(r rune) bool { return strings.ContainsRune(" \t\n\r;|&()<>\"'`$={},:", r) }

// isScript reports whether a word names a file for certain, although none is there.
func isScript(word string) bool {
	return strings.HasPrefix(word, "./") || strings.HasPrefix(word, "../") ||
		slices.Contains(scriptEndings, filepath.Ext(word))
}
