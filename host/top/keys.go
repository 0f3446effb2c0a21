package top

import (
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/junctor-mcp/junctor/host/control"
)

// key handles a key.
func (m *model) key(name string) tea.Cmd {
	if m.restart != "" {
		return m.answerRestart(name)
	}
	m.note = ""
	switch name {
	case "ctrl+c":
		return tea.Quit
	case "q":
		if m.page == tablePage {
			return tea.Quit
		}
		m.open(tablePage)
	case "esc", "left", "backspace":
		m.open(tablePage)
	case "a":
		m.open(approvalsPage)
		return m.askApprovals()
	case "up", "k", "down", "j", "pgup", "pgdown", "home", "end", "g", "G":
		m.move(name)
	default:
		if m.page == approvalsPage {
			return m.answerApproval(name)
		}
		return m.serverKey(name)
	}
	return nil
}

// serverKey handles a key about the chosen server.
func (m *model) serverKey(name string) tea.Cmd {
	if m.chosen() == nil {
		return nil
	}
	switch name {
	case "enter", "right":
		m.open(detailsPage)
	case "r":
		m.restart = m.server
	case "l":
		m.open(logPage)
		m.records, m.lastSeq, m.missed = nil, 0, 0
		return m.askLog()
	}
	return nil
}

// open shows a page from its beginning.
func (m *model) open(p page) { m.page, m.scroll = p, 0 }

// answerRestart handles the answer to the question whether to restart a server.
func (m *model) answerRestart(name string) tea.Cmd {
	server := m.restart
	m.restart = ""
	if name != "y" {
		m.note = server + " was not restarted"
		return nil
	}
	m.note = "restarting " + server + " …"
	return func() tea.Msg {
		done, err := m.o.Operator.Restart(m.ctx, server)
		if err != nil {
			return doneMsg{err: err}
		}
		return doneMsg{note: fmt.Sprintf("%s was restarted in %s",
			server, (time.Duration(done.Took) * time.Millisecond).Round(10*time.Millisecond))}
	}
}

// answerApproval approves or denies the chosen call.
func (m *model) answerApproval(name string) tea.Cmd {
	if name != "y" && name != "n" || m.approval == "" {
		return nil
	}
	id, approve := m.approval, name == "y"
	return func() tea.Msg {
		done, err := m.o.Operator.Answer(m.ctx, id,
			control.Answering{Verb: map[bool]string{true: "approve", false: "deny"}[approve]})
		if err != nil {
			return doneMsg{err: err}
		}
		return doneMsg{note: fmt.Sprintf("%s: %s of %s", done.State, done.Item, done.Server)}
	}
}

// move chooses another row, or scrolls a page.
func (m *model) move(name string) {
	step := map[string]int{"up": -1, "k": -1, "down": 1, "j": 1, "pgup": -m.space(), "pgdown": m.space(),
		"home": -1 << 20, "g": -1 << 20, "end": 1 << 20, "G": 1 << 20}[name]
	switch m.page {
	case tablePage:
		if i := m.position(); i >= 0 {
			m.server = m.frame.Servers[min(max(i+step, 0), len(m.frame.Servers)-1)].Server.Server
		}
	case approvalsPage:
		if i := m.approvalPosition(); i >= 0 {
			m.approval = m.pending[min(max(i+step, 0), len(m.pending)-1)].ID
		}
	default:
		m.scroll = min(max(m.scroll+step, 0), m.lastScroll())
	}
}
