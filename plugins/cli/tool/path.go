package tool

import (
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/plugins/cli/model"
)

// pathWords end the names of arguments that are files or directories.
var pathWords = []string{
	"file", "files", "filename", "filenames", "path", "paths", "pathspec", "pathname", "dir", "dirs", "directory", "directories", "folder",
	"infile", "outfile", "zipfile", "archive", "source", "src", "dest", "destination", "target", "input", "output", "repository", "repo", "root", "database", "db",
}

// textWords end the names of options whose value is text for people or a
// pattern, and never a path.
var textWords = []string{
	"message", "msg", "grep", "pattern", "regexp", "regex", "author", "committer", "format", "pretty", "title", "body", "description", "query",
	"search", "subject", "comment", "text", "string", "delimiter", "separator", "date", "since", "until", "after", "before", "glob", "include", "exclude", "header", "user-agent", "referer",
}

// looksLikePath reports whether an argument names a file. A discovered argument
// that is called so counts as a path even where the program prints no type.
func looksLikePath(p *Parameter) bool {
	switch p.Value.Kind {
	case model.Path:
		return true
	case model.String, model.List:
		return ends(pathWords, p.Name) || ends(pathWords, p.Value.Placeholder)
	}
	return false
}

// IsText reports whether the value of an option is text in which a path means
// nothing. Positionals never are: a program may take another one first.
func (p *Parameter) IsText() bool {
	return p.Role == OptionRole && !p.Path && ends(textWords, strings.TrimLeft(p.Spelling, "-"))
}

// ends reports whether the last word of a name is in a list.
func ends(list []string, name string) bool {
	name = strings.ToLower(strings.Trim(name, "<>[]{}. "))
	if slices.Contains(list, name) {
		return true
	}
	parts := strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune("-_. :/<>[]", r) })
	return len(parts) > 0 && slices.Contains(list, parts[len(parts)-1])
}
