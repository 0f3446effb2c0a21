package catalog

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/junctor-mcp/junctor/host/cache"
	"github.com/junctor-mcp/junctor/testdata/bubble"
	conversation "github.com/junctor-mcp/junctor/testdata/conversations"
)

// fakePins pins what it sees first, unless it is strict.
type fakePins struct {
	mu     sync.Mutex
	strict bool              // guarded by mu
	pinned map[string]string // guarded by mu
	seen   int               // guarded by mu; number of calls of Seen
}

func (p *fakePins) Digests() map[string]string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.pinned)
}

func (p *fakePins) Pinned(tool string) string { return p.Digests()[tool] }

func (p *fakePins) Strict() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.strict
}

func (p *fakePins) Seen(definitions map[string][]byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen++
	for name, definition := range definitions {
		if p.pinned[name] == "" && !p.strict {
			p.pin(name, definition)
		}
	}
}

func (p *fakePins) pin(name string, definition []byte) {
	if p.pinned == nil {
		p.pinned = map[string]string{}
	}
	p.pinned[name] = DefinitionDigest(definition)
}

// accept pins the definitions that are held back.
func (p *fakePins) accept(held []Held) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, h := range held {
		p.pin(h.Tool, h.Definition)
	}
}

// newPinned returns a catalog of one server with pins, and records the reports of its tools.
func newPinned(dir cache.Dir, server *conversation.Server, p Pins) (*fixture, *[]ToolsChange) {
	s := newFixture(dir, server)
	of := s.Servers()[0]
	pinned := *of
	pinned.Pins = p
	s.Catalog.Stop()
	s.Catalog = New([]*Server{&pinned}, dir, s.refresher.log, s.tell)
	told := &[]ToolsChange{}
	s.OnToolsChanged(func(c ToolsChange) {
		s.mu.Lock()
		defer s.mu.Unlock()
		*told = append(*told, c)
	})
	return s, told
}

func heldNames(s *fixture) (names []string) {
	held, _ := s.Held("a")
	for _, h := range held {
		names = append(names, h.Tool)
	}
	return names
}

func refreshed(t *testing.T, s *fixture) {
	t.Helper()
	if failed := s.Refresh(t.Context()); len(failed) > 0 {
		t.Fatal(failed)
	}
}

// TestChangedToolIsHeldBack checks that clients do not see a tool with another definition until
// it is accepted.
func TestChangedToolIsHeldBack(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		a, p := old(`{"name":"x","description":"reads"}`, `{"name":"y"}`), &fakePins{}
		s, told := newPinned("", a, p)
		defer s.close()
		refreshed(t, s)
		if got := s.Snapshot().Names(); !slices.Equal(got, []string{"a__x", "a__y"}) || len(heldNames(s)) > 0 {
			t.Fatalf("%q, held back %q", got, heldNames(s))
		}
		bubble.Sleep(time.Second)
		s.news()
		a.Set("tools/list", `{"name":"x","description":"reads and sends"}`, `{"name":"y"}`)
		refreshed(t, s)
		refreshed(t, s) // the same again
		if got := s.Snapshot().Names(); !slices.Equal(got, []string{"a__y"}) {
			t.Errorf("offered %q", got)
		}
		held, known := s.Held("a")
		if !known || len(held) != 1 || held[0].Tool != "x" || held[0].Pinned != p.Pinned("x") ||
			held[0].Digest == held[0].Pinned ||
			string(held[0].Definition) != `{"name":"x","description":"reads and sends"}` {
			t.Errorf("%+v, %t", held, known)
		}
		for _, key := range [][2]string{{"a", "x"}, {"", "a__x"}} {
			if why, omitted := s.Snapshot().Omitted(key[0], key[1]); !omitted || !why.Held || why.Tool != "x" ||
				why.Server != "a" {
				t.Errorf("Omitted%q: %+v, %t", key, why, omitted)
			}
		}
		if _, found := s.Snapshot().OwnTool("a", "x"); found {
			t.Error("OwnTool finds it")
		}
		if n := noteCount(
			s,
			"is held back: its definition changed since it was accepted; run `junctor diff a`, then `junctor lock --accept a/x`",
		); n != 1 {
			t.Errorf("%d notes in %v", n, s.Snapshot().Notes)
		}
		a.Set("tools/list", `{"name":"x","description":"sends"}`, `{"name":"y"}`)
		refreshed(t, s)
		if got := heldReports(told); !slices.Equal(got, []string{"x", "x"}) {
			t.Errorf("reports of tools that are held back: %q", got)
		}
		bubble.Sleep(time.Second)
		s.news()
		held, _ = s.Held("a")
		p.accept(held)
		s.Recheck("a")
		if got := s.Snapshot().Names(); !slices.Equal(got, []string{"a__x", "a__y"}) || len(heldNames(s)) > 0 {
			t.Errorf("after it was accepted: %q, held back %q", got, heldNames(s))
		}
		bubble.Sleep(time.Second)
		if news := s.news(); !slices.Equal(news, []string{"tools"}) {
			t.Errorf("clients were told %q", news)
		}
		s.Recheck("a")
		s.Recheck("unknown")
		bubble.Sleep(time.Second)
		if news := s.news(); len(news) > 0 {
			t.Errorf("without a change clients were told %q", news)
		}
	})
}

func noteCount(s *fixture, text string) (n int) {
	for _, note := range s.Snapshot().Notes {
		if strings.Contains(note.String(), text) {
			n++
		}
	}
	return n
}

func heldReports(told *[]ToolsChange) (names []string) {
	for _, c := range *told {
		names = append(names, c.Held...)
	}
	return names
}

// TestPinnedDefinition checks which differences of a definition are changes.
func TestPinnedDefinition(t *testing.T) {
	const first = `{"name":"x","title":"t","description":"d","inputSchema":{"type":"object","properties":{"n":{"maximum":9007199254740993}}},"annotations":{"readOnlyHint":true}}`
	for name, test := range map[string]struct {
		now  string
		held bool
	}{
		"the same": {first, false},
		"order": {`{"annotations":{"readOnlyHint":true},"inputSchema":{"properties":{"n":{"maximum":9007199254740993}},"type":"object"},"description":"d","title":"t","name":"x"}`,
			false},
		"white space":       {strings.NewReplacer(":", " : ", ",", ",\t").Replace(first), false},
		"escapes":           {strings.Replace(first, `"d"`, `"\u0064"`, 1), false},
		"title":             {strings.Replace(first, `"t"`, `"T"`, 1), true},
		"no title":          {strings.Replace(first, `"title":"t",`, ``, 1), true},
		"description":       {strings.Replace(first, `"d"`, `"d "`, 1), true},
		"hidden characters": {strings.Replace(first, `"d"`, `"d\u200b"`, 1), true},
		"unicode form":      {strings.Replace(first, `"d"`, `"d\u0323"`, 1), true},
		"input schema":      {strings.Replace(first, `"type":"object"`, `"type":"object","required":["n"]`, 1), true},
		"large numbers":     {strings.Replace(first, `9007199254740993`, `9007199254740992`, 1), true},
		"annotations":       {strings.Replace(first, `true`, `false`, 1), true},
		"output schema":     {strings.Replace(first, `"title"`, `"outputSchema":{"type":"object"},"title"`, 1), true},
		"_meta":             {strings.Replace(first, `"title"`, `"_meta":{"x":1},"title"`, 1), true},
		"icons": {strings.Replace(first, `"title"`, `"icons":[{"src":"https://x/i.png"}],"title"`, 1),
			true},
		"execution": {strings.Replace(first, `"title"`, `"execution":{"taskSupport":"optional"},"title"`, 1),
			true},
		"an unknown member":   {strings.Replace(first, `"title"`, `"x-new":null,"title"`, 1), true},
		"order of an array":   {strings.Replace(first, `"title"`, `"_meta":[2,1],"title"`, 1), true},
		"a text for a number": {strings.Replace(first, `9007199254740993`, `"9007199254740993"`, 1), true},
	} {
		t.Run(name, func(t *testing.T) {
			a := old(first)
			s, _ := newPinned("", a, &fakePins{})
			defer s.close()
			refreshed(t, s)
			a.Set("tools/list", test.now)
			refreshed(t, s)
			if held := len(heldNames(s)) == 1; held != test.held || held == (len(s.Snapshot().Tools) == 1) {
				t.Errorf("held back: %t, offered: %q", held, s.Snapshot().Names())
			}
		})
	}
}

// TestHeldToolOfView checks tools that the configuration renames or hides.
func TestHeldToolOfView(t *testing.T) {
	a, p := old(`{"name":"x"}`, `{"name":"y"}`, `{"name":"z"}`), &fakePins{strict: true}
	s, _ := newPinned("", a, p)
	defer s.close()
	of := *s.Servers()[0]
	of.Views = map[string]*View{"x": {Name: "renamed"},
		"y": {Hidden: true}, "z": {Pin: map[string]json.RawMessage{"absent": json.RawMessage("1")}, At: "f:1:1"}}
	s.SetServers([]*Server{&of})
	refreshed(t, s)
	if got := heldNames(s); !slices.Equal(got, []string{"x", "z"}) {
		t.Errorf("held back %q", got)
	}
	if why, omitted := s.Snapshot().Omitted("", "a__renamed"); !omitted || !why.Held || why.Tool != "x" {
		t.Errorf("renamed: %+v, %t", why, omitted)
	}
	if why, omitted := s.Snapshot().Omitted("", "a__x"); omitted {
		t.Errorf("clients learn the name before the view: %+v", why)
	}
	if why, omitted := s.Snapshot().Omitted("a", "y"); omitted {
		t.Errorf("hidden: %+v", why)
	}
	held, _ := s.Held("a")
	p.accept(held)
	s.Recheck("a")
	if got := s.Snapshot().Names(); !slices.Equal(got, []string{"a__renamed"}) {
		t.Errorf("offered %q", got)
	}
	if why, _ := s.Snapshot().Omitted("a", "z"); why.Held || !why.Refused {
		t.Errorf("a view that does not fit: %+v", why)
	}
	of.Views = nil
	again := of
	s.SetServers([]*Server{&again})
	if got := heldNames(s); !slices.Equal(got, []string{"y"}) {
		t.Errorf("held back without views: %q", got)
	}
}

// TestToolListedTwiceWithPins: the first entry is the tool. The second one is not offered, also if
// the first is held back.
func TestToolListedTwiceWithPins(t *testing.T) {
	const one, two = `{"name":"x","description":"one"}`, `{"name":"x","description":"two"}`
	for _, test := range []struct {
		before, now []string
		offered     bool
	}{
		{[]string{one}, []string{one, two}, true},
		{[]string{one}, []string{two, one}, false},
		{[]string{one, two}, []string{one, two}, true},
		{[]string{one, two}, []string{two}, false},
		{[]string{one}, []string{one, one}, true},
		{[]string{one}, []string{`{"name":"x","execution":{"taskSupport":"required"}}`, one}, false},
	} {
		a := old(test.before...)
		s, _ := newPinned("", a, &fakePins{})
		refreshed(t, s)
		a.Set("tools/list", test.now...)
		refreshed(t, s)
		tools, held := s.Snapshot().Tools, heldNames(s)
		if (len(tools) == 1) != test.offered || (len(held) == 1) == test.offered {
			t.Errorf("%q after %q: %d are offered, held back %q", test.now, test.before, len(tools), held)
		}
		if len(tools) == 1 && tools[0].Description != "one" {
			t.Errorf("%q after %q: offered %q", test.now, test.before, tools[0].Description)
		}
		s.close()
	}
}

// TestListsFromDiskAreCheckedToo shows nothing of a server with definitions = "locked" from disk.
func TestListsFromDiskAreCheckedToo(t *testing.T) {
	dir := cache.Dir(t.TempDir())
	s := newFixture(dir, old(`{"name":"x"}`, `{"name":"y"}`))
	refreshed(t, s)
	s.close()
	p := &fakePins{strict: true}
	p.accept([]Held{{Tool: "y", Definition: []byte(`{"name":"y"}`)}})
	again, told := newPinned(dir, old(), p)
	defer again.close()
	if got := again.Snapshot().Names(); !slices.Equal(got, []string{"a__y"}) ||
		!slices.Equal(heldNames(again), []string{"x"}) {
		t.Errorf("offered %q, held back %q", got, heldNames(again))
	}
	if p.seen > 0 || len(*told) > 0 {
		t.Errorf("lists on disk were told to the pins %d times, and reported: %v", p.seen, *told)
	}
}

// TestDefinitionsThatBecomePinned tells pins what is known already, when a configuration has them.
func TestDefinitionsThatBecomePinned(t *testing.T) {
	a := old(`{"name":"x"}`, `{"name":"bad\u202ename"}`, `{"title":"without a name"}`)
	s := newFixture("", a)
	defer s.close()
	refreshed(t, s)
	p := &fakePins{}
	of := *s.Servers()[0]
	of.Pins = p
	s.SetServers([]*Server{&of})
	if got := slices.Collect(maps.Keys(p.pinned)); !slices.Equal(got, []string{"x"}) {
		t.Fatalf("pinned %q", got)
	}
	a.Set("tools/list", `{"name":"x","description":"other"}`)
	refreshed(t, s)
	if got := heldNames(s); !slices.Equal(got, []string{"x"}) {
		t.Errorf("held back %q", got)
	}
	strict := of
	strict.Pins = &fakePins{strict: true}
	s.SetServers([]*Server{&strict})
	if why, omitted := s.Snapshot().Omitted("a", "x"); !omitted || !why.Held || len(s.Snapshot().Tools) > 0 {
		t.Errorf("locked: %+v, %q", why, s.Snapshot().Names())
	}
	any := of
	any.Pins = nil
	s.SetServers([]*Server{&any})
	if held, known := s.Held("a"); len(held) > 0 || !known || len(s.Snapshot().Tools) != 1 {
		t.Errorf("without pins: %v, %t, %q", held, known, s.Snapshot().Names())
	}
}

// TestPinOfAnotherProcess: lists that stay the same are held back when the pin becomes known.
func TestPinOfAnotherProcess(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		dir := cache.Dir(t.TempDir())
		s := newFixture(dir, old(`{"name":"x","description":"new"}`))
		refreshed(t, s)
		s.close()
		other := &lateFile{}
		again, _ := newPinned(dir, old(`{"name":"x","description":"new"}`), other)
		defer again.close()
		if len(again.Snapshot().Tools) != 1 {
			t.Fatal("the list on disk was not loaded")
		}
		other.pin("x", []byte(`{"name":"x","description":"old"}`))
		refreshed(t, again)
		synctest.Wait()
		if got := again.Snapshot().Names(); len(got) > 0 || len(heldNames(again)) != 1 {
			t.Errorf("offered %q, held back %q", got, heldNames(again))
		}
		bubble.Sleep(time.Second)
		if news := again.news(); !slices.Equal(news, []string{"tools"}) {
			t.Errorf("clients were told %q", news)
		}
	})
}

// lateFile has pins that count from the first Seen on, as those that another process wrote do.
type lateFile struct{ fakePins }

func (p *lateFile) Digests() map[string]string {
	if p.fakePins.mu.Lock(); p.seen == 0 {
		p.fakePins.mu.Unlock()
		return nil
	}
	p.fakePins.mu.Unlock()
	return p.fakePins.Digests()
}

// TestHintOfHeldToolIsSafeToRun: a person may copy the hint to a shell.
func TestHintOfHeldToolIsSafeToRun(t *testing.T) {
	for name, want := range map[string]string{
		"x.y-z_1": "run `junctor diff a`, then `junctor lock --accept a/x.y-z_1`",
		"x; id":   "run `junctor diff a`", "$(id)": "run `junctor diff a`",
		"`id`": "run `junctor diff a`", "a b": "run `junctor diff a`", "é": "run `junctor diff a`",
	} {
		if n := (&Held{Tool: name}).note("a"); n.Hint != want || n.Tool != name {
			t.Errorf("%+v", n)
		}
	}
}

// TestFailedListKeepsPins: a list that the server could not give has the tools of before.
func TestFailedListKeepsPins(t *testing.T) {
	a, p := old(`{"name":"x"}`), &fakePins{}
	a.Set("prompts/list", `{"name":"p"}`)
	a.Capabilities = `{"tools":{},"prompts":{}}`
	s, _ := newPinned("", a, p)
	defer s.close()
	refreshed(t, s)
	pinned := p.Pinned("x")
	a.On(func(_ *conversation.Link, m conversation.Message) string {
		if m.Method == "tools/list" {
			return conversation.Error(m, `{"code":-32603,"message":"failed"}`)
		}
		return ""
	})
	refreshed(t, s)
	if len(p.pinned) != 1 || p.Pinned("x") != pinned || len(s.Snapshot().Tools) != 1 ||
		noteCount(s, "its list of tools is incomplete") != 1 {
		t.Errorf("pinned %v, offered %q", p.pinned, s.Snapshot().Names())
	}
	if why, err := s.ToolsIncomplete("a"); why == "" || err == nil {
		t.Errorf("the list is incomplete: %q, %v", why, err)
	}
	a.On(nil)
	refreshed(t, s)
	if why, err := s.ToolsIncomplete("a"); why != "" || err != nil {
		t.Errorf("the list is complete: %q, %v", why, err)
	}
	if why, _ := s.ToolsIncomplete("unknown"); why == "" {
		t.Error("the list of an unknown server is complete")
	}
}

// TestPinsOfAReloadAreTold: tools that are held back because the configuration changed are
// reported as those that changed themselves.
func TestPinsOfAReloadAreTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, told := newPinned("", old(`{"name":"x"}`, `{"name":"y"}`), nil)
		defer s.close()
		if failed := s.Ensure(t.Context()); len(failed) > 0 {
			t.Fatal(failed)
		}
		strict := *s.Servers()[0]
		strict.Pins = &fakePins{strict: true}
		s.SetServers([]*Server{&strict})
		s.SetServers([]*Server{&strict})
		if len(*told) != 1 || !slices.Equal((*told)[0].Held, []string{"x", "y"}) {
			t.Errorf("%+v", *told)
		}
		s.Recheck("a")
		if len(*told) != 1 {
			t.Errorf("told again: %+v", *told)
		}
	})
}

// TestToolsBeforeAFailedPageArePinned: a server that fails the last page of each list must not
// keep its tools without pins.
func TestToolsBeforeAFailedPageArePinned(t *testing.T) {
	a, p := old(), &fakePins{}
	s, _ := newPinned("", a, p)
	defer s.close()
	description := "reads"
	a.On(func(_ *conversation.Link, m conversation.Message) string {
		switch {
		case m.Method != "tools/list":
			return ""
		case strings.Contains(string(m.Params), "cursor"):
			return conversation.Error(m, `{"code":-32603,"message":"failed"}`)
		}
		return conversation.Result(m, `{"tools":[{"name":"x","description":"`+description+`"}],"nextCursor":"2"}`)
	})
	refreshed(t, s)
	if got := s.Snapshot().Names(); !slices.Equal(got, []string{"a__x"}) || p.Pinned("x") == "" {
		t.Fatalf("offered %q, pinned %v", got, p.pinned)
	}
	description = "sends"
	refreshed(t, s)
	if got := s.Snapshot().Names(); len(got) > 0 || !slices.Equal(heldNames(s), []string{"x"}) {
		t.Errorf("offered %q, held back %q", got, heldNames(s))
	}
}

// TestNameOfAPinnedToolIsNotReused: clients know some tools by a name with a hash. A server must not
// give that name to another tool when the first one is held back, or gone.
func TestNameOfAPinnedToolIsNotReused(t *testing.T) {
	const own = "read.file"
	exposed := Expose("a", "a", own)
	same := strings.TrimPrefix(exposed, "a__")
	for name, now := range map[string][]string{
		"held back": {`{"name":"` + own + `","description":"sends"}`}, "gone": nil,
		"the same": {`{"name":"` + own + `"}`},
	} {
		t.Run(name, func(t *testing.T) {
			a, p := old(`{"name":"`+own+`"}`, `{"name":"x"}`), &fakePins{}
			s, _ := newPinned("", a, p)
			defer s.close()
			refreshed(t, s)
			if got := s.Snapshot().Names(); !slices.Equal(got, []string{exposed, "a__x"}) {
				t.Fatalf("offered %q", got)
			}
			a.Set("tools/list",
				append([]string{`{"name":"` + same + `","description":"sends"}`, `{"name":"x"}`}, now...)...)
			refreshed(t, s)
			want := []string{"a__x"}
			if name == "the same" {
				want = []string{exposed, "a__x"}
			}
			if got := s.Snapshot().Names(); !slices.Equal(got, want) {
				t.Errorf("offered %q", got)
			}
			if tool, ok := s.Snapshot().Tool(exposed); ok && tool.Name != own {
				t.Errorf("%s is %q", exposed, tool.Name)
			}
			if n := noteCount(s, "by that name, which is pinned"); n != 1 {
				t.Errorf("%d notes in %v", n, s.Snapshot().Notes)
			}
		})
	}
}
