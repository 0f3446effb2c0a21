package danger

import (
	"fmt"
	"regexp"
	"strings"
)

// fileOption matches the name of an option of a filter that names a file or a program.
var fileOption = regexp.MustCompile(`(?i)file|path|url|plugin|script|command`)

// scanFilters refuses a graph of filters of ffmpeg with a filter that is not in the
// table, or with an option that reads or writes a file.
func scanFilters(text string) error {
	c, err := newCursor(text)
	if err != nil {
		return err
	}
	for {
		c.labels()
		if err := c.filter(); err != nil {
			return err
		}
		c.labels()
		switch c.peek(0) {
		case ',', ';':
			c.at++
		case 0:
			return nil
		default:
			return c.unclear("a comma or a semicolon is missing between filters")
		}
	}
}

// plainValue matches a value that is no graph of filters, such as the width in "scale={width}:-2".
var plainValue = regexp.MustCompile(`^[A-Za-z0-9_.+*/()-]{1,100}$`)

// scanFilterValue accepts a graph of filters, or a plain value in one.
func scanFilterValue(text string) error {
	if plainValue.MatchString(text) {
		return nil
	}
	return scanFilters(text)
}

// spaces skips spaces.
func (c *cursor) spaces() {
	for strings.IndexByte(" \t\n", c.peek(0)) >= 0 && !c.done() {
		c.at++
	}
}

var label = regexp.MustCompile(`\A\[[A-Za-z0-9_:]{1,40}\]`)

// labels skips names of streams in brackets.
func (c *cursor) labels() {
	for c.spaces(); ; c.spaces() {
		name := label.FindString(c.text[c.at:])
		if name == "" {
			return
		}
		c.at += len(name)
	}
}

// filter reads one filter with its arguments.
func (c *cursor) filter() error {
	name := c.word()
	if !languageOf("filters").allowed[name] {
		if name == "" {
			return c.unclear("the name of a filter is missing")
		}
		return fmt.Errorf("the filter %s at byte %d is not one of those that touch no other file",
			printableName(name), c.at-len(name))
	}
	if c.peek(0) == '@' {
		c.at++
		if c.word() == "" {
			return c.unclear("a name is missing")
		}
	}
	c.spaces()
	if c.peek(0) != '=' {
		return nil
	}
	c.at++
	return c.arguments()
}

// arguments reads the arguments of a filter, which may have quotes and backslashes.
func (c *cursor) arguments() error {
	start := c.at
	var plain strings.Builder
	quoted := false
	for ; !c.done(); c.at++ {
		b := c.peek(0)
		switch {
		case b == '\'':
			quoted = !quoted
			continue
		case quoted:
		case b == '\\':
			if c.at++; c.done() {
				return c.unclear("a backslash is not understood")
			}
		case strings.IndexByte("[],;", b) >= 0:
			return filterArguments(plain.String(), start)
		}
		plain.WriteByte(c.peek(0))
	}
	if quoted {
		return c.unclear("a quote is open")
	}
	return filterArguments(plain.String(), start)
}

// filterArguments refuses arguments that name a file: an option with such a name, and
// "/option=FILE", with which newer versions read a value from a file.
func filterArguments(text string, start int) error {
	if fileOption.MatchString(text) {
		return fmt.Errorf("an option of the filter at byte %d names a file or a program", start)
	}
	for i := range len(text) {
		if text[i] == '/' && (i == 0 || !letter(text[i-1]) && !digit(text[i-1]) && text[i-1] != ')') {
			return fmt.Errorf("a slash in the arguments at byte %d must follow a number, a name or a parenthesis",
				start)
		}
	}
	return nil
}

// printableName shortens a name for a message.
func printableName(name string) string {
	if len(name) > 32 {
		return name[:32] + "…"
	}
	return name
}
