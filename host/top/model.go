package top

import (
	"context"
	"errors"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/junctor-mcp/junctor/host/control"
	"github.com/junctor-mcp/junctor/host/logbuffer"
)

// A Source is the process that is shown.
type Source interface {
	Status(ctx context.Context) (*control.Status, error)
	Approvals(ctx context.Context) ([]control.Approval, error)
	Logs(ctx context.Context, q control.LogQuery, each func(control.LogLine) error) error
}

// An Operator changes the process that is shown.
type Operator interface {
	Restart(ctx context.Context, server string) (*control.Restarted, error)
	Answer(ctx context.Context, id string, a control.Answering) (*control.Approval, error)
}

// Options configure a table.
type Options struct {
	Source   Source
	Operator Operator
	// Clean removes from a text what must not reach a terminal.
	Clean func(string) string
	// Record returns a record of the log as text.
	Record func(*logbuffer.Record) string
	// Plain leaves out colours.
	Plain bool
}

const (
	drawEvery  = time.Second
	maxRecords = 500 // of a log that is shown
	maxMisses  = 3   // statuses in a row that fail, before the table ends
	askTime    = 5 * time.Second
)

// A page is what the terminal shows.
type page int

const (
	tablePage page = iota
	detailsPage
	logPage
	approvalsPage
)

// A model is the state of the table. It implements tea.Model.
type model struct {
	o   Options
	ctx context.Context // ends with the verb

	width, height int
	history       history
	frame         *Frame // nil: no status yet

	page     page
	server   string // that is chosen, by name, because the list may change
	scroll   int    // first line that a page shows
	restart  string // server of the question whether to restart it; empty: none is asked
	note     string // the result of the last key
	misses   int    // statuses in a row that failed
	err      error  // why the table ended
	records  []*logbuffer.Record
	lastSeq  uint64 // of records
	missed   uint64 // records that were dropped before they were read
	pending  []control.Approval
	approval string // id that is chosen
}

func newModel(ctx context.Context, o Options) *model {
	return &model{o: o, ctx: ctx, width: 80, height: 24}
}

// Messages of the commands.
type (
	drawMsg   time.Time
	statusMsg struct {
		at     time.Time
		status *control.Status
		err    error
	}
	logMsg struct {
		server  string
		records []*logbuffer.Record
		missed  uint64
		err     error
	}
	approvalsMsg struct {
		pending []control.Approval
		err     error
	}
	doneMsg struct {
		note string
		err  error
	}
)

// Init implements tea.Model.
func (m *model) Init() tea.Cmd { return m.ask() }

// ask asks for the status.
func (m *model) ask() tea.Cmd {
	return func() tea.Msg {
		st, err := m.o.Source.Status(m.ctx)
		return statusMsg{time.Now(), st, err}
	}
}

// askPage asks for what the page shows besides the status.
func (m *model) askPage() tea.Cmd {
	switch m.page {
	case logPage:
		return m.askLog()
	case approvalsPage:
		return m.askApprovals()
	}
	return nil
}

func (m *model) askLog() tea.Cmd {
	server, after := m.server, m.lastSeq
	q := control.LogQuery{Servers: []string{server}}
	if n := len(m.records); n > 0 {
		q.Since = m.records[n-1].Time
	}
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(m.ctx, askTime)
		defer cancel()
		got := logMsg{server: server}
		got.err = m.o.Source.Logs(ctx, q, func(l control.LogLine) error {
			if got.missed += l.Missed; l.Record != nil && l.Seq > after {
				got.records = append(got.records, l.Record)
				got.records = got.records[max(0, len(got.records)-maxRecords):]
			}
			return nil
		})
		return got
	}
}

func (m *model) askApprovals() tea.Cmd {
	return func() tea.Msg {
		all, err := m.o.Source.Approvals(m.ctx)
		return approvalsMsg{slices.DeleteFunc(all, func(a control.Approval) bool { return a.State != "waiting" }), err}
	}
}

// Update implements tea.Model.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = max(msg.Width, 20), max(msg.Height, 8)
	case tea.KeyPressMsg:
		return m, m.key(msg.String())
	case drawMsg:
		return m, tea.Batch(m.ask(), m.askPage())
	case statusMsg:
		return m, m.gotStatus(msg)
	case logMsg:
		m.gotLog(msg)
	case approvalsMsg:
		if m.pending = msg.pending; msg.err != nil {
			m.note = msg.err.Error()
		}
		m.keepApproval()
	case doneMsg:
		if m.note = msg.note; msg.err != nil {
			m.note = msg.err.Error()
		}
		return m, m.askPage()
	}
	return m, nil
}

// gotStatus records a status, and asks for the next one later.
func (m *model) gotStatus(msg statusMsg) tea.Cmd {
	if msg.err != nil {
		m.note = msg.err.Error()
		if m.misses++; m.misses == maxMisses {
			m.err = msg.err
			return tea.Quit
		}
	} else {
		m.misses = 0
		m.history.add(msg.at, msg.status)
		f := m.history.frame()
		m.frame = &f
		m.keepServer()
	}
	return tea.Tick(drawEvery, func(t time.Time) tea.Msg { return drawMsg(t) })
}

// gotLog records the newest records of the log of the chosen server.
func (m *model) gotLog(msg logMsg) {
	if msg.server != m.server || m.page != logPage {
		return // another one was chosen meanwhile
	}
	if msg.err != nil {
		m.note = msg.err.Error()
	}
	bottom := m.atBottom()
	for _, r := range msg.records {
		if r.Seq > m.lastSeq {
			m.records, m.lastSeq = append(m.records, r), r.Seq
		}
	}
	m.records = m.records[max(0, len(m.records)-maxRecords):]
	m.missed += msg.missed
	if bottom {
		m.scroll = m.lastScroll()
	}
}

// keepServer chooses the first server if the chosen one is gone.
func (m *model) keepServer() {
	if m.position() < 0 {
		m.server = ""
		if len(m.frame.Servers) > 0 {
			m.server = m.frame.Servers[0].Server.Server
		}
	}
}

// position returns the index of the chosen server, or -1.
func (m *model) position() int {
	if m.frame == nil {
		return -1
	}
	return slices.IndexFunc(m.frame.Servers, func(s Server) bool { return s.Server.Server == m.server })
}

// chosen returns the chosen server, or nil.
func (m *model) chosen() *Server {
	if i := m.position(); i >= 0 {
		return &m.frame.Servers[i]
	}
	return nil
}

// keepApproval chooses the first approval if the chosen one is gone.
func (m *model) keepApproval() {
	if m.approvalPosition() < 0 {
		m.approval = ""
		if len(m.pending) > 0 {
			m.approval = m.pending[0].ID
		}
	}
}

func (m *model) approvalPosition() int {
	return slices.IndexFunc(m.pending, func(a control.Approval) bool { return a.ID == m.approval })
}

// Run shows the table until the user quits, the process ends or ctx does. opts are for
// the terminal.
func Run(ctx context.Context, o Options, opts ...tea.ProgramOption) error {
	m := newModel(ctx, o)
	_, err := tea.NewProgram(m, append(opts, tea.WithContext(ctx), tea.WithoutSignalHandler())...).Run()
	switch {
	case m.err != nil:
		return m.err
	case ctx.Err() != nil || errors.Is(err, tea.ErrInterrupted):
		return nil
	}
	return err
}
