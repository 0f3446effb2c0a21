package tool

import (
	"fmt"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/plugins/cli/danger"
	"github.com/junctor-mcp/junctor/plugins/cli/model"
	"github.com/junctor-mcp/junctor/plugins/internal/editdistance"
	"github.com/junctor-mcp/junctor/sdk"
)

// MaxWords bounds the elements of an expression in a call.
const MaxWords = 256

// expression returns the expression of a tool's command, or nil. It records the
// dangerous words in the tool.
func (o *Options) expression(t *Tool, path, words []string) *Expression {
	table := o.Rules.Expression(path)
	if table == nil {
		return nil
	}
	e := &Expression{Expression: table, admitted: map[string]bool{}}
	for i := range table.Words {
		w := &table.Words[i]
		finding := danger.Finding{Names: []string{w.Name}, Effect: w.Effect}
		switch {
		case w.Effect == "":
		case o.admits(words, []string{w.Name}):
			e.admitted[w.Name] = true
			t.Admitted = append(t.Admitted, finding)
		default:
			t.Unsafe = append(t.Unsafe, finding)
		}
	}
	return e
}

// admitsWord reports whether Dangerous names a word of the expression.
func (o *Options) admitsWord(path, words []string) bool {
	e := o.Rules.Expression(path)
	return e != nil && slices.ContainsFunc(e.Words,
		func(w danger.Word) bool { return w.Effect != "" && o.admits(words, []string{w.Name}) })
}

// covers reports whether an option is no property because of the list.
func (e *Expression) covers(opt *model.Option) bool {
	return e != nil &&
		!slices.ContainsFunc(opt.Names, func(name string) bool { return slices.Contains(e.Beside, name) })
}

// replaces reports whether a positional is no property because of the list.
func (e *Expression) replaces(pos *model.Positional) bool {
	return e != nil && !slices.Contains(e.Beside, strings.ToLower(pos.Name))
}

// alone reports whether the list is the whole argument list.
func (e *Expression) alone() bool { return len(e.Beside) == 0 }

// parameter returns the property of a discovered tool. It is the last one.
func (e *Expression) parameter() Parameter {
	return Parameter{Name: e.Property, Role: PositionalRole, Value: model.Value{Kind: model.Expression}, Expression: e,
		Repeatable: true, Required: e.alone()}
}

// Word returns the word with a spelling, or nil and the reason why it is not offered.
func (e *Expression) Word(spelling string) (*danger.Word, string) {
	w := e.Find(spelling)
	switch {
	case w == nil:
		return nil, ""
	case w.Effect != "" && !e.admitted[w.Name]:
		return nil, fmt.Sprintf(`%s is left out because it %s; dangerous = ["%s"] would allow it`,
			w.Name, w.Effect, w.Name)
	case len(e.only) > 0 && !slices.Contains(e.only, w.Name):
		return nil, fmt.Sprintf("%s is not among the words of this tool", w.Name)
	}
	return w, ""
}

// Harmful reports whether a text is a word that is left out. As a value it is refused,
// too: a version of the program that counts values in another way could act on it.
func (e *Expression) Harmful(text string) bool {
	w := e.Find(text)
	return w != nil && w.Effect != ""
}

// maxNear bounds the names in a suggestion.
const maxNear = 3

// Near returns the offered words that are most similar to a text.
func (e *Expression) Near(text string) []string {
	const limit = 3
	near := map[int][]string{}
	for i := range e.Words {
		w := &e.Words[i]
		if one, _ := e.Word(w.Name); one == nil || len(w.Name) < 3 || len(text) > 2*len(w.Name) {
			continue
		}
		if d := editdistance.Distance(text, w.Name, limit); d <= limit && d < len(w.Name)-1 {
			near[d] = append(near[d], w.Name)
		}
	}
	var all []string
	for d := range limit + 1 {
		all = append(all, near[d]...)
	}
	return all[:min(len(all), maxNear)]
}

// about describes the list to the model: the words by the values that follow them.
func (e *Expression) about() string {
	if e.Expression == nil || len(e.Words) == 0 {
		return "" // of a tool block whose program is not known yet
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Words in their order, each element one argument, such as %s. Words", e.Example)
	groups, order := map[string][]string{}, []string{}
	for i := range e.Words {
		w := &e.Words[i]
		if one, _ := e.Word(w.Name); one == nil || w.Rare {
			continue
		}
		var kinds []string
		for _, k := range w.Values {
			kinds = append(kinds, k.Name)
		}
		key := strings.Join(kinds, " ")
		if groups[key] == nil {
			order = append(order, key)
		}
		groups[key] = append(groups[key], w.Name)
	}
	for i, key := range order {
		switch {
		case key != "":
			fmt.Fprintf(&b, "; with %s:", key)
		case i > 0:
			b.WriteString("; without a value:")
		default:
			b.WriteString(":")
		}
		fmt.Fprintf(&b, " %s", strings.Join(groups[key], " "))
	}
	b.WriteString(".")
	if e.Operand != nil {
		fmt.Fprintf(&b, " Other elements: %s.", e.Operand.Name)
	}
	return b.String()
}

// checkExpressions returns the problems of a tool block with the words of the program.
func checkExpressions(t *Tool, rules *danger.Rules, path string) []error {
	var errs []error
	table := rules.Expression(nil)
	for i := range t.Parameters {
		p := &t.Parameters[i]
		if p.Value.Kind != model.Expression || p.Expression == nil {
			continue
		}
		at := fmt.Sprintf("%s.argument[%d].", path, i)
		if table == nil {
			e := sdk.AttrErrorf(at+"type", "the table of expressions does not have this program")
			e.Hint = "use the type list with a pattern"
			errs = append(errs, e)
			continue
		}
		for j, word := range p.Expression.only {
			if w := table.Find(word); w == nil || w.Name != word {
				errs = append(errs, sdk.AttrErrorf(fmt.Sprintf("%swords[%d]", at, j),
					"%q is not in the table of expressions for this program", word))
			}
		}
	}
	return errs
}
