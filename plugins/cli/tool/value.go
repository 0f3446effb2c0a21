package tool

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/junctor-mcp/junctor/plugins/cli/danger"
	"github.com/junctor-mcp/junctor/plugins/cli/model"
)

// Fits returns an error if a text cannot be a value of the parameter. The error
// does not contain the text, which may be long or private.
func (p *Parameter) Fits(text string) error {
	v := p.Value
	if strings.ContainsRune(text, 0) {
		return errors.New("must not contain NUL")
	}
	if len(v.Choices) > 0 && !slices.Contains(v.Choices, text) {
		return fmt.Errorf("must be one of %s", quoted(v.Choices))
	}
	if p.Pattern != nil && !p.Pattern.MatchString(text) {
		return fmt.Errorf("must match %s", pattern(p.Pattern.String()))
	}
	if v.Kind != model.Integer && v.Kind != model.Number {
		return nil
	}
	f, err := strconv.ParseFloat(text, 64)
	switch {
	case err != nil || math.IsInf(f, 0) || math.IsNaN(f):
		return errors.New("must be a number")
	case v.Kind == model.Integer && strings.ContainsAny(text, ".eExXpP_"):
		return errors.New("must be a whole number")
	case v.Minimum != nil && f < *v.Minimum:
		return fmt.Errorf("must be at least %s", strconv.FormatFloat(*v.Minimum, 'f', -1, 64))
	case v.Maximum != nil && f > *v.Maximum:
		return fmt.Errorf("must be at most %s", strconv.FormatFloat(*v.Maximum, 'f', -1, 64))
	}
	return nil
}

// pathWords are the last words in the names of arguments that are files or
// directories.
var pathWords = []string{
	"file", "files", "filename", "filenames", "path", "paths", "pathspec", "pathname", "dir", "dirs", "directory",
	"directories", "folder", "infile", "outfile", "zipfile", "archive", "source", "src", "dest", "destination",
	"target", "input", "output", "repository", "repo", "root", "database", "db",
}

// sentenceWords are the last words in the names of options whose value is a
// message or a pattern. Such a value may have paths between its words.
var sentenceWords = []string{
	"message", "msg", "grep", "pattern", "regexp", "regex", "author", "committer", "title", "body", "description",
	"query", "search", "subject", "comment", "text", "user-agent",
}

// delimiterWords are the last words in the names of options whose value may be
// a slash.
var delimiterWords = []string{"delimiter", "separator", "delim", "sep", "delimiters", "separators"}

// suffixWords are the last words in the names of options whose value is joined
// to the name of a file.
var suffixWords = []string{"suffix", "suffixes", "extension", "ext"}

// fileWords are names of values that are files.
var fileWords = []string{"file", "files", "filename", "outfile", "path", "dir", "directory", "folder", "dest",
	"out", "output"}

// looksLikePath reports whether an argument is a path, by its type or by its
// name.
func looksLikePath(p *Parameter) bool {
	switch p.Value.Kind {
	case model.Path:
		return true
	case model.String, model.List:
		if p.isName() || p.isFormat() {
			return false
		}
		return ends(pathWords, p.Name) || ends(pathWords, p.Value.Placeholder)
	}
	return false
}

// isName reports whether a value is a name of two parts that is no path, by its
// placeholder: OWNER/REPO.
func (p *Parameter) isName() bool {
	return strings.Contains(p.Value.Placeholder, "/") && !ends(fileWords, p.Value.Placeholder) &&
		!ends([]string{"filename", "filenames", "paths"}, p.Value.Placeholder)
}

// isFormat reports whether an option such as --output chooses a format and no
// file, by its description.
func (p *Parameter) isFormat() bool {
	if p.Role != OptionRole || ends(fileOnly, p.Value.Placeholder) {
		return false
	}
	first := strings.ToLower(firstSentence(oneLine(p.Description)))
	return strings.Contains(first, "format") && !aboutFile.MatchString(first)
}

// fileOnly are placeholders that name a file and nothing else.
var fileOnly = []string{"file", "files", "filename", "path", "dir", "directory", "folder", "outfile", "infile"}

// aboutFile matches a description of a file.
var aboutFile = regexp.MustCompile(`\b(files?|filenames?|paths?|director(?:y|ies)|folders?|archives?)\b`)

// classify sets what is known about the values of an argument: by the table,
// where it has one of the names, and by its own name.
func (p *Parameter) classify(rules *danger.Rules, path []string, names ...string) {
	for _, name := range names {
		if c := rules.Content(path, name); c.Text || c.Address || c.Prefix {
			p.Content = c
			break
		}
	}
	p.Path = p.Path || looksLikePath(p)
	if p.Content.Text && p.Value.Kind != model.Path {
		p.Path = false
	}
}

// mapped makes a map of an option with a name and a value.
func (p *Parameter) mapped() {
	if p.Content.Map && p.Role == OptionRole {
		p.Value = model.Value{Kind: model.Map, Arity: p.Value.Arity, Equals: p.Value.Equals, Glued: p.Value.Glued}
		p.Repeatable = false
	}
}

// Pairs reports whether an option is followed by a name and a value.
func (p *Parameter) Pairs() bool { return p.Value.Kind == model.Map && p.Value.Arity == 2 }

// IsSentence reports whether the value of an option is a message or a pattern
// by its name. It is false for positionals, because the program may assign them
// in another order.
func (p *Parameter) IsSentence() bool {
	return p.Role == OptionRole && !p.Path && ends(sentenceWords, strings.TrimLeft(p.Spelling, "-"))
}

// IsDelimiter reports whether the value of an option separates fields.
func (p *Parameter) IsDelimiter() bool {
	return p.Role == OptionRole && !p.Path && ends(delimiterWords, strings.TrimLeft(p.Spelling, "-"))
}

// IsSuffix reports whether the value of an option is joined to the name of a
// file.
func (p *Parameter) IsSuffix() bool {
	return p.Role == OptionRole && ends(suffixWords, strings.TrimLeft(p.Spelling, "-"))
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

func quoted(list []string) string {
	var b strings.Builder
	for i, s := range list {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%q", s)
	}
	return b.String()
}
