package run

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"regexp"
	"strings"

	"github.com/junctor-mcp/junctor/plugins/cli/danger"
	"github.com/junctor-mcp/junctor/plugins/cli/model"
	"github.com/junctor-mcp/junctor/plugins/cli/tool"
)

var (
	variable = regexp.MustCompile(`\A[A-Za-z_][A-Za-z0-9_]{0,63}\z`)
	negative = regexp.MustCompile(`\A-[0-9]{1,19}\z`)
)

// A walker reads an expression from left to right. There is one way to read it: an
// element is a word of the table with the values that follow it, or an operand.
type walker struct {
	*decoder
	param *tool.Parameter
	texts []string
	at    int
	all   []value
}

// expression reads the list of an expression. It returns the arguments, which are the
// elements and what the table places before some.
func (d *decoder) expression(p *tool.Parameter, raw json.RawMessage) []value {
	var elements []json.RawMessage
	switch err := json.Unmarshal(raw, &elements); {
	case err != nil:
		d.failf(p.Name, "must be a list")
		return nil
	case len(elements) > tool.MaxWords:
		d.failf(p.Name, "must have at most %d elements", tool.MaxWords)
		return nil
	case len(elements) == 0 && p.Required:
		d.failf(p.Name, "must not be empty")
		return nil
	case p.Expression == nil:
		d.failf(p.Name, "cannot be used: the table of expressions does not have this program")
		return nil
	}
	w := &walker{decoder: d, param: p}
	for i, raw := range elements {
		text, ok := d.text(w.place(i), raw)
		if !ok {
			return nil
		}
		w.texts = append(w.texts, text)
	}
	for w.at < len(w.texts) {
		if !w.step() {
			return nil
		}
	}
	if end := p.Expression.Close; end != "" {
		w.all = append(w.all, value{text: end, path: p.Name})
	}
	return w.all
}

// place returns the path of an element for messages.
func (w *walker) place(i int) string { return fmt.Sprintf("%s[%d]", w.param.Name, i) }

func (w *walker) add(texts ...string) {
	for _, text := range texts {
		w.all = append(w.all, value{text: text, path: w.place(w.at)})
	}
}

// step reads a word with its values, or an operand. It reports whether it is allowed.
func (w *walker) step() bool {
	e, text := w.param.Expression, w.texts[w.at]
	word, reason := e.Word(text)
	switch {
	case reason != "":
		w.failf(w.place(w.at), "%s", reason)
		return false
	case word == nil:
		return w.operand(text)
	}
	w.add(word.Prepend...)
	w.add(text)
	w.at++
	if word.Command {
		return w.command(word)
	}
	for _, kind := range word.Values {
		if w.at == len(w.texts) {
			w.failf(w.param.Name, "ends after %s, which needs a value of the kind %s", word.Name, kind.Name)
			return false
		}
		if !w.value(kind) {
			return false
		}
	}
	return true
}

// operand reads an element that is no word.
func (w *walker) operand(text string) bool {
	e := w.param.Expression
	dashed := strings.HasPrefix(text, "-") &&
		!(e.Operand != nil && (text == "-" && e.Operand.Path || negative.MatchString(text) && !e.Operand.Path))
	if e.Operand != nil && !dashed {
		w.add(e.Prepend...)
		return w.value(e.Operand)
	}
	hint := ""
	if near := e.Near(text); len(near) > 0 {
		hint = "; similar words are " + strings.Join(near, ", ")
	}
	w.failf(w.place(w.at), "is not a word of the expression, and no word before it takes a value%s", hint)
	return false
}

// value reads a value of a kind.
func (w *walker) value(kind *danger.Kind) bool {
	text, at := w.texts[w.at], w.place(w.at)
	switch err := kind.Fits(text); {
	case err != nil:
		w.failf(at, "%v", err)
		return false
	case w.param.Expression.Harmful(text):
		w.failf(at, "must not be a word that is left out because it does harm")
		return false
	}
	as := &tool.Parameter{Name: w.param.Name, Content: danger.Content{Text: kind.Text}}
	if kind.Path {
		as.Path, as.Value.Kind = true, model.Path
	}
	if !w.check(as, at, text) {
		return false
	}
	if kind.Numbered && !w.numbered(text) {
		return false
	}
	w.add(text)
	w.at++
	return true
}

var errNumbered = errors.New("must have a number such as %03d only in the name of the file, not in a directory")

// numbered checks a path with %d, which stands for many: no link with such a name may
// lead elsewhere.
func (w *walker) numbered(text string) bool {
	start, _, found := strings.Cut(text, "%")
	switch {
	case !found:
		return true
	case strings.Contains(path.Dir(text), "%"):
		w.failf(w.place(w.at), "%v", errNumbered)
		return false
	}
	return w.check(&tool.Parameter{Name: w.param.Name, Content: danger.Content{Prefix: true}}, w.place(w.at), start)
}

// command reads the arguments of a word such as -exec up to ";" or "{} +".
func (w *walker) command(word *danger.Word) bool {
	for start := w.at; w.at < len(w.texts); {
		text := w.texts[w.at]
		end := text == ";" || text == "+" && w.at > start && w.texts[w.at-1] == "{}"
		if !w.value(word.Values[0]) {
			return false
		}
		if end {
			return true
		}
	}
	w.failf(w.param.Name, `ends within %s, whose command ends with ";" or "{}", "+"`, word.Name)
	return false
}
