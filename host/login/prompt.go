package login

import (
	"context"
	"io"

	"github.com/junctor-mcp/junctor/sdk"
)

const (
	maxFields = 16       // of one prompt
	maxLine   = 16 << 10 // of one answer, and of what is pasted
)

// Prompt asks for the fields one after the other. It needs a terminal: what is
// in a pipe was not meant for a question that nobody knew of.
func (t *Terminal) Prompt(ctx context.Context, p sdk.Prompt) (map[string]string, error) {
	switch {
	case len(p.Fields) > maxFields:
		return nil, sdk.Errorf(sdk.Invalid, "a prompt has at most %d fields, this one has %d", maxFields, len(p.Fields))
	case t.in == nil || !t.in.terminal:
		return nil, noTerminal()
	}
	if title := plain(p.Title); title != "" {
		t.printf("%s\n", title)
	}
	answers := map[string]string{}
	for _, f := range p.Fields {
		label := plain(f.Label)
		if label == "" {
			label = plain(f.Name)
		}
		answer, err := t.in.line(ctx, t.Out, label+": ", !f.Secret)
		if err == io.EOF {
			err = errInterrupted()
		}
		if err != nil {
			return nil, err
		}
		answers[f.Name] = answer
	}
	return answers, nil
}

// noTerminal is the error of a question that cannot be asked.
func noTerminal() error {
	return &sdk.Error{
		Code: sdk.Unimplemented, Reason: "no_terminal", Message: "there is a question, and no terminal to ask it on",
		Hint: "run the command on a terminal, or write the value into the configuration, with env(), file() or keyring()",
	}
}
