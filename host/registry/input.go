package registry

import (
	"fmt"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/host/clientconfig"
)

// maxText bounds one value of an entry, in bytes.
const maxText = 4 << 10

// input resolves one input. given is false if it is optional and nothing has a value for it.
func (b *builder) input(in Input, id string) (text string, given bool, err error) {
	if in.Value != "" {
		text, err = b.template(in.Value, in.Variables)
		return text, true, err
	}
	if err := literal(in.Default); err != nil {
		return "", false, err
	}
	if !in.Required && (in.Secret || in.Default == "") {
		if _, ok := b.given[id]; ok {
			text, err = b.ask(in, id)
			return text, true, err
		}
		if id != "" {
			b.note("%s is optional and was left out%s", id, about(in.Description))
		}
		return "", false, nil
	}
	if _, ok := b.given[id]; !ok && in.Default != "" && !in.Secret {
		return in.Default, true, nil
	}
	text, err = b.ask(in, id)
	return text, true, err
}

// ask returns the answer to a question, or a reference.
func (b *builder) ask(in Input, id string) (string, error) {
	if id == "" {
		return "", fmt.Errorf("it wants a value that has no name%s", about(in.Description))
	}
	if text, ok := b.asked[id]; ok {
		return text, nil
	}
	value, ok := b.given[id]
	if !ok && b.answer != nil {
		value, ok = b.answer(Question{ID: id, Description: in.Description, Secret: in.Secret, Choices: in.Choices})
	}
	switch {
	case ok && !in.Secret && len(in.Choices) > 0 && !slices.Contains(in.Choices, value):
		return "", fmt.Errorf("%s must be one of %s", id, strings.Join(in.Choices, ", "))
	case !ok || in.Secret:
		if strings.ContainsAny(id, "${}") {
			return "", fmt.Errorf("%q is not the name of an input", id)
		}
		b.out.Inputs = append(b.out.Inputs, clientconfig.Input{ID: id, Secret: in.Secret})
		value = "${input:" + id + "}"
	}
	b.asked[id] = value
	return value, nil
}

// template replaces {NAME} in a text by the variable.
func (b *builder) template(text string, variables map[string]Input) (string, error) {
	if err := literal(text); err != nil {
		return "", err
	}
	var out strings.Builder
	for text != "" {
		before, rest, open := strings.Cut(text, "{")
		name, after, closed := strings.Cut(rest, "}")
		in, known := variables[name]
		if !open || !closed || !known {
			out.WriteString(before)
			if open {
				out.WriteByte('{')
			}
			text = rest
			continue
		}
		out.WriteString(before)
		in.Required = in.Required || in.Default == "" // the text has a place for it
		value, _, err := b.input(in, name)
		if err != nil {
			return "", err
		}
		out.WriteString(value)
		text = after
	}
	return out.String(), nil
}

// literal refuses text of an entry that could be taken for a reference.
func literal(text string) error {
	switch {
	case len(text) > maxText:
		return fmt.Errorf("a value has more than %d KiB", maxText>>10)
	case strings.Contains(text, "${input:"):
		return fmt.Errorf("a value contains the reference ${input:…}")
	}
	return nil
}

// about returns a description in parentheses.
func about(text string) string {
	if text = strings.Join(strings.Fields(text), " "); text == "" || len(text) > 200 {
		return ""
	}
	return " (" + text + ")"
}
