package terminal

import (
	"bytes"
	"strings"
)

// Colours of a terminal, as parameters of its escape sequence.
const (
	red    = "31"
	green  = "32"
	yellow = "33"
	blue   = "36"
	faint  = "2"
)

// messageColours are the first words of messages, with their colours.
var messageColours = []struct{ word, colour string }{
	{"error:", "1;" + red}, {"warning:", "1;" + yellow}, {"note:", blue}, {"hint:", green}, {"code:", faint},
}

// stateColours are the colours of states and outcomes in tables.
var stateColours = map[string]string{
	"ready": green, "running": green, "trusted": green, "ok": green, "approved": green,
	"logged in": green, "valid": green,
	"starting": yellow, "waiting": yellow, "changed": yellow, "needs auth": yellow, "expired": yellow,
	"restarting": yellow,
	"failed":     red, "denied": red, "error": red, "crashed": red, "quarantined": red, "gone": red,
	"idle": faint, "not started": faint, "disabled": faint, "stopped": faint,
}

// stateColumns are the columns of tables with states.
var stateColumns = map[string]bool{"STATE": true, "OUTCOME": true}

// changeColours are the colours of lines that say what is new, gone and different.
var changeColours = map[byte]string{'+': green, '-': red, '~': yellow}

// Coloured reports whether to write colours to a stream: it is a terminal that has them, and
// the user wants them.
func (t *Terminal) Coloured(tty bool) bool {
	kind := t.Get("TERM")
	return tty && t.Get("NO_COLOR") == "" && kind != "" && kind != "dumb"
}

// paint returns a text in a colour. It must be safe to print.
func paint(text, colour string) string {
	if colour == "" {
		return text
	}
	return "\x1b[" + colour + "m" + text + "\x1b[0m"
}

// paintMessages paints the first words of messages, which begin a line or are indented by two
// spaces, and lines with a sign of a change. Texts of servers in a message are further in.
func paintMessages(text []byte) []byte {
	var out bytes.Buffer
	for line := range bytes.Lines(text) {
		rest, indented := bytes.CutPrefix(line, []byte("  "))
		if indented {
			out.WriteString("  ")
		}
		out.Write(paintMessage(rest))
	}
	return out.Bytes()
}

func paintMessage(line []byte) []byte {
	for _, m := range messageColours {
		if rest, ok := bytes.CutPrefix(line, []byte(m.word)); ok {
			return append([]byte(paint(m.word, m.colour)), rest...)
		}
	}
	return []byte(paintChange(string(line)))
}

// paintChange paints a line that begins with a sign of a change.
func paintChange(line string) string {
	if len(line) < 2 || line[1] != ' ' || changeColours[line[0]] == "" {
		return line
	}
	text := strings.TrimRight(line, "\n")
	return paint(text, changeColours[text[0]]) + line[len(text):]
}

// PrintChange prints a line that may begin with a sign of a change, after an indent.
func (t *Terminal) PrintChange(indent, line string) {
	line = Safe(line)
	if t.Coloured(t.OutTTY) {
		line = paintChange(line)
	}
	_, _ = t.Stdout.Write([]byte(indent + line + "\n"))
}

// PaintDiff paints the lines of a unified diff. The verbs that show changes call it.
func PaintDiff(text string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		body := strings.TrimRight(line, "\n")
		colour := ""
		if body != "" && !strings.HasPrefix(body, "+++") && !strings.HasPrefix(body, "---") {
			colour = changeColours[body[0]]
		}
		out.WriteString(paint(body, colour) + line[len(body):])
	}
	return out.String()
}
