package danger

import (
	_ "embed"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
)

//go:embed expressions.txt
var expressionsText string

// An Expression describes an ordered list of words and their values, which is
// the argument list of a program or the end of it, as the expression of find. It is read once and
// never changed.
type Expression struct {
	Property string   // the name of the list in the schema
	Beside   []string // options and positionals that are properties of their own
	Opens    string   // the name of the program whose argument list ends with Close
	Close    string   // ends the argument list; may be empty
	Operand  *Kind    // of an argument that is no word; nil for none
	Prepend  []string // arguments to place before an operand
	Example  string   // a JSON list
	Words    []Word
}

// A Word is one word of an expression.
type Word struct {
	Name    string
	Stream  bool     // the name may be followed by ":STREAM"
	Values  []*Kind  // of the arguments behind the word
	Command bool     // all arguments up to ";" or "{} +" belong to the word
	Prepend []string // arguments to place before the word
	Rare    bool     // descriptions leave the word out
	Effect  Effect   // if set, the word is left out unless the configuration names it
}

// A Kind is a kind of values in an expression.
type Kind struct {
	Name     string
	Text     bool // the program never opens the value as a file
	Path     bool // a path; without Text and Path the value may contain one
	Numbered bool // %d in it stands for a number

	match *regexp.Regexp // what the whole value matches; may be nil
	scan  scanner        // may be nil
}

// Fits returns an error if a text cannot be a value of this kind. The error does
// not contain the text.
func (k *Kind) Fits(text string) error {
	switch {
	case len(text) > maxValue:
		return fmt.Errorf("must have at most %d bytes", maxValue)
	case strings.ContainsRune(text, 0):
		return errors.New("must not contain NUL")
	case k.match != nil && !k.match.MatchString(text):
		return fmt.Errorf("must be of the kind %s", k.Name)
	case k.scan != nil:
		return k.scan(text)
	}
	return nil
}

// streamPart matches what may follow a word with a stream.
var streamPart = regexp.MustCompile(`\A(?::[A-Za-z0-9#]{1,16}){0,4}\z`)

// Find returns the word with a spelling, or nil.
func (e *Expression) Find(spelling string) *Word {
	for i := range e.Words {
		w := &e.Words[i]
		rest, ok := strings.CutPrefix(spelling, w.Name)
		if ok && (rest == "" || w.Stream && streamPart.MatchString(rest)) {
			return w
		}
	}
	return nil
}

// Expression returns the expression of the command at path, or nil. A sub-command
// has none.
func (r *Rules) Expression(path []string) *Expression {
	if r == nil || len(path) > 0 {
		return nil
	}
	all, err := readExpressions()
	if err != nil {
		panic("danger: expressions.txt: " + err.Error()) // a test parses the table
	}
	e := all[r.program]
	if e == nil || e.Close == "" || r.program == e.Opens {
		return e
	}
	plain := *e
	plain.Close = ""
	return &plain
}

// Operators returns the words of the program's expression that are no options, such as "!"
// of find. In the place of another argument they would change the meaning of what follows.
func (r *Rules) Operators(path []string) []string {
	e := r.Expression(path)
	if e == nil {
		return nil
	}
	var all []string
	for i := range e.Words {
		if name := e.Words[i].Name; !strings.HasPrefix(name, "-") {
			all = append(all, name)
		}
	}
	return all
}

var readExpressions = sync.OnceValues(func() (map[string]*Expression, error) {
	return parseExpressions(expressionsText)
})

// An expressionParser reads expressions.txt.
type expressionParser struct {
	kinds    map[string]*Kind
	sets     []string // "$NAME" and its text, for strings.NewReplacer
	programs map[string]*Expression
	current  *Expression
}

// parseExpressions parses the table of expressions by program.
func parseExpressions(text string) (map[string]*Expression, error) {
	p := &expressionParser{kinds: map[string]*Kind{}, programs: map[string]*Expression{}}
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		keyword, rest, _ := strings.Cut(line, " ")
		if err := p.line(keyword, strings.TrimSpace(rest)); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
	}
	return p.programs, nil
}

// line reads one line.
func (p *expressionParser) line(keyword, rest string) error {
	fields := strings.Fields(rest)
	switch keyword {
	case "kind":
		return p.kind(fields)
	case "set":
		p.sets = append(p.sets, "$"+fields[0], strings.TrimSpace(strings.TrimPrefix(rest, fields[0])))
		return nil
	case "program":
		p.current = &Expression{}
		for _, name := range fields {
			p.programs[name] = p.current
		}
		return nil
	}
	if p.current == nil {
		return fmt.Errorf("%q before the first program", keyword)
	}
	switch keyword {
	case "property":
		p.current.Property = rest
	case "beside":
		p.current.Beside = fields
	case "close":
		if len(fields) != 2 {
			return errors.New("needs the name of a program and a word")
		}
		p.current.Opens, p.current.Close = fields[0], fields[1]
	case "example":
		p.current.Example = rest
	case "operand":
		if p.current.Operand = p.kinds[rest]; p.current.Operand == nil {
			return fmt.Errorf("there is no kind %q", rest)
		}
	case "with":
		return p.with(fields)
	case "words", "rare":
		return p.words(Word{Rare: keyword == "rare"}, fields)
	case "out":
		if effect := Effect(fields[0]); texts[effect] != "" {
			return p.words(Word{Effect: effect}, fields[1:])
		}
		return fmt.Errorf("%q is not an effect", fields[0])
	default:
		return fmt.Errorf("%q is not a keyword", keyword)
	}
	return nil
}

// kind reads the tests of a kind.
func (p *expressionParser) kind(fields []string) error {
	k := &Kind{Name: fields[0]}
	p.kinds[k.Name] = k
	for i := 1; i < len(fields); i++ {
		switch fields[i] {
		case "any":
		case "text":
			k.Text = true
		case "path":
			k.Path = true
		case "numbered":
			k.Numbered = true
		case "scan":
			i++
			if i == len(fields) || scanners[fields[i]] == nil {
				return errors.New("there is no such scanner")
			}
			k.scan = scanners[fields[i]]
		case "match":
			var err error
			k.match, err = regexp.Compile(`\A(?:` + strings.Join(fields[i+1:], " ") + `)\z`)
			return err
		default:
			return fmt.Errorf("%q is not a test", fields[i])
		}
	}
	return nil
}

// words adds words like the given one, and the kinds of their values.
func (p *expressionParser) words(like Word, fields []string) error {
	names, kinds := fields, []string(nil)
	if at := slices.Index(fields, "->"); at >= 0 {
		names, kinds = fields[:at], fields[at+1:]
	}
	for _, name := range names {
		w := like
		w.Name, w.Stream = strings.CutSuffix(name, ":*")
		for _, kind := range kinds {
			k := p.kinds[kind]
			if k == nil {
				return fmt.Errorf("there is no kind %q", kind)
			}
			w.Values, w.Command = append(w.Values, k), kind == "command"
		}
		if p.current.Find(w.Name) != nil {
			return fmt.Errorf("%q occurs twice", w.Name)
		}
		p.current.Words = append(p.current.Words, w)
	}
	return nil
}

// with adds arguments to place before words..
func (p *expressionParser) with(fields []string) error {
	if len(fields) < 2 {
		return errors.New("names no arguments")
	}
	var arguments []string
	for _, field := range fields[1:] {
		arguments = append(arguments, strings.NewReplacer(p.sets...).Replace(field))
	}
	for name := range strings.SplitSeq(fields[0], ",") {
		w := p.current.Find(name)
		switch {
		case name == "operand":
			p.current.Prepend = arguments
		case w == nil:
			return fmt.Errorf("%q is not a word above", name)
		default:
			w.Prepend = arguments
		}
	}
	return nil
}
