package configure

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/kballard/go-shellquote"

	"github.com/junctor-mcp/junctor/cmd/host/invocation"
	"github.com/junctor-mcp/junctor/cmd/host/terminal"
	"github.com/junctor-mcp/junctor/host/catalog"
)

// differenceJSON is the JSON form of a difference.
type differenceJSON struct {
	Server   string       `json:"server"`
	Tool     string       `json:"tool"`
	Change   string       `json:"change"`
	Accepted string       `json:"accepted,omitempty"` // digest
	Now      string       `json:"now,omitempty"`
	Unknown  bool         `json:"accepted_definition_unknown,omitempty"`
	Members  []memberJSON `json:"members,omitempty"`
	More     int          `json:"further_members,omitempty"` // that differ and are left out
}

type memberJSON struct {
	Member string `json:"member"`
	Before any    `json:"before,omitempty"`
	After  any    `json:"after,omitempty"`
	Cut    bool   `json:"cut,omitempty"` // before or after is the part around the first difference only
}

// printDifferences prints differences as JSON or for a person.
func printDifferences(inv *invocation.Invocation, all []difference) error {
	if inv.Machine() {
		list := []differenceJSON{}
		for _, d := range all {
			one := differenceJSON{
				Server:   d.Server,
				Tool:     d.Tool,
				Change:   d.kind(),
				Accepted: d.Pinned,
				Now:      d.Digest,
				Unknown:  d.Unknown,
				More:     d.More,
			}
			for _, m := range d.Members {
				one.Members = append(one.Members, memberJSON{m.Name, valueOf(m.Before), valueOf(m.After), m.Cut})
			}
			list = append(list, one)
		}
		return inv.PrintJSON(list)
	}
	for _, d := range all {
		printDifference(inv, d)
	}
	if len(all) == 0 {
		inv.Printf("no differences\n")
		return nil
	}
	inv.Remark("%s", acceptHint(all))
	return nil
}

// differing says how many tools differ.
func differing(n int) string {
	if n == 1 {
		return "1 tool differs"
	}
	return fmt.Sprintf("%d tools differ", n)
}

// acceptHint names the command that accepts differences.
func acceptHint(all []difference) string {
	if i := slices.IndexFunc(all, func(d difference) bool { return d.kind() == toolChanged }); i >= 0 {
		return "run `junctor lock --accept " + shellquote.Join(all[i].name()) + "` to accept a definition"
	}
	return "run `junctor lock` to pin new tools and to forget those that are gone"
}

// valueOf decodes JSON, or the beginning of JSON as a text.
func valueOf(text []byte) (v any) {
	if text == nil {
		return nil
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber() // large numbers differ in their last digits
	if decoder.Decode(&v) != nil || decoder.More() {
		return string(text)
	}
	return v
}

// printDifference prints one difference for a person.
func printDifference(inv *invocation.Invocation, d difference) {
	switch d.kind() {
	case toolGone:
		inv.Printf("%s: the server has it no longer\n", terminal.OneCell(d.name()))
		return
	case toolNew:
		inv.Printf("%s: new\n", terminal.OneCell(d.name()))
	default:
		inv.Printf("%s: changed\n", terminal.OneCell(d.name()))
	}
	if d.Unknown {
		inv.Printf("  The accepted definition was not kept on this machine. This is the one of now:\n")
	}
	for _, m := range d.Members {
		printMember(inv, m)
	}
	if d.More > 0 {
		inv.Printf("  and %d further parts, which are not shown\n", d.More)
	}
}

// printMember prints the lines of a member that differ.
func printMember(inv *invocation.Invocation, m catalog.MemberChange) {
	inv.Printf("  %s\n", memberName(m.Name))
	for _, line := range memberLines(m) {
		inv.PrintChange("    ", withEscapes(line))
	}
	if m.Cut {
		inv.Printf(
			"    The value is long. Only the part around the first difference is shown; the rest may differ too.\n",
		)
	}
}

// memberName returns the name of a member as one line. A name with characters that people do not
// see, or with line breaks, is in quotes.
func memberName(name string) string {
	if terminal.OneCell(name) != name || withEscapes(name) != name {
		return ansi.Truncate(strconv.QuoteToASCII(name), terminal.WidestCell, "…")
	}
	return name
}

// memberLines returns the lines of a member that differ. Values that look the same, such as 1 and
// "1", are shown as JSON.
func memberLines(m catalog.MemberChange) []string {
	lines := changedLines(linesOf(m.Before), linesOf(m.After))
	if slices.ContainsFunc(lines, func(line string) bool { return line[0] != ' ' }) {
		return lines
	}
	lines = nil
	if m.Before != nil {
		lines = append(lines, "- "+string(m.Before))
	}
	if m.After != nil {
		lines = append(lines, "+ "+string(m.After))
	}
	return lines
}

// withEscapes escapes a line with characters that people do not see: models read them.
func withEscapes(line string) string {
	if terminal.Safe(line) != line || catalog.Visible(line) != line {
		return strings.Trim(strconv.QuoteToASCII(line), `"`)
	}
	return line
}

// linesOf returns JSON as lines for people: the lines of a text, and other values indented.
func linesOf(value []byte) []string {
	switch v := valueOf(value).(type) {
	case nil:
		return nil
	case string:
		return strings.Split(v, "\n")
	default:
		b, err := json.MarshalIndent(v, "", "  ")
		if err != nil {
			return []string{string(value)}
		}
		return strings.Split(string(b), "\n")
	}
}

// contextLines is the number of equal lines that are shown around a difference.
const contextLines = 2

// changedLines marks the lines between the common beginning and the common end of two texts.
func changedLines(before, after []string) (lines []string) {
	head := 0
	for head < min(len(before), len(after)) && before[head] == after[head] {
		head++
	}
	tail := 0
	for tail < min(len(before), len(after))-head && before[len(before)-1-tail] == after[len(after)-1-tail] {
		tail++
	}
	for _, line := range before[max(0, head-contextLines):head] {
		lines = append(lines, "  "+line)
	}
	for _, line := range before[head : len(before)-tail] {
		lines = append(lines, "- "+line)
	}
	for _, line := range after[head : len(after)-tail] {
		lines = append(lines, "+ "+line)
	}
	for _, line := range after[len(after)-tail : min(len(after), len(after)-tail+contextLines)] {
		lines = append(lines, "  "+line)
	}
	return lines
}
