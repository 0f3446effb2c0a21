package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/sdk"
)

// minimumEscapes is the number of calls that CI must make. Programs that are not
// installed are left out.
const minimumEscapes = 1500

// An escape is one line of testdata/escapes.txt.
type escape struct {
	program, only  string
	settings       string // further settings; may be empty
	tool, template string // the template of the arguments
}

// variants are the values of $READ and $WRITE. The first of each is the plain
// one.
type variants map[string][]string

// readEscapes parses escapes.txt.
func readEscapes(t *testing.T) (all []escape, values variants) {
	t.Helper()
	text, err := os.ReadFile("testdata/escapes.txt")
	if err != nil {
		t.Fatal(err)
	}
	values = variants{}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		kind, rest, _ := strings.Cut(line, " ")
		fields := strings.Split(line, " | ")
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case kind == "read", kind == "write":
			values[strings.ToUpper("$"+kind)] = append(values[strings.ToUpper("$"+kind)], rest)
		case len(fields) == 4 && json.Valid([]byte(fields[3])):
			e := escape{tool: fields[2], template: fields[3], settings: strings.TrimPrefix(fields[1], "-")}
			e.program, e.only, _ = strings.Cut(fields[0], " ")
			all = append(all, e)
		default:
			t.Fatalf("not an escape: %s", line)
		}
	}
	return all, values
}

// calls returns the arguments of all calls. The first ones are plain.
func (v variants) calls(template string) (all []string) {
	for macro, values := range v {
		if !strings.Contains(template, macro) {
			continue
		}
		for _, value := range values {
			quoted, _ := json.Marshal(value)
			all = append(all, strings.ReplaceAll(template, macro, strings.Trim(string(quoted), `"`)))
		}
		return all
	}
	return []string{template}
}

// TestNoCallLeavesTheDirectory makes every call of escapes.txt, held by the rules
// for arguments alone and with default settings, and checks from outside that it
// did no harm.
func TestNoCallLeavesTheDirectory(t *testing.T) {
	if testing.Short() {
		t.Skip("starts many programs")
	}
	if unprivileged(t, 5*time.Minute) {
		return
	}
	all, values := readEscapes(t)
	cache := t.TempDir()
	slots := make(chan struct{}, 3)
	var made, missing, skipped atomic.Int64
	t.Run("each", func(t *testing.T) {
		for i, e := range all {
			t.Run(fmt.Sprintf("%d %s %s", i, e.program, e.tool), func(t *testing.T) {
				calls := values.calls(e.template)
				if _, err := exec.LookPath(e.program); err != nil || !genuine(e.program) {
					missing.Add(1)
					skipped.Add(int64(len(calls)))
					t.Skipf("%s is not installed", e.program)
				}
				t.Parallel()
				slots <- struct{}{}
				defer func() { <-slots }()
				made.Add(int64(len(calls)))
				e.try(t, calls, cache)
			})
		}
	})
	t.Logf("%d calls; %d of %d lines with %d calls are about programs that are not installed",
		made.Load(), missing.Load(), len(all), skipped.Load())
	if os.Getenv("JUNCTOR_REQUIRE_INTEROP") != "" && made.Load() < minimumEscapes {
		t.Errorf("%d calls, want at least %d", made.Load(), minimumEscapes)
	}
}

// try makes the calls of one line.
func (e *escape) try(t *testing.T, calls []string, cache string) {
	t.Helper()
	g := newGuard(t, e.program)
	settings := func(more map[string]any) string { return e.merged(t, g, more) }
	everything := openWall()
	everything["dangerous"], everything["paths"] = []string{"-*", "<*", "**"}, "any"
	open := openSession(t, settings(everything), cache)
	plain := g.expand(calls[0])
	if answer := open.call(e.tool, plain); g.harm(t, answer) == "" {
		t.Errorf("%s does no harm through a wrapper that allows everything, so the line covers nothing: %.300s",
			plain, answer)
	}
	for wall, more := range map[string]map[string]any{"rules for arguments": openWall(), "default": nil} {
		s := openSession(t, settings(more), cache)
		for _, call := range calls {
			arguments := g.expand(call)
			answer := s.call(e.tool, arguments)
			if did := g.harm(t, answer); did != "" {
				t.Errorf("%s, %s %s: %s: %.300s", wall, e.tool, arguments, did, answer)
			}
			if _, err := os.Lstat(filepath.Join(g.work, "a.txt")); err != nil {
				g.renew(t, e.program)
			}
		}
	}
}

// merged returns the settings of the line with more.
func (e *escape) merged(t *testing.T, g *guard, more map[string]any) string {
	t.Helper()
	all := map[string]any{}
	if e.settings != "" {
		if err := json.Unmarshal([]byte(g.expand(e.settings)), &all); err != nil {
			t.Fatal(err)
		}
	}
	all["command"], all["cwd"], all["env"], all["timeout"] = []string{e.program}, g.work, g.variables(), "5s"
	if all["tool"] == nil {
		all["common"] = 0
		if e.only != "" {
			all["only"] = []string{e.only}
		}
	}
	for name, value := range more {
		all[name] = value
	}
	text, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// A session is a client that ignores notifications.
type session struct {
	*host
	tools map[string]listedTool
}

// A listedTool is what a client sees of a tool.
type listedTool struct {
	Name        string
	InputSchema schema
	Annotations struct{ ReadOnlyHint bool }
	raw         json.RawMessage // the whole schema
}

// openSession opens a server and waits for its tools.
func openSession(t *testing.T, settings, cache string) *session {
	t.Helper()
	conn, err := plugin().Transports["cli"].Open(t.Context(),
		&sdk.Server{Dir: t.TempDir(), MaxMessage: 16 << 20, Cache: cache}, []byte(settings))
	if err != nil {
		t.Fatal(err)
	}
	s := &session{host: connect(t, conn), tools: map[string]listedTool{}}
	var list struct{ Tools []listedTool }
	var listing json.RawMessage
	if m := s.answer("tools/list", `{}`); m.Error == nil {
		listing = m.Result
		if err := json.Unmarshal(m.Result, &list); err != nil {
			t.Fatal(err)
		}
	}
	var raw struct {
		Tools []struct{ InputSchema json.RawMessage }
	}
	for i, one := range list.Tools {
		if i == 0 && json.Unmarshal(listing, &raw) != nil {
			t.Fatal("the list cannot be read")
		}
		one.raw = raw.Tools[i].InputSchema
		s.tools[one.Name] = one
	}
	return s
}

// answer sends a request and waits for its response.
func (s *session) answer(method, params string) message {
	s.t.Helper()
	id := s.request(method, params)
	for {
		if m := s.receive(); string(m.ID) == id {
			return m
		}
	}
}

// call calls a tool, with arguments fitted to its schema, and returns the result
// as text.
func (s *session) call(name, arguments string) string {
	s.t.Helper()
	fitted, err := json.Marshal(s.tools[name].InputSchema.fit(arguments))
	if err != nil {
		return err.Error()
	}
	return s.callAs(name, string(fitted))
}

// callAs calls a tool with exactly these arguments.
func (s *session) callAs(name, arguments string) string {
	s.t.Helper()
	m := s.answer("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, name, arguments))
	if m.Error != nil {
		return m.Error.Message
	}
	return string(m.Result)
}
