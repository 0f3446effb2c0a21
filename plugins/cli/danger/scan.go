package danger

import (
	_ "embed"
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"
)

//go:embed languages.txt
var languagesText string

// A language is what languages.txt says about one language.
type language struct {
	refused map[string]string // what each word does
	allowed map[string]bool
}

var readLanguages = sync.OnceValues(func() (map[string]*language, error) { return parseLanguages(languagesText) })

// languageOf returns a language of the table.
func languageOf(name string) *language {
	all, err := readLanguages()
	if err != nil || all[name] == nil {
		panic("danger: languages.txt: no language " + name) // a test parses the table
	}
	return all[name]
}

// parseLanguages parses languages.txt; its head describes the format.
func parseLanguages(text string) (map[string]*language, error) {
	all := map[string]*language{}
	var current *language
	n := 0
	for line := range strings.Lines(text) {
		n++
		line, does, _ := strings.Cut(strings.TrimSpace(line), " -- ")
		does, _, _ = strings.Cut(does, " (")
		fields := strings.Fields(line)
		switch {
		case len(fields) == 0 || strings.HasPrefix(fields[0], "#"):
		case fields[0] == "language" && len(fields) == 2:
			current = &language{refused: map[string]string{}, allowed: map[string]bool{}}
			all[fields[1]] = current
		case fields[0] == "refuse" && current != nil && len(fields) > 1 && does != "":
			for _, word := range fields[1:] {
				current.refused[word] = does
			}
		case fields[0] == "allow" && current != nil:
			for _, word := range fields[1:] {
				current.allowed[word] = true
			}
		default:
			return nil, fmt.Errorf("line %d is not understood", n)
		}
	}
	return all, nil
}

// A cursor is a place in a text. A scanner makes one for each text.
type cursor struct {
	text string
	at   int
}

// maxDepth bounds how deep brackets and strings are nested.
const maxDepth = 100

// maxValue bounds a value of an expression, in bytes.
const maxValue = 16 << 10

// newCursor returns a cursor at the start of a text. It fails if the text is not
// UTF-8, too long or has control characters but tabs and line feeds.
func newCursor(text string) (*cursor, error) {
	switch {
	case len(text) > maxValue:
		return nil, fmt.Errorf("must have at most %d bytes", maxValue)
	case !utf8.ValidString(text):
		return nil, fmt.Errorf("must be UTF-8")
	}
	for i := range len(text) {
		if c := text[i]; c < ' ' && c != '\t' && c != '\n' || c == 0x7f {
			return nil, fmt.Errorf("has a control character at byte %d", i)
		}
	}
	return &cursor{text: text}, nil
}

// peek returns the byte at a distance, or 0 at the end.
func (c *cursor) peek(distance int) byte {
	if c.at+distance >= len(c.text) {
		return 0
	}
	return c.text[c.at+distance]
}

func (c *cursor) done() bool { return c.at >= len(c.text) }

// starts reports whether the rest begins with a text.
func (c *cursor) starts(with string) bool { return strings.HasPrefix(c.text[c.at:], with) }

// word reads a name, or returns "".
func (c *cursor) word() string {
	start := c.at
	for c.at < len(c.text) && (letter(c.text[c.at]) || c.at > start && digit(c.text[c.at])) {
		c.at++
	}
	return c.text[start:c.at]
}

// unclear is the error for a text that a scanner does not understand here.
func (c *cursor) unclear(what string) error {
	return fmt.Errorf("%s at byte %d", what, min(c.at, len(c.text)))
}

// refuses returns an error if a word of the language does harm. It ends before the cursor.
func (l *language) refuses(c *cursor, word string) error {
	if does := l.refused[word]; does != "" {
		return fmt.Errorf("the word %s at byte %d %s", word, c.at-len(word), does)
	}
	return nil
}

func letter(c byte) bool { return c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z' }
func digit(c byte) bool  { return c >= '0' && c <= '9' }
