package danger

import "strings"

// A jqScanner reads a filter of jq, token by token.
type jqScanner struct {
	*cursor
	open     []jqBracket
	previous byte // the last byte of code that is no space; 0 at the start
}

// A jqBracket is an open bracket, or with a quote an interpolation in a string.
type jqBracket struct {
	kind byte
	// worded is true for a bracket with a word that is no key, no field and no variable. The
	// word may be an if or a def, in which a comma separates no keys.
	worded bool
}

// scanJQ refuses a filter that reads the environment or loads modules. Fields such as
// .env, keys such as {env: 1} and texts are no words of the language.
func scanJQ(text string) error {
	c, err := newCursor(text)
	if err != nil {
		return err
	}
	s := &jqScanner{cursor: c}
	for !s.done() {
		if err := s.token(); err != nil {
			return err
		}
	}
	if len(s.open) > 0 {
		return s.unclear("a bracket or a string is open")
	}
	return nil
}

// token reads one token.
func (s *jqScanner) token() error {
	c := s.peek(0)
	switch {
	case c == ' ' || c == '\t' || c == '\n':
		s.at++
		return nil
	case c == '#':
		line, _, _ := strings.Cut(s.text[s.at:], "\n")
		if strings.Contains(line, `\`) {
			// Some versions continue it on the next line.
			return s.unclear("a comment must have no backslash, as the one")
		}
		s.at += len(line)
		return nil
	case c == '"':
		return s.string()
	case digit(c), c == '.' && digit(s.peek(1)):
		return s.number()
	case c == '.' && letter(s.peek(1)) && s.previous != '.':
		s.at++
		s.word()
	case c == '@' && letter(s.peek(1)):
		s.at++
		s.word()
	case letter(c):
		if word := s.word(); !s.key() {
			if err := languageOf("jq").refuses(s.cursor, word); err != nil {
				return err
			}
			if last := len(s.open) - 1; last >= 0 && s.previous != '$' { // no version has a keyword behind "$"
				s.open[last].worded = true
			}
		}
	default:
		return s.symbol(c)
	}
	s.previous = 'a'
	return nil
}

// key reports whether the word before the cursor is a key of an object that is
// constructed: behind "{", or behind a comma and before a colon. Before another comma
// or "}" it is one only if the object has no other word, since versions of jq
// disagree about the words that begin and end a block.
func (s *jqScanner) key() bool {
	last := len(s.open) - 1
	if last < 0 || s.open[last].kind != '{' || s.previous != '{' && s.previous != ',' {
		return false
	}
	rest := strings.TrimLeft(s.text[s.at:], " \t\n")
	switch {
	case rest == "" || strings.HasPrefix(rest, "::"):
		return false
	case rest[0] == ':':
		return true
	}
	return (rest[0] == ',' || rest[0] == '}') && (s.previous == '{' || !s.open[last].worded)
}

// number reads a number. A dot behind it begins no field: 1.env is a number and a word.
func (s *jqScanner) number() error {
	for digit(s.peek(0)) {
		s.at++
	}
	if s.peek(0) == '.' {
		for s.at++; digit(s.peek(0)); {
			s.at++
		}
	}
	if c := s.peek(0); c == 'e' || c == 'E' {
		if next := s.peek(1); digit(next) || (next == '+' || next == '-') && digit(s.peek(2)) {
			for s.at += 2; digit(s.peek(0)); {
				s.at++
			}
		}
	}
	s.previous = '0'
	return nil
}

// symbol reads a bracket or an operator.
func (s *jqScanner) symbol(c byte) error {
	switch c {
	case '(', '[', '{':
		if len(s.open) == maxDepth {
			return s.unclear("too many brackets are open")
		}
		s.open = append(s.open, jqBracket{kind: c})
	case ')', ']', '}':
		last := len(s.open) - 1
		if last < 0 {
			return s.unclear("a bracket was not opened")
		}
		opened := s.open[last].kind
		if c == ')' && opened == '"' {
			s.at++
			s.open = s.open[:last]
			return s.rest()
		}
		if strings.IndexByte("()[]{}", c) != strings.IndexByte("()[]{}", opened)+1 {
			return s.unclear("a bracket was not opened")
		}
		s.open = s.open[:last]
	default:
		if strings.IndexByte(".,:;|?=<>!+-*/%$", c) < 0 || s.starts("::") {
			return s.unclear("a character is not allowed")
		}
	}
	s.at++
	s.previous = c
	return nil
}

// string reads a string from its quote.
func (s *jqScanner) string() error {
	s.at++
	return s.rest()
}

// rest reads the rest of a string, up to its end or to an interpolation.
func (s *jqScanner) rest() error {
	for ; !s.done(); s.at++ {
		switch s.peek(0) {
		case '"':
			s.at++
			s.previous = 'a'
			return nil
		case '\\':
			if s.at++; s.peek(0) != '(' {
				continue
			}
			if len(s.open) == maxDepth {
				return s.unclear("too many brackets are open")
			}
			s.at++
			s.open = append(s.open, jqBracket{kind: '"'})
			s.previous = '('
			return nil
		}
	}
	return s.unclear("a string is open")
}
