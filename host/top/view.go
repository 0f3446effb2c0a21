package top

import (
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/junctor-mcp/junctor/host/control"
)

// The styles. Without colours the attributes remain, and a mark shows the chosen row.
var (
	headStyle   = lipgloss.NewStyle().Bold(true)
	chosenStyle = lipgloss.NewStyle().Reverse(true)
	noteStyle   = lipgloss.NewStyle().Bold(true)
	stateStyles = map[string]lipgloss.Style{
		"ready": lipgloss.NewStyle().Foreground(lipgloss.Green), "failed": lipgloss.NewStyle().Foreground(lipgloss.Red),
		"needs_auth": lipgloss.NewStyle().Foreground(lipgloss.Yellow),
		"starting":   lipgloss.NewStyle().Foreground(lipgloss.Yellow),
	}
)

const (
	mark     = "> "
	noMark   = "  "
	frameTop = 3 // lines above a page: the summary and an empty one
	frameEnd = 2 // lines below a page: the note and the keys
)

// space returns the number of lines of a page.
func (m *model) space() int { return max(m.height-frameTop-frameEnd, 3) }

// View implements tea.Model.
func (m *model) View() tea.View {
	v := tea.NewView(m.screen())
	v.AltScreen = true
	v.WindowTitle = "junctor top"
	return v
}

// screen returns the lines of the terminal: as many as it has, none of them too long.
func (m *model) screen() string {
	lines := make([]string, 0, m.height)
	if m.frame == nil {
		lines = append(lines, "junctor top", cut("waiting for the process …", m.width, m.o.Clean), "")
	} else {
		for _, l := range summary(*m.frame, m.width) {
			lines = append(lines, cut(l, m.width, m.o.Clean))
		}
		lines = append(lines, "")
	}
	body := m.body()
	lines = append(lines, body[:min(len(body), m.space())]...)
	for len(lines) < m.height-frameEnd {
		lines = append(lines, "")
	}
	note := m.note
	if m.restart != "" {
		note = "restart " + m.restart + "? calls in progress fail (y/n)"
	}
	lines = append(lines, noteStyle.Render(cut(note, m.width, m.o.Clean)), cut(m.keysHelp(), m.width, m.o.Clean))
	return strings.Join(lines, "\n")
}

// keysHelp returns the last line.
func (m *model) keysHelp() string {
	switch m.page {
	case detailsPage:
		return "↑↓ scroll  r restart  l log  a approvals  esc back  ctrl+c quit"
	case logPage:
		return "↑↓ scroll  r restart  enter details  esc back  ctrl+c quit"
	case approvalsPage:
		return "↑↓ choose  y approve  n deny  esc back  ctrl+c quit"
	}
	keys := part{text: "↑↓ choose  enter details  r restart  l log  a approvals  q quit"}
	if m.frame == nil {
		return keys.text
	}
	first, rows := m.shown(m.rows(m.belowServers(m.width - len(mark))))
	if n := len(m.frame.Servers); n > rows {
		return join(m.width, "  ", keys, part{text: fmt.Sprintf("%d–%d of %d", first+1, first+rows, n), rank: 1})
	}
	return keys.text
}

// body returns the lines of the page.
func (m *model) body() []string {
	switch m.page {
	case detailsPage:
		return m.scrolled(m.details())
	case logPage:
		return m.scrolled(m.log())
	case approvalsPage:
		return m.approvals()
	}
	if m.frame == nil {
		return nil
	}
	return m.table()
}

// scrolled returns the lines of a page from the first that is shown.
func (m *model) scrolled(lines []string) []string {
	return lines[min(m.scroll, max(0, len(lines)-m.space())):]
}

// lastScroll returns the largest useful value of scroll.
func (m *model) lastScroll() int {
	switch m.page {
	case detailsPage:
		return max(0, len(m.details())-m.space())
	case logPage:
		return max(0, len(m.log())-m.space())
	}
	return 0
}

// atBottom reports whether the page shows its last line.
func (m *model) atBottom() bool { return m.scroll >= m.lastScroll() }

// table returns the servers, the plugins and the limits in use. If there is too little
// room, it shows the servers around the chosen one.
func (m *model) table() []string {
	width := m.width - len(mark)
	below := m.belowServers(width)
	rows := m.rows(below)
	if rows+1 >= m.space() {
		below = nil
	}
	first, _ := m.shown(rows)
	lines := []string{headStyle.Render(noMark + line(serverColumns, heads(serverColumns), width, m.o.Clean))}
	for i := first; i < len(m.frame.Servers) && i < first+rows; i++ {
		s := m.frame.Servers[i]
		text := line(serverColumns, serverCells(s), width, m.o.Clean)
		if s.Server.Server == m.server {
			lines = append(lines, chosenStyle.Render(mark+pad(text, width)))
			continue
		}
		lines = append(lines, noMark+m.coloured(text, s.State))
	}
	return append(lines, below...)
}

// rows returns the number of servers that there is room for above some lines, which give
// way to the last three servers.
func (m *model) rows(below []string) int {
	if rows := max(m.space()-1-len(below), 3); rows+1 < m.space() {
		return rows
	}
	return m.space() - 1
}

// shown returns the first server that is shown, and for how many there is room.
func (m *model) shown(rows int) (first, space int) {
	if n := len(m.frame.Servers); n > rows {
		first = min(max(m.position()-rows/2, 0), n-rows)
	}
	return first, rows
}

// coloured gives the state in a row its colour.
func (m *model) coloured(text, state string) string {
	style, ok := stateStyles[state]
	if !ok || m.o.Plain {
		return text
	}
	name, rest, found := strings.Cut(text, " "+state)
	if !found {
		return text
	}
	return name + " " + style.Render(state) + rest
}

// belowServers returns the lines below the servers.
func (m *model) belowServers(width int) (lines []string) {
	if len(m.frame.Plugins) > 0 {
		lines = append(lines, "", headStyle.Render(noMark+line(pluginColumns, heads(pluginColumns), width, m.o.Clean)))
	}
	for _, p := range m.frame.Plugins {
		lines = append(lines, noMark+line(pluginColumns, pluginCells(p), width, m.o.Clean))
	}
	const shownLimits = 3
	for i, l := range m.frame.Limits {
		if l.Used <= 0 || i == shownLimits {
			break
		}
		lines = append(lines, noMark+fit(fmt.Sprintf("limit of %s/%s for %s: %.0f%% used, %d running, %d waiting",
			l.Server, l.Tool, l.Tenant, 100*l.Used, l.Running, l.Waiting), width, m.o.Clean))
	}
	return lines
}

// pad fills a text up to a width with spaces.
func pad(text string, width int) string {
	return text + strings.Repeat(" ", max(0, width-ansi.StringWidth(text)))
}

// wrapped returns a text as lines that fit, each of them cleaned. Its line breaks stay.
func (m *model) wrapped(text string) (lines []string) {
	for _, l := range strings.Split(strings.TrimRight(m.o.Clean(text), "\n"), "\n") {
		lines = append(lines, strings.Split(ansi.Wrap(strings.ReplaceAll(l, "\t", "  "), m.width, ""), "\n")...)
	}
	return lines
}

// details returns what is known about the chosen server.
func (m *model) details() []string {
	s := m.chosen()
	if s == nil {
		return m.wrapped("the server was removed from the configuration")
	}
	var b strings.Builder
	add := func(name, format string, args ...any) {
		if text := fmt.Sprintf(format, args...); text != "" && text != "-" {
			fmt.Fprintf(&b, "%-14s %s\n", name, strings.Join(strings.Fields(text), " "))
		}
	}
	add("server", "%s", s.Server.Server)
	add("state", "%s", strings.TrimSpace(s.StateText()+" "+s.Step))
	add("transport", "%s", s.Transport)
	add("plugin", "%s", s.Server.Plugin)
	add("at", "%s", s.At)
	add("revision", "%s", s.Revision)
	add("process", "%s", whole(s.PID))
	add("memory", "%s", size(s.Memory))
	add("cpu", "%s", percent(s.Load, s.PID))
	add("connections", "%s", whole(s.Connections))
	add("connected", "%s", times(s.Connects))
	add("calls", "%d, %d of them failed, %d in flight", s.Calls, s.Errors, s.InFlight)
	add("calls/s", "%s", decimal(s.Rate))
	add("last minute", "p50 %s, p99 %s", latency(s.Median), latency(s.Slow))
	add("since start", "p50 %s, p99 %s", latency(s.P50), latency(s.P99))
	if s.LastUsed != nil {
		add("last used", "%s ago", uptime(int64(time.Since(*s.LastUsed).Seconds())))
	}
	if s.Tools != nil && s.Resources != nil && s.Prompts != nil {
		add("offers", "%d tools, %d resources, %d prompts", *s.Tools, *s.Resources, *s.Prompts)
	}
	add("log level", "%s", s.LogLevel)
	for _, n := range s.Notes {
		add("note", "%s", n)
	}
	if e := s.Error; e != nil {
		add("error", "%s", e.Message)
		add("hint", "%s", e.Hint)
		add("code", "%s", string(e.Code))
		for _, said := range e.Output {
			add("it said", "%s", said)
		}
	}
	return m.wrapped(b.String())
}

func times(n int) string {
	if n < 2 {
		return "-"
	}
	return fmt.Sprintf("%d times", n)
}

func timesOf(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// log returns the records about the chosen server.
func (m *model) log() (lines []string) {
	if m.missed > 0 {
		lines = append(lines, m.wrapped(fmt.Sprintf("%d records were dropped before they were read", m.missed))...)
	}
	for _, r := range m.records {
		lines = append(lines, m.wrapped(m.o.Record(r))...)
	}
	if len(lines) == 0 {
		return []string{fit("the log has no records about "+m.server, m.width, m.o.Clean)}
	}
	return lines
}

// approvalColumns are the columns of the calls that wait.
var approvalColumns = []column{{name: "ID", width: 8}, {name: "SUBJECT", width: 16}, {name: "TENANT", width: 12},
	{name: "SERVER", width: 14}, {name: "ITEM"}}

// approvals returns the calls that wait, and the arguments of the chosen one.
func (m *model) approvals() []string {
	if len(m.pending) == 0 {
		return []string{cut("nothing waits for an approval", m.width, m.o.Clean)}
	}
	width := m.width - len(mark)
	rows := max(m.space()/2, 2)
	first := min(max(m.approvalPosition()-rows/2, 0), max(0, len(m.pending)-rows))
	lines := []string{headStyle.Render(noMark + line(approvalColumns, heads(approvalColumns), width, m.o.Clean))}
	for i := first; i < len(m.pending) && i < first+rows; i++ {
		a := m.pending[i]
		text := line(approvalColumns, []string{a.ID, a.Subject, a.Tenant, a.Server, a.Item}, width, m.o.Clean)
		if a.ID == m.approval {
			lines = append(lines, chosenStyle.Render(mark+pad(text, width)))
			continue
		}
		lines = append(lines, noMark+text)
	}
	if i := m.approvalPosition(); i >= 0 {
		lines = append(append(lines, ""), m.wrapped(approvalText(m.pending[i]))...)
	}
	return lines
}

// approvalText describes a call that waits.
func approvalText(a control.Approval) string {
	text := fmt.Sprintf("%s, expires in %s, rule %s, sent %s",
		a.Kind, uptime(int64(time.Until(a.Expires).Seconds())), a.Rule, timesOf(a.Times))
	if a.Client != "" {
		text += ", by the client " + a.Client + " (unverified)"
	}
	if a.Covers != "call" {
		text += "; it covers everything of the " + a.Covers
	}
	if a.Needs != "" {
		text += fmt.Sprintf("; it needs %s, and %d approved", a.Needs, len(a.Given))
	}
	if a.Hidden {
		return text + "\narguments that you may not see"
	}
	return text + "\n" + a.Arguments
}
