package login

import "context"

// Line shows a prompt, which must be safe to print, and returns the line that is
// typed. It returns io.EOF at the end of the input, and needs a terminal.
func (t *Terminal) Line(ctx context.Context, prompt string) (string, error) {
	if t.in == nil || !t.in.terminal {
		return "", noTerminal()
	}
	return t.in.line(ctx, t.Out, prompt, true)
}
