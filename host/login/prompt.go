package login

import (
	"context"
	"io"

	"github.com/junctor-mcp/junctor/sdk"
)

const (
	maxFields = 16       // of one prompt
	maxLine   = 16 << 10 // bytes of one answer or pasted text
)

// Prompt asks for the fields one after the other. It fails without a terminal: input from
// a pipe is not meant as the answer to an unexpected question.
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
		answer, err := t.in.readLine(ctx, t.Out, label+": ", !f.Secret)
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

// noTerminal returns the error for a question without a terminal.
func noTerminal() error {
	return &sdk.Error{
		Code: sdk.Unimplemented, Reason: "no_terminal",
		Message: "this needs an answer from you, but there is no terminal",
		Hint:    "run the command on a terminal, or write the value into the configuration, with env(), file() or keyring()",
	}
}

// Line shows a prompt, which must be safe to print, and returns the typed line. It
// returns io.EOF at the end of the input and fails without a terminal.
func (t *Terminal) Line(ctx context.Context, prompt string) (string, error) {
	if t.in == nil || !t.in.terminal {
		return "", noTerminal()
	}
	return t.in.readLine(ctx, t.Out, prompt, true)
}
