package terminal

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/login"
	"github.com/junctor-mcp/junctor/sdk"
)

// ask calls question with the terminal's keys, while nothing else is shown. Keys that were typed
// ahead are kept for the next question. Ctrl-C interrupts the verb.
func (t *Terminal) ask(ctx context.Context, question func(keys *login.Terminal) error) error {
	out, release, err := t.Screen.Ask(ctx)
	if err != nil {
		return err
	}
	defer release()
	if t.Keys == nil {
		if t.Keys, err = login.New(login.Options{In: t.Stdin, Out: SafeWriter(out), Lookup: t.Lookup}); err != nil {
			return err
		}
	}
	err = question(t.Keys)
	if f, ok := errors.AsType[*sdk.Error](err); ok && f.Code == sdk.Canceled {
		return fault.New(fault.Interrupted, "interrupted")
	}
	return err
}

// NoQuestions says why no question can be asked at a terminal, or "".
func (t *Terminal) NoQuestions() string {
	switch {
	case login.CI(t.Lookup):
		return "CI is set"
	case !IsTerminal(t.Stdin):
		return "there is no terminal on standard input"
	case !t.ErrTTY:
		return "there is no terminal on standard error"
	}
	return ""
}

// AskValue asks for a value. A secret one is not echoed.
func (t *Terminal) AskValue(ctx context.Context, label string, secret bool) (value string, err error) {
	err = t.ask(ctx, func(keys *login.Terminal) error {
		answers, err := keys.Prompt(ctx,
			sdk.Prompt{Fields: []sdk.PromptField{{Name: "value", Label: label, Secret: secret}}})
		value = answers["value"]
		return err
	})
	return value, err
}

// AskYes asks a question and reports whether the answer is yes. The end of the input is no
// answer, so it is a no.
func (t *Terminal) AskYes(ctx context.Context, question string) (bool, error) {
	return t.askWord(ctx, question+" [y/N] ", false)
}

// AskNo is AskYes for a question that an empty line answers with yes.
func (t *Terminal) AskNo(ctx context.Context, question string) (bool, error) {
	return t.askWord(ctx, question+" [Y/n] ", true)
}

func (t *Terminal) askWord(ctx context.Context, prompt string, unsaid bool) (yes bool, err error) {
	err = t.ask(ctx, func(keys *login.Terminal) error {
		line, err := keys.Line(ctx, prompt)
		switch word := strings.ToLower(strings.TrimSpace(line)); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case word == "":
			yes = unsaid
		default:
			yes = word == "y" || word == "yes"
		}
		return nil
	})
	return yes, err
}

// Password asks for the password of the encrypted file, twice for a new one; an
// empty answer lets Junctor make that one. After an interrupt it does not ask again for the next server.
func (t *Terminal) Password(ctx context.Context, fresh bool) ([]byte, error) {
	if t.Interrupted.Load() {
		return nil, fault.New(fault.Interrupted, "interrupted")
	}
	password, err := t.askPassword(ctx, fresh)
	if fault.Is(err, fault.Interrupted) {
		t.Interrupted.Store(true)
	}
	return []byte(password), err
}

func (t *Terminal) askPassword(ctx context.Context, fresh bool) (string, error) {
	if !fresh {
		return t.AskValue(ctx, "Password of the encrypted file of secrets", true)
	}
	first, err := t.AskValue(ctx, "New password for the encrypted file of secrets (Enter: Junctor makes one and keeps it in a file that only you can read, for clients that start it)",
		true)
	if err != nil || first == "" {
		return "", err
	}
	second, err := t.AskValue(ctx, "The same again", true)
	if err == nil && first != second {
		err = fault.New(fault.Usage, "the two passwords differ; nothing was written").WithHint("run the command again")
	}
	return first, err
}

// CanAsk reports whether questions can be asked at a terminal.
func (t *Terminal) CanAsk() bool { return t.NoQuestions() == "" }
