package clientconfig

import (
	"fmt"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/host/lazyregexp"
)

// A Target is what a client connects to: a command or a URL. It is a value.
type Target struct {
	Name    string     // of the entry in the client's file
	Command []string   // the program and its arguments; empty: use URL
	Env     []Variable // for the program, in this order
	URL     string
	Token   string // the environment variable of the token; empty: no token
}

// A Variable is an environment variable of the program, with its value.
type Variable struct{ Name, Value string }

// TokenVariable is the default variable for the token.
const TokenVariable = "JUNCTOR_TOKEN"

// Local reports whether the client starts a program.
func (t Target) Local() bool { return len(t.Command) > 0 }

// Has reports whether the program gets a variable.
func (t Target) Has(name string) bool {
	return slices.ContainsFunc(t.Env, func(v Variable) bool { return v.Name == name })
}

// All clients accept names of this form without quotes.
var (
	entryName    = lazyregexp.New(`^[A-Za-z][A-Za-z0-9_-]{0,63}$`)
	variableName = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]{0,127}$`)
)

// An UnfitError says why a client does not support a target. What is a sentence without
// a full stop.
type UnfitError struct{ What, Hint string }

func (e *UnfitError) Error() string { return e.What }

func unsupported(hint, format string, args ...any) error {
	return &UnfitError{What: fmt.Sprintf(format, args...), Hint: hint}
}

// check returns an [*UnfitError] if the client does not support the target.
func (c *Client) check(t Target) error {
	switch {
	case c.reads:
		return unsupported("give it the command junctor serve by hand", "%s is only imported", c.Title)
	case !entryName.MatchString(t.Name):
		return unsupported("use letters, digits, - and _, starting with a letter, at most 64",
			"%q cannot be the name of an entry", t.Name)
	case t.Token != "" && !variableName.MatchString(t.Token):
		return unsupported("use letters, digits and _", "%q cannot be the name of an environment variable", t.Token)
	case !t.Local() && c.remote == nil:
		return unsupported("omit --http", "%s only starts programs", c.Title)
	case !t.Local() && t.Token != "" && c.TokenLess:
		return unsupported("use --stdio; or --token-env= and write the header by hand",
			"%s takes no token from an environment variable", c.Title)
	}
	// A client that replaces references has no escape for them.
	texts := append([]string{t.URL}, t.Command...)
	for _, v := range t.Env {
		if !variableName.MatchString(v.Name) {
			return unsupported("use letters, digits and _", "%q cannot be the name of an environment variable", v.Name)
		}
		texts = append(texts, v.Value)
	}
	for _, text := range texts {
		for _, opening := range c.expands {
			if strings.Contains(text, opening) {
				return unsupported("choose a path or an address without it",
					"%s would expand the text after %s in %s", c.Title, opening, text)
			}
		}
	}
	return nil
}
