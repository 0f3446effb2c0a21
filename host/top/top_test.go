package top

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"go.uber.org/goleak"

	"github.com/junctor-mcp/junctor/host/control"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/logbuffer"
	"github.com/junctor-mcp/junctor/host/usage"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A fake is a process with fixed answers, which records what it is asked to do.
type fake struct {
	status    *control.Status
	err       error
	pending   []control.Approval
	records   []control.LogLine
	queries   []control.LogQuery
	restarted []string
	answered  []string
}

func (f *fake) Status(context.Context) (*control.Status, error) { return f.status, f.err }

func (f *fake) Approvals(context.Context) ([]control.Approval, error) {
	return append([]control.Approval{}, f.pending...), f.err
}

func (f *fake) Logs(_ context.Context, q control.LogQuery, each func(control.LogLine) error) error {
	f.queries = append(f.queries, q)
	for _, l := range f.records {
		if err := each(l); err != nil {
			return err
		}
	}
	return f.err
}

func (f *fake) Restart(_ context.Context, server string) (*control.Restarted, error) {
	f.restarted = append(f.restarted, server)
	return &control.Restarted{Server: server, Took: 120}, f.err
}

func (f *fake) Answer(_ context.Context, id string, a control.Answering) (*control.Approval, error) {
	approve := a.Verb == "approve"
	f.answered = append(f.answered, fmt.Sprint(id, " ", approve))
	return &control.Approval{ID: id, State: "approved", Server: "files", Item: "delete"}, f.err
}

var started = time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)

// statusWith returns a status with servers s00, s01 and so on.
func statusWith(servers int) *control.Status {
	st := &control.Status{
		Instance: "4711", PID: 4711, Version: "0.1.0", Started: started, Uptime: 11520, Transport: "http",
		Address: "127.0.0.1:7575",
		Memory:  control.Memory{Resident: 41 << 20, CPU: 10}, Sessions: control.Sessions{Count: 3}, Waiting: 1,
		Plugins: []control.Plugin{{Plugin: "stdio", State: "ready", PID: 4720, Memory: 30 << 20, CPU: 1,
			Connections: servers}},
		Limits: []control.ToolUse{{Tenant: "acme", Server: "s00", Tool: "search", Used: 0.8, Running: 2}},
	}
	for n := range servers {
		tools := n
		st.Servers = append(st.Servers, &control.Server{Server: fmt.Sprintf("s%02d", n), OK: true, State: "ready",
			Transport: "stdio", PID: 5000 + n, Memory: 12 << 20, CPU: 2, Calls: 100, Tools: &tools})
	}
	return st
}

// durations counts n calls of a duration.
func durations(n int, ms float64) (d usage.Durations) {
	_ = json.Unmarshal(fmt.Appendf(nil, "[[%g,%d]]", ms, n), &d)
	return d
}

// screenOf is a model as its terminal shows it.
type screenOf struct {
	t *testing.T
	*model
	f *fake
}

func show(t *testing.T, f *fake, width, height int) *screenOf {
	s := &screenOf{t, newModel(t.Context(), Options{
		Source: f, Operator: f, Plain: true,
		Record: func(r *logbuffer.Record) string { return r.Level + " " + r.Message },
		Clean:  func(s string) string { return strings.ReplaceAll(ansi.Strip(s), "\x07", "") },
	}), f}
	s.Update(tea.WindowSizeMsg{Width: width, Height: height})
	s.run(s.Init())
	return s
}

// run runs a command and gives its message to the model. It does not wait for ticks.
func (s *screenOf) run(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	msg := cmd()
	if batch, ok := msg.(tea.BatchMsg); ok {
		for _, c := range batch {
			s.run(c)
		}
		return
	}
	_, next := s.Update(msg)
	if _, isStatus := msg.(statusMsg); !isStatus { // after which it waits for a second
		s.run(next)
	}
}

// press presses keys.
func (s *screenOf) press(names ...string) {
	for _, name := range names {
		key := tea.KeyPressMsg{Text: name}
		switch code := map[string]rune{"up": tea.KeyUp, "down": tea.KeyDown, "enter": tea.KeyEnter,
			"esc": tea.KeyEscape, "end": tea.KeyEnd, "home": tea.KeyHome, "pgdown": tea.KeyPgDown}[name]; {
		case name == "ctrl+c":
			key = tea.KeyPressMsg{Code: 'c', Mod: tea.ModCtrl}
		case code != 0:
			key = tea.KeyPressMsg{Code: code}
		default:
			key.Code = rune(name[0])
		}
		_, cmd := s.Update(key)
		s.run(cmd)
	}
}

// text returns the screen. It fails if the screen does not fit the terminal, or has
// control characters.
func (s *screenOf) text() string {
	s.t.Helper()
	text := ansi.Strip(s.screen())
	lines := strings.Split(text, "\n")
	if len(lines) != s.height {
		s.t.Errorf("%d lines on a terminal of %d:\n%s", len(lines), s.height, text)
	}
	for _, l := range lines {
		if w := ansi.StringWidth(l); w > s.width {
			s.t.Errorf("a line of %d columns on a terminal of %d: %s", w, s.width, l)
		}
		if strings.ContainsFunc(l, unicode.IsControl) {
			s.t.Errorf("control characters in %q", l)
		}
	}
	return text
}

func (s *screenOf) has(parts ...string) {
	s.t.Helper()
	text := s.text()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			s.t.Errorf("%q is not on the screen:\n%s", p, text)
		}
	}
}

// TestTableFitsTerminal draws many servers on terminals of many sizes.
func TestTableFitsTerminal(t *testing.T) {
	for _, servers := range []int{0, 1, 3, 40} {
		for _, size := range [][2]int{{80, 24}, {200, 50}, {120, 30}, {60, 10}, {20, 8}, {1, 1}} {
			s := show(t, &fake{status: statusWith(servers)}, size[0], size[1])
			s.press("end")
			s.text()
			for _, p := range []string{"enter", "esc", "l", "esc", "a", "esc", "home"} {
				s.press(p)
				s.text()
			}
		}
	}
	small := show(t, &fake{status: statusWith(3)}, 80, 24)
	small.has("process 4711, up 3h12m, http 127.0.0.1:7575, 41 MiB",
		"servers 3 of 3 ready", "sessions 3  approvals 1  limits 1",
		"SERVER", "CALLS/S", "> s00", "  s02", "PLUGIN", "stdio", "limit of s00/search for acme: 80% used", "q quit")
	if strings.Contains(small.text(), "TRANSPORT") {
		t.Error("a column for wide terminals")
	}
	show(t, &fake{status: statusWith(3)}, 200, 50).has("TRANSPORT", "PID", "5002")
}

// TestSummaryFits compares the lines above the table on terminals of several widths: no
// part of a line is cut, and what is zero gives way first.
func TestSummaryFits(t *testing.T) {
	f := Frame{Version: "0.1.0-dev", Instance: "13945", Uptime: 63, Serves: "http 127.0.0.1:7670", Memory: 61 << 20,
		CPU: 12.25, Calls: 107, InFlight: 2, Sessions: 9}
	for i := range 60 {
		f.Servers = append(f.Servers, Server{Server: &control.Server{State: []string{"ready", "idle", "failed",
			"needs_auth", "not_started", "idle"}[i%6]}})
	}
	first := []string{
		"junctor 0.1.0-dev, process 13945, up 1m03s, http 127.0.0.1:7670, 61 MiB, CPU 12.2%",
		"junctor, process 13945, up 1m03s, http 127.0.0.1:7670, 61 MiB, CPU 12.2%",
		"junctor, process 13945, up 1m03s, 61 MiB, CPU 12.2%",
	}
	servers := "servers 10 of 60 ready, 10 failed, 10 needs auth  calls/s 107  "
	for _, c := range []struct {
		width, waiting int
		want           string
	}{
		{200, 0, first[0] + "\n" + servers + "in flight 2  sessions 9  approvals 0  limits 0"},
		{82, 0, first[0] + "\n" + servers + "in flight 2"},
		{81, 3, first[1] + "\n" + servers + "approvals 3"},
		{71, 0, first[2] + "\n" + strings.TrimSpace(servers)},
	} {
		f.Waiting = c.waiting
		if got := strings.Join(summary(f, c.width), "\n"); got != c.want {
			t.Errorf("%d columns:\n%s\nwant\n%s", c.width, got, c.want)
		}
	}
}

// TestNumbersFitColumns formats numbers that are too long for their columns.
func TestNumbersFitColumns(t *testing.T) {
	for _, c := range [][2]string{
		{count(0), "-"}, {count(999_999), "999999"}, {count(1_000_000), "1.0M"}, {count(1_999_999), "1.9M"},
		{count(12_345_678_901), "12G"}, {decimal(99.94), "99.9"}, {decimal(99.99), "100"}, {percent(12.34, 1), "12.3%"},
		{percent(6399.99, 1), "6400%"}, {percent(5, 0), "-"},
	} {
		if c[0] != c[1] || len(c[0]) > 6 {
			t.Errorf("%q, want %q", c[0], c[1])
		}
	}
}

// TestChosenServerIsShown moves through more servers than fit. A server that is removed is
// no longer chosen.
func TestChosenServerIsShown(t *testing.T) {
	f := &fake{status: statusWith(60)}
	s := show(t, f, 80, 24)
	for n := 1; n < 60; n++ {
		s.press("down")
		s.has(fmt.Sprintf("> s%02d", n))
	}
	s.press("down")
	s.has("> s59", " of 60")
	s.press("home")
	s.has("q quit  1–")
	f.status = statusWith(2)
	s.run(s.ask())
	s.has("> s00")
	f.status = statusWith(0)
	s.run(s.ask())
	s.press("down", "enter", "r", "l")
	if len(f.restarted)+len(f.queries) > 0 || s.page != tablePage {
		t.Errorf("restarted %v, page %v", f.restarted, s.page)
	}
}

// TestRatesAreThoseOfTheirWindows compares a frame with the statuses that it was made of.
func TestRatesAreThoseOfTheirWindows(t *testing.T) {
	var h history
	at := started
	for n := range 100 {
		st := statusWith(1)
		one := st.Servers[0]
		one.Calls, one.CPU, one.Durations = uint64(10*n), float64(n)/4, durations(10*n, 4)
		st.Memory.CPU = 5 + float64(n)/2
		st.Plugins[0].CPU = 1 + float64(n)/100
		h.add(at, st)
		at = at.Add(time.Second)
	}
	f := h.frame()
	if one := f.Servers[0]; one.Rate != 10 || one.Load != 25 || one.Median < 3 || one.Median > 5 || f.CPU != 50 ||
		f.Calls != 10 || f.Plugins[0].Load < 0.99 || f.Plugins[0].Load > 1.01 {
		t.Errorf("%+v, CPU %g, plugin %g", one, f.CPU, f.Plugins[0].Load)
	}
	if n := len(h.samples); n > 65 {
		t.Errorf("%d samples are kept", n)
	}
	// A minute without calls has no latency, a slow one has its own.
	quiet := *h.samples[len(h.samples)-1].status
	for range 70 {
		h.add(at, &quiet)
		at = at.Add(time.Second)
	}
	if one := h.frame().Servers[0]; one.Median != 0 || one.Slow != 0 || one.Rate != 0 {
		t.Errorf("after a quiet minute: %+v", one)
	}
	slow := statusWith(1)
	slow.Servers[0].Calls, slow.Servers[0].Durations = quiet.Servers[0].Calls+1, quiet.Servers[0].Durations
	for i, n := range durations(1, 3000) {
		slow.Servers[0].Durations[i] += n
	}
	h.add(at, slow)
	if one := h.frame().Servers[0]; one.Median < 2500 || one.Slow != one.Median || one.Rate != 0.1 {
		t.Errorf("after a slow call: %g, %g, %g", one.Median, one.Slow, one.Rate)
	}
	// Counters that begin again, and another process, give no negative numbers.
	fresh := statusWith(1)
	fresh.Servers[0].Calls, fresh.Servers[0].CPU, fresh.Memory.CPU = 0, 0, 0
	h.add(at.Add(time.Second), fresh)
	if f := h.frame(); f.Servers[0].Rate != 0 || f.Servers[0].Load != 0 || f.CPU != 0 {
		t.Errorf("%+v", f)
	}
	other := statusWith(1)
	other.Started = started.Add(time.Hour)
	h.add(at.Add(2*time.Second), other)
	if len(h.samples) != 1 {
		t.Errorf("%d samples of two processes", len(h.samples))
	}
}

// TestRestartAsksFirst restarts after y only.
func TestRestartAsksFirst(t *testing.T) {
	f := &fake{status: statusWith(3)}
	s := show(t, f, 80, 24)
	for _, other := range []string{"n", "r", "q", "esc", "enter"} {
		s.press("down", "r")
		s.has("restart " + s.server + "? calls in progress fail (y/n)")
		s.press(other)
		s.has("was not restarted")
	}
	if len(f.restarted) > 0 {
		t.Fatalf("restarted %v", f.restarted)
	}
	s.press("home", "down", "r", "y")
	s.has("s01 was restarted in 120ms")
	f.err = fault.New(fault.UpstreamExited, "the server ended")
	s.press("r", "y")
	s.has("the server ended")
	if fmt.Sprint(f.restarted) != "[s01 s01]" {
		t.Errorf("restarted %v", f.restarted)
	}
}

// TestDetailsShowError shows a server that failed, with hostile texts.
func TestDetailsShowError(t *testing.T) {
	f := &fake{status: statusWith(1)}
	f.status.Servers[0].State, f.status.Servers[0].Error = "failed", &fault.Document{
		Message: "it \x1b[2J\x07broke\nhere", Hint: "mend it", Code: fault.UpstreamExited,
		Output: []string{"last \x1b]0;words\x07", strings.Repeat("x", 500)},
	}
	s := show(t, f, 80, 24)
	s.has("failed")
	s.press("enter")
	s.has("state          failed", "it broke here", "hint           mend it", "it said        last", "esc back")
	s.press("end", "up", "up", "pgdown", "home")
	s.has("server         s00")
	s.press("esc")
	s.has("CALLS/S")
	f.status.Servers[0].Server = "\x1b[31mred\nname" // which a configuration cannot have
	show(t, f, 80, 24).text()
}

// TestLogFollowsServer shows a log, which grows.
func TestLogFollowsServer(t *testing.T) {
	f := &fake{status: statusWith(2)}
	s := show(t, f, 80, 24)
	s.press("down", "l")
	s.has("the log has no records about s01")
	add := func(n uint64, message string) {
		f.records = append(f.records,
			control.LogLine{Record: &logbuffer.Record{Seq: n, Level: "info", Message: message, Time: started}})
	}
	for n := uint64(1); n <= 100; n++ {
		add(n, fmt.Sprintf("record %d of \x1b[31mthe\x1b[0m log", n))
	}
	s.run(s.askPage())
	s.has("record 100 of the log", "record 82 of")
	s.press("home")
	s.has("info record 1 of")
	add(101, "the newest\nhas two lines")
	s.run(s.askPage())
	s.has("info record 1 of") // it was scrolled
	s.press("end")
	s.has("info the newest", "has two lines")
	f.records = append(f.records, control.LogLine{Missed: 7})
	s.run(s.askPage())
	s.press("home")
	s.has("7 records were dropped")
	if q := f.queries[0]; fmt.Sprint(q.Servers) != "[s01]" || q.Follow || !q.Since.IsZero() ||
		f.queries[2].Since.IsZero() {
		t.Errorf("%+v", f.queries)
	}
	for n := uint64(102); n < 2000; n++ {
		add(n, "many")
	}
	s.run(s.askPage())
	if len(s.records) != maxRecords {
		t.Errorf("%d records", len(s.records))
	}
	s.press("esc", "up", "l")
	if s.server != "s00" || len(s.records) != maxRecords || s.missed != 7 {
		t.Errorf("%s, %d records, %d missed", s.server, len(s.records), s.missed)
	}
	if s.gotLog(logMsg{server: "s01", records: []*logbuffer.Record{{Seq: 1 << 40}}}); s.lastSeq == 1<<40 {
		t.Error("records of another server were added")
	}
}

// TestApprovalsAreAnswered approves and denies the chosen call.
func TestApprovalsAreAnswered(t *testing.T) {
	f := &fake{status: statusWith(1)}
	s := show(t, f, 80, 24)
	s.press("a")
	s.has("nothing waits for an approval")
	s.press("y", "n", "down", "r", "l", "enter")
	if len(f.answered)+len(f.restarted)+len(f.queries) > 0 || s.page != approvalsPage {
		t.Fatalf("answered %v, page %v", f.answered, s.page)
	}
	f.pending = []control.Approval{
		{ID: "abcdef", State: "waiting", Subject: "jo", Tenant: "acme", Server: "files", Item: "delete", Kind: "tool",
			Covers: "call", Rule: "confirm at a.hcl:1:1", Arguments: "{\n  \"path\": \"\x1b[2J/etc\"\n}", Times: 2,
			Client: "claude 1"},
		{ID: "usedup", State: "used"},
		{ID: "ghijkl", State: "waiting", Subject: "mo", Server: "gh", Item: "push", Kind: "tool", Covers: "tool"},
	}
	s.run(s.askPage())
	s.has("> abcdef", "ghijkl", `"path": "/etc"`, "sent 2 times, by the", "(unverified)")
	if strings.Contains(s.text(), "usedup") {
		t.Error("a call that does not wait")
	}
	s.press("y", "down", "n")
	s.has("> ghijkl", "it covers everything of the")
	f.err = errors.New("too late")
	s.press("y")
	s.has("too late")
	if want := "[abcdef true ghijkl false ghijkl true]"; fmt.Sprint(f.answered) != want {
		t.Errorf("%v, want %s", f.answered, want)
	}
}

// TestTableEndsWithProcess fails statuses: a few are shown, more end the table.
func TestTableEndsWithProcess(t *testing.T) {
	f := &fake{status: statusWith(1)}
	s := show(t, f, 80, 24)
	f.err = errors.New("process 4711 did not answer")
	for range maxMisses - 1 {
		s.run(s.ask())
		s.has("did not answer", "> s00")
	}
	f.err = nil
	s.run(s.ask())
	f.err = errors.New("gone")
	for range maxMisses {
		if s.err != nil {
			t.Fatal("it ended early")
		}
		s.run(s.ask())
	}
	if s.err == nil || s.err.Error() != "gone" {
		t.Errorf("%v", s.err)
	}
}

// TestQuitKeys: q leaves a page, and the table; ctrl+c leaves from everywhere.
func TestQuitKeys(t *testing.T) {
	quits := func(s *screenOf, name string) bool {
		key := tea.KeyPressMsg{Code: 'q', Text: "q"}
		if name == "ctrl+c" {
			key = tea.KeyPressMsg{Code: 'c', Mod: tea.ModCtrl}
		}
		_, cmd := s.Update(key)
		if cmd == nil {
			return false
		}
		_, is := cmd().(tea.QuitMsg)
		return is
	}
	s := show(t, &fake{status: statusWith(1)}, 80, 24)
	s.press("enter")
	if quits(s, "q") || !quits(s, "q") {
		t.Error("q does not go back, and then end")
	}
	s.press("a")
	if !quits(s, "ctrl+c") {
		t.Error("ctrl+c does not end")
	}
}

// TestMeasure makes the frame of --once, and its text and JSON.
func TestMeasure(t *testing.T) {
	before, now := statusWith(2), statusWith(2)
	now.Servers[0].Calls += 30
	f := Measure(before, now, 2*time.Second)
	if f.Servers[0].Rate != 15 || f.Servers[1].Rate != 0 {
		t.Errorf("%+v", f.Servers)
	}
	text := f.Text(80, func(s string) string { return s })
	if !strings.Contains(text, "s00") || !strings.Contains(text, "15.0") || strings.Contains(text, "\x1b") {
		t.Error(text)
	}
	doc, err := json.Marshal(f)
	if err != nil || !strings.Contains(string(doc), `"server":"s00"`) ||
		!strings.Contains(string(doc), `"calls_per_s":15`) || !strings.Contains(string(doc), `"plugin":"stdio"`) {
		t.Errorf("%s, %v", doc, err)
	}
}
