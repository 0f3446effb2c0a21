package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/kballard/go-shellquote"
	"github.com/spf13/cobra"

	"github.com/junctor-mcp/junctor/host"
	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/pins"
	"github.com/junctor-mcp/junctor/host/suggest"
)

func (e *env) diffVerb() *cobra.Command {
	var exitCode bool
	cmd := &cobra.Command{
		Use:   "diff [SERVER|SERVER/TOOL…]",
		Short: "Show tools whose definition was not accepted",
		Long: `Ask servers for their tools and show those that differ from the lock file, junctor.lock.hcl beside the
configuration: tools that changed, with what they said before and say now, tools that are new, and tools that the
server has no longer. Only servers with definitions = "first_use" or "locked" have pins. Nothing is changed.

junctor lock --accept SERVER/TOOL accepts a definition.`,
		Example:           "  junctor diff\n  junctor diff github/create_issue\n  junctor diff --exit-code",
		ValidArgsFunction: e.completes(completeServers),
		RunE:              func(cmd *cobra.Command, args []string) error { return e.diff(cmd.Context(), args, exitCode) },
	}
	cmd.Flags().BoolVar(&exitCode, "exit-code", false, "end with status 5 if there are differences")
	return cmd
}

func (e *env) diff(ctx context.Context, args []string, exitCode bool) error {
	plugins, args := pluginsIn(args)
	programs, err := e.changedPrograms(ctx)
	if err != nil {
		return err
	}
	if len(plugins) > 0 {
		programs = slices.DeleteFunc(programs, func(p changedProgram) bool { return !slices.Contains(plugins, p.Plugin) })
	}
	if len(programs) > 0 {
		if err = e.printPrograms(programs); err == nil && exitCode {
			err = fault.New(fault.ToolHeld, "the programs of plugins differ from the lock file").WithHint("run `junctor lock --accept %s%s` if you replaced it intentionally", pluginPrefix, programs[0].Plugin)
		}
		return err
	}
	app, names, err := e.loadPinned(ctx, args)
	if err != nil {
		return err
	}
	if len(plugins) > 0 && len(args) == 0 {
		names = nil
	}
	c, err := e.comparePins(ctx, app, names)
	if err != nil {
		return err
	}
	if err := c.knows(app, args); err != nil {
		return err
	}
	all := chosen(c.all, args)
	if len(all) > 0 || c.failed == nil {
		if err := e.printDifferences(all); err != nil {
			return err
		}
	}
	if exitCode && len(all) > 0 && c.failed == nil {
		return fault.New(fault.ToolHeld, "%s from the lock file", differing(len(all))).WithHint("%s", acceptHint(all))
	}
	return reported(c.failed)
}

// knows fails if args name a tool that a server has neither now nor in the lock file.
func (c *comparison) knows(app *host.App, args []string) error {
	for _, arg := range args {
		server, tool, named := strings.Cut(arg, "/")
		if !named || !slices.Contains(c.asked, server) || len(chosen(slices.Clone(c.all), []string{arg})) > 0 {
			continue
		}
		if definitions := app.Catalog.Definitions(server); definitions[tool] == nil {
			return withSuggestion(fault.New(fault.NameUnknown, "server %q has no tool %q", server, tool), suggest.Nearest(tool, slices.Sorted(maps.Keys(definitions))), "run `junctor tools "+server+"` to list its tools")
		}
	}
	return nil
}

// A difference is a difference of one server.
type difference struct {
	Server string
	pins.Difference
}

func (d difference) name() string { return d.Server + "/" + d.Tool }

// loadPinned loads the configuration for a verb about pins. It returns the names of the servers
// that args name, as SERVER or SERVER/TOOL, or of all servers with pins.
func (e *env) loadPinned(ctx context.Context, args []string) (*host.App, []string, error) {
	e.reviewing = true
	app, diags, err := e.tryLoad(ctx, true)
	if err != nil {
		return nil, nil, err
	}
	e.tellDiagnostics(app, diags)
	if app == nil {
		return nil, nil, reported(diags.Err())
	}
	var names []string
	for _, arg := range args {
		server, _, _ := strings.Cut(arg, "/")
		s, err := serverNamed(app, server)
		if err != nil {
			return nil, nil, err
		}
		if s.Lock == "" {
			return nil, nil, &fault.Error{Code: fault.Usage, Message: "the tools of server \"" + s.Name + "\" are not pinned: it has definitions = \"any\"", At: s.At.String(),
				Hint: `set definitions = "first_use" or "locked" in its block`}
		}
		if !slices.Contains(names, s.Name) {
			names = append(names, s.Name)
		}
	}
	if len(args) > 0 {
		return app, names, nil
	}
	return app, pinnedServers(app), nil
}

// pinnedServers returns the names of the servers with pins.
func pinnedServers(app *host.App) (names []string) {
	for _, s := range app.Config().Servers {
		if s.Lock != "" {
			names = append(names, s.Name)
		}
	}
	return names
}

// A comparison is what differs from the pins.
type comparison struct {
	all    []difference
	asked  []string // servers that answered
	failed error    // the most important reason why another one did not, which was printed
}

// comparePins asks servers for their tools and compares them with the pins.
func (e *env) comparePins(ctx context.Context, app *host.App, names []string) (*comparison, error) {
	wait := e.spin("asking the servers")
	why := ask(ctx, app.Catalog.Refresh, names)
	left := e.finishTools(ctx, app, names, wait)
	wait.stop()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	c := &comparison{}
	var servers []*config.Server
	for _, s := range app.Config().Servers {
		if !slices.Contains(names, s.Name) {
			continue
		}
		servers = append(servers, s)
		if _, err := app.Catalog.ToolsIncomplete(s.Name); err != nil && why[s.Name] == nil { // its other lists are known
			why[s.Name] = err
		}
	}
	c.failed, _ = e.tellFailed(app, servers, why)
	if cut := e.tellUnfinished(app, left); c.failed == nil {
		c.failed = cut
	}
	for _, name := range names {
		if why[name] != nil {
			continue // its lists may be old
		}
		c.asked = append(c.asked, name)
		found, _, err := app.Differences(name)
		if err != nil {
			return nil, err
		}
		for _, d := range found {
			c.all = append(c.all, difference{name, d})
		}
	}
	return c, nil
}

// chosen leaves the differences that args name; all without args.
func chosen(all []difference, args []string) []difference {
	if len(args) == 0 {
		return all
	}
	return slices.DeleteFunc(all, func(d difference) bool { return !slices.Contains(args, d.Server) && !slices.Contains(args, d.name()) })
}

// The kinds of differences.
const (
	toolNew     = "new"
	toolChanged = "changed"
	toolGone    = "gone"
)

func (d difference) kind() string {
	switch {
	case d.Digest == "":
		return toolGone
	case d.Pinned == "":
		return toolNew
	}
	return toolChanged
}

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
func (e *env) printDifferences(all []difference) error {
	if e.machine() {
		list := []differenceJSON{}
		for _, d := range all {
			one := differenceJSON{Server: d.Server, Tool: d.Tool, Change: d.kind(), Accepted: d.Pinned, Now: d.Digest, Unknown: d.Unknown, More: d.More}
			for _, m := range d.Members {
				one.Members = append(one.Members, memberJSON{m.Name, valueOf(m.Before), valueOf(m.After), m.Cut})
			}
			list = append(list, one)
		}
		return e.printJSON(list)
	}
	for _, d := range all {
		e.printDifference(d)
	}
	if len(all) == 0 {
		e.printf("no differences\n")
		return nil
	}
	e.remark("%s", acceptHint(all))
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
func (e *env) printDifference(d difference) {
	switch d.kind() {
	case toolGone:
		e.printf("%s: the server has it no longer\n", oneCell(d.name()))
		return
	case toolNew:
		e.printf("%s: new\n", oneCell(d.name()))
	default:
		e.printf("%s: changed\n", oneCell(d.name()))
	}
	if d.Unknown {
		e.printf("  The accepted definition was not kept on this machine. This is the one of now:\n")
	}
	for _, m := range d.Members {
		e.printMember(m)
	}
	if d.More > 0 {
		e.printf("  and %d further parts, which are not shown\n", d.More)
	}
}

// printMember prints the lines of a member that differ.
func (e *env) printMember(m catalog.MemberChange) {
	e.printf("  %s\n", memberName(m.Name))
	for _, line := range memberLines(m) {
		e.printf("    %s\n", withEscapes(line))
	}
	if m.Cut {
		e.printf("    The value is long. Only the part around the first difference is shown; the rest may differ too.\n")
	}
}

// memberName returns the name of a member as one line. A name with characters that people do not
// see, or with line breaks, is in quotes.
func memberName(name string) string {
	if oneCell(name) != name || withEscapes(name) != name {
		return ansi.Truncate(strconv.QuoteToASCII(name), widestCell, "…")
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
	if safe(line) != line || catalog.Visible(line) != line {
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
