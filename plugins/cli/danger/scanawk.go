package danger

import (
	"slices"
	"strings"
)

// An awkScanner reads a program of awk, token by token. It keeps no syntax tree. It
// refuses what harms, and what gawk, mawk, busybox and the original awk may split into
// tokens in different ways: else one of them could run what the scanner takes for a text.
type awkScanner struct {
	*cursor
	previous string // the last token: its text, or one of the classes below
	parens   []bool // of each open parenthesis, whether it belongs to if, while or for
	printing int    // 1 + the number of parentheses that were open at print, or 0
	getting  bool   // after getline, in the same statement
	brackets int    // open square brackets
}

// Classes of tokens, for awkScanner.previous.
const (
	awkOperand = "operand" // a name, a number, or a closing bracket
	awkHeader  = "header"  // the closing parenthesis of if, while or for
	awkBuiltin = "builtin" // a keyword or a function that may stand without parentheses
	awkText    = "text"    // a string or a regular expression
)

// awkWords are names that are no operands.
var awkWords = strings.Fields(`BEGIN END BEGINFILE ENDFILE function func if else while for do break continue next nextfile exit return delete in getline
	print printf switch case default length close fflush`)

// awkBeforeRegexp are the tokens after which a slash begins a regular expression, for
// every awk.
var awkBeforeRegexp = strings.Fields(`( , ~ ! !~ && || ; { } = == != return print`)

// awkOperators are the operators, longest first.
var awkOperators = strings.Fields(
	`**= >>= ** ++ -- += -= *= %= ^= == != <= >= !~ && || >> ( ) { } [ ] ; , + - * % ^ ! < > = ~ ? : $`,
)

// scanAwk refuses a program of awk that runs programs, or reads or writes files other
// than those of the command line.
func scanAwk(text string) error {
	c, err := newCursor(text)
	if err != nil {
		return err
	}
	s := &awkScanner{cursor: c, previous: ";"}
	for !s.done() {
		if err := s.token(); err != nil {
			return err
		}
	}
	if len(s.parens) > 0 || s.brackets != 0 {
		return s.unclear("a bracket is open")
	}
	return nil
}

// token reads one token.
func (s *awkScanner) token() error {
	switch c := s.peek(0); {
	case c == ' ' || c == '\t':
		s.at++
	case c == '\n':
		s.at++
		if s.previous = ";"; len(s.parens)+s.brackets > 0 {
			s.previous = awkBuiltin // busybox goes on with the expression, others do not
		}
	case c == '#':
		return s.comment()
	case c == '"':
		return s.text()
	case c == '/':
		return s.slash()
	case digit(c), c == '.' && digit(s.peek(1)):
		return s.number()
	case letter(c):
		return s.name(s.word())
	default:
		return s.operator()
	}
	return nil
}

// comment skips a comment. One that ends in a backslash may continue for some.
func (s *awkScanner) comment() error {
	line, _, _ := strings.Cut(s.cursor.text[s.at:], "\n")
	if strings.HasSuffix(line, `\`) {
		return s.unclear("a comment must not end in a backslash, as the one")
	}
	s.at += len(line)
	return nil
}

// text reads a string.
func (s *awkScanner) text() error {
	for s.at++; !s.done(); s.at++ {
		switch s.peek(0) {
		case '\n':
			return s.unclear("a string must end on its line, as the one")
		case '\\':
			if s.at++; s.peek(0) == '\n' {
				return s.unclear("a string must end on its line, as the one")
			}
		case '"':
			s.at++
			s.previous = awkText
			return nil
		}
	}
	return s.unclear("a string is open")
}

// slash reads a division or a regular expression. Where both are possible for some
// awk, it fails.
func (s *awkScanner) slash() error {
	switch {
	case s.previous == awkOperand:
		s.at++
		if s.peek(0) == '=' {
			s.at++
		}
		s.previous = "/"
		return nil
	case slices.Contains(awkBeforeRegexp, s.previous):
		return s.regexp()
	}
	return s.unclear("put parentheses around the regular expression or the division")
}

// regexp reads a regular expression. Only an unambiguous end is accepted.
func (s *awkScanner) regexp() error {
	if s.peek(1) == '=' {
		return s.unclear(`write \= for the equals sign that begins the regular expression`)
	}
	brackets := false
	for s.at++; !s.done(); s.at++ {
		switch c := s.peek(0); {
		case c == '\n':
			return s.unclear("a regular expression must end on its line, as the one")
		case c == '\\':
			if s.at++; s.peek(0) == '\n' || s.done() || brackets && strings.IndexByte("[]", s.peek(0)) >= 0 {
				return s.unclear("a backslash is not understood")
			}
		case brackets && c == '[':
			if !s.class() {
				return s.unclear(`write a bracket within brackets as \133`)
			}
		case c == '[':
			brackets = true
			if s.peek(1) == '^' {
				s.at++
			}
			if s.peek(1) == ']' {
				return s.unclear(`write a bracket within brackets as \135`)
			}
		case c == ']':
			brackets = false
		case c == '/' && brackets:
			return s.unclear(`write \/ for a slash within brackets`)
		case c == '/':
			s.at++
			s.previous = awkText
			return nil
		}
	}
	return s.unclear("a regular expression is open")
}

// class skips a class such as [:alpha:] up to its closing bracket.
func (s *awkScanner) class() bool {
	rest := s.cursor.text[s.at:]
	end := strings.Index(rest, ":]")
	if !strings.HasPrefix(rest, "[:") || end < 3 || strings.Trim(rest[2:end], "abcdefghijklmnopqrstuvwxyz") != "" {
		return false
	}
	s.at += end + 1
	return true
}

// number reads a number. A letter behind it is refused: 1e5x is split in different ways.
func (s *awkScanner) number() error {
	for digit(s.peek(0)) || s.peek(0) == '.' {
		s.at++
	}
	if c := s.peek(0); c == 'e' || c == 'E' {
		s.at++
		if c := s.peek(0); c == '+' || c == '-' {
			s.at++
		}
		if !digit(s.peek(0)) {
			return s.unclear("a number is not understood")
		}
		for digit(s.peek(0)) {
			s.at++
		}
	}
	if letter(s.peek(0)) || s.peek(0) == '.' {
		return s.unclear("a number is not understood")
	}
	s.previous = awkOperand
	return nil
}

// name handles a name that was read.
func (s *awkScanner) name(word string) error {
	if err := languageOf("awk").refuses(s.cursor, word); err != nil {
		return err
	}
	switch {
	case word == "print" || word == "printf":
		s.printing = len(s.parens) + 1
		s.previous = "print"
	case word == "return":
		s.previous = word
	case word == "getline":
		s.getting = true
		s.previous = awkBuiltin
	case word == "if" || word == "while" || word == "for" || word == "switch":
		s.previous = awkHeader + "(" // the parenthesis comes next
	case slices.Contains(awkWords, word):
		s.previous = awkBuiltin
	default:
		s.previous = awkOperand
	}
	return nil
}

// operator reads an operator.
func (s *awkScanner) operator() error {
	at := slices.IndexFunc(awkOperators, s.starts)
	switch {
	case s.starts("|") && !s.starts("||"):
		return s.unclear("a pipe runs a program: it is not allowed")
	case s.starts("@"):
		return s.unclear("@ loads code or calls any function: it is not allowed")
	case at < 0 || s.starts("::"):
		return s.unclear("a character is not allowed")
	}
	op := awkOperators[at]
	switch op {
	case ";", "}":
		s.printing, s.getting = 0, false
	case "{":
		s.getting = false
	case "[":
		s.brackets++
	case "]":
		s.brackets--
	case ">", ">>", ">>=":
		if s.printing > 0 && len(s.parens) < s.printing {
			return s.unclear("print must not write to a file; put parentheses around the comparison")
		}
		if op != ">" {
			return s.unclear("a redirection is not allowed")
		}
	case "<":
		if s.getting {
			return s.unclear("getline must not read from a file")
		}
	case "(":
		if len(s.parens) == maxDepth {
			return s.unclear("too many parentheses are open")
		}
		s.parens = append(s.parens, s.previous == awkHeader+"(")
	case ")":
		return s.closing()
	}
	s.at += len(op)
	if s.previous = op; op == "]" {
		s.previous = awkOperand
	}
	return nil
}

// closing reads a closing parenthesis.
func (s *awkScanner) closing() error {
	last := len(s.parens) - 1
	if last < 0 {
		return s.unclear("a parenthesis was not opened")
	}
	if s.previous = awkOperand; s.parens[last] {
		s.previous = awkHeader
	}
	s.parens = s.parens[:last]
	s.at++
	return nil
}
