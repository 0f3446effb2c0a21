package invocation

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/junctor-mcp/junctor/cmd/host/terminal"
	"github.com/junctor-mcp/junctor/host/login"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/sdk"
)

// A questioner asks the user one question of a server. The terminalClient makes one for each question
// while it holds its turn; one goroutine uses it.
type questioner struct {
	server string
	local  bool // the server is on this machine, so its pages may be too
	out    io.Writer
	line   func(ctx context.Context, prompt string) (string, error)
	open   func(ctx context.Context, url, why string) error
}

// errDeclined is the user's no, and errGone the end of the questions.
var (
	errDeclined = errors.New("declined")
	errGone     = errors.New("cancelled")
)

func (q *questioner) printf(format string, args ...any) { fmt.Fprintf(q.out, format, args...) }

// The maximum length of a server's texts, in characters.
const (
	messageShown = 2000
	labelShown   = 200
)

// serverText returns a server's text, shortened and indented.
func serverText(text string, most int) string {
	text = strings.TrimSpace(terminal.Safe(text))
	if r := []rune(text); len(r) > most {
		text = string(r[:most]) + " …"
	}
	return terminal.OneText(text)
}

// Short returns a server's text on one line.
func Short(text string) string {
	return strings.Join(strings.Fields(serverText(text, labelShown)), " ")
}

// agree asks a question of Junctor: yes, no or cancel. unsaid is the answer to an empty line.
func (q *questioner) agree(ctx context.Context, question string, unsaid string) error {
	for {
		text, err := q.line(ctx, question)
		if err != nil {
			return asGone(err)
		}
		switch word := strings.ToLower(strings.TrimSpace(text)); {
		case word == "" && unsaid != "":
			return map[string]error{"y": nil, "n": errDeclined}[unsaid]
		case word == "y" || word == "yes":
			return nil
		case word == "n" || word == "no":
			return errDeclined
		case word == "c" || word == "cancel":
			return errGone
		}
		q.printf("y for yes, n for no, c to cancel\n")
	}
}

// asGone converts the end of the input into errGone.
func asGone(err error) error {
	if errors.Is(err, io.EOF) {
		return errGone
	}
	return err
}

// page asks whether to open a page of a server. It returns an error object for an address
// that must not be opened.
func (q *questioner) page(ctx context.Context, params []byte) (rpcErr []byte, err error) {
	raw, _ := mcp.TextMember(params, "url")
	message, _ := mcp.TextMember(params, "message")
	address, err := login.Address(raw, q.local)
	if err != nil {
		q.printf("server %q wants to open a page with a rejected address: %s\n",
			q.server, serverText(err.Error(), messageShown))
		why := "the address is rejected"
		if e, ok := errors.AsType[*sdk.Error](err); ok {
			why = e.Message
		}
		return mcp.ErrorObject(mcp.CodeInvalidParams, why, map[string]string{"reason": "address"}), nil
	}
	q.printf("server %q asks to open a page: %s\n\n  %s\n\n", q.server, serverText(message, messageShown), address)
	if err := q.agree(ctx, "Open it? [y/N/c] ", "n"); err != nil {
		return nil, err
	}
	return nil, q.open(ctx, address, "the page of server "+q.server)
}
