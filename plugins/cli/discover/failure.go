package discover

import (
	"fmt"
	"strings"

	"github.com/junctor-mcp/junctor/plugins/cli/model"
	"github.com/junctor-mcp/junctor/sdk"
)

const (
	failureLines = 3
	failureBytes = 400
)

// failureOf describes a program that ended with an error instead of explaining
// itself, with the beginning of what it printed; "" for one that did not.
func failureOf(a answer) string {
	if a.status == 0 || a.late || a.long {
		return ""
	}
	text := fmt.Sprintf("the program failed when it was asked for help (exit status %d)", a.status)
	if a.status < 0 {
		text = "the program was killed when it was asked for help"
	}
	said := a.stderr
	if strings.TrimSpace(said) == "" {
		said = a.stdout
	}
	var lines []string
	for line := range strings.Lines(said) {
		if line = strings.TrimSpace(line); line != "" && len(lines) < failureLines {
			lines = append(lines, line)
		}
	}
	if len(lines) == 0 {
		return text + " and printed nothing"
	}
	said = strings.Join(lines, " ")
	if len(said) > failureBytes {
		said = strings.ToValidUTF8(said[:failureBytes], "") + "…"
	}
	return text + ": " + said
}

// failed replaces the error of a pattern that matches nothing where the program
// itself failed: nothing is known of its commands then.
func failed(p *model.Program, err error) error {
	if p.Failure == "" {
		return err
	}
	e := sdk.AttrErrorf("command", "%s", p.Failure)
	e.Code, e.Hint = sdk.Unavailable, "run the program with --help; what it needs of the environment goes into env or pass_env"
	return e
}
