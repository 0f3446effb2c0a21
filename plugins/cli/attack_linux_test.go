package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/sdk"
)

// An attack is one line of testdata/attacks.txt.
type attack struct {
	program string
	only    string // the sub-command to discover; may be empty
	argv    []string
	tool    string
	args    string
}

// requiredPrograms are programs that must be installed when CI runs the
// attacks.
var requiredPrograms = []string{"git", "tar", "find", "sort", "awk", "sed", "curl"}

// TestAttacksFailThroughTheWrapper runs each attack twice. It must do harm when
// it is run directly, and no harm through a wrapped program, discovered or
// recorded as tool blocks, that only the rules for arguments hold.
func TestAttacksFailThroughTheWrapper(t *testing.T) {
	if testing.Short() {
		t.Skip("starts many programs")
	}
	groups, order := readAttacks(t)
	cache := t.TempDir()
	slots := make(chan struct{}, 2)
	var tried, reproduced atomic.Int64
	t.Run("each", func(t *testing.T) {
		for _, key := range order {
			attacks := groups[key]
			t.Run(key, func(t *testing.T) {
				program := attacks[0].program
				needed(t, program)
				t.Parallel()
				slots <- struct{}{}
				defer func() { <-slots }()
				g := newAttackGroup(t, attacks[0], cache)
				for _, a := range attacks {
					tried.Add(1)
					if !a.directly(t) {
						t.Errorf("%s: does no harm when it is run directly", strings.Join(a.argv, " "))
					}
					if g.try(t, &a) {
						reproduced.Add(1)
					}
				}
			})
		}
	})
	if reproduced.Load()*2 < tried.Load() {
		t.Errorf("only %d of %d attacks succeed through a wrapper that allows everything, so the test covers little",
			reproduced.Load(), tried.Load())
	}
	t.Logf("%d attacks do harm directly, %d of them through a wrapper that allows everything",
		tried.Load(), reproduced.Load())
}

// needed skips a program that is not installed, or that is slow and not
// required. CI tries all installed programs but the slowest.
func needed(t *testing.T, program string) {
	t.Helper()
	must, all, soak := slices.Contains(requiredPrograms, program), os.Getenv("JUNCTOR_REQUIRE_INTEROP") != "",
		os.Getenv("JUNCTOR_SOAK") != ""
	_, err := exec.LookPath(program)
	switch {
	case err != nil && all && must:
		t.Fatalf("%s is not installed", program)
	case err != nil, !genuine(program):
		t.Skipf("%s is not installed", program)
	case !soak && slices.Contains(slowestPrograms, program):
		t.Skipf("%s is slow: run by make soak", program)
	case !all && slices.Contains(slowPrograms, program):
		t.Skipf("%s is slow and runs only with JUNCTOR_REQUIRE_INTEROP", program)
	}
}

// genuine reports whether a program is the one that the tests are written for. Some
// systems have a smaller program of the same name.
func genuine(program string) bool {
	prints := map[string][2]string{"convert": {"-version", "ImageMagick"}, "awk": {"--version", "GNU Awk"}}
	want, some := prints[program]
	if !some {
		return true
	}
	out, err := exec.Command(program, want[0]).Output()
	return err == nil && strings.Contains(string(out), want[1])
}

// slowPrograms take seconds for each question or attack.
var slowPrograms = []string{"convert", "ffmpeg", "gdb", "go", "gpg", "kubectl", "node", "pandoc", "rsync", "make",
	"nmap", "sqlite3"}

// slowestPrograms take half a minute.
var slowestPrograms = []string{"cmake", "pip"}

// readAttacks parses attacks.txt and groups the attacks by program and
// sub-command.
func readAttacks(t *testing.T) (groups map[string][]attack, order []string) {
	t.Helper()
	text, err := os.ReadFile("testdata/attacks.txt")
	if err != nil {
		t.Fatal(err)
	}
	groups = map[string][]attack{}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.Split(line, " | ")
		if len(fields) != 4 || !json.Valid([]byte(fields[3])) {
			t.Fatalf("not an attack: %s", line)
		}
		key := fields[0]
		a := attack{argv: shellWords(fields[1]), tool: fields[2], args: fields[3]}
		a.program, a.only, _ = strings.Cut(key, " ")
		if groups[key] == nil {
			order = append(order, key)
		}
		groups[key] = append(groups[key], a)
	}
	return groups, order
}

// shellWords splits a line at spaces outside quotes.
func shellWords(line string) []string {
	var all []string
	var word strings.Builder
	quote, some := rune(0), false
	for _, r := range line + " " {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '\'' || r == '"'):
			quote, some = r, true
			if r == '"' && word.Len() > 0 {
				word.WriteRune(r)
				quote = 0
			}
		case quote == 0 && r == ' ':
			if some {
				all = append(all, word.String())
			}
			word.Reset()
			some = false
		default:
			word.WriteRune(r)
			some = true
		}
	}
	return all
}

// directly runs the attack without the wrapper. It reports whether the attack
// does harm.
func (a *attack) directly(t *testing.T) bool {
	t.Helper()
	s := newSite(t, a.program)
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	var argv []string
	for _, word := range a.argv {
		argv = append(argv, s.expand(word))
	}
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = s.work, s.environ(), time.Second
	out, err := cmd.CombinedOutput()
	done := s.harm(t, string(out))
	if done == "" {
		t.Logf("%v: %v\n%.600s", argv, err, bytes.TrimSpace(out))
	}
	return done != ""
}

// An attackGroup is one program, wrapped in every way in which its attacks are
// tried.
type attackGroup struct {
	site                    *site
	defaults, written, open *host             // written is nil if no tools are offered
	schemas                 map[string]schema // of the tools of open, which allow everything
}

func newAttackGroup(t *testing.T, a attack, cache string) *attackGroup {
	t.Helper()
	g := &attackGroup{site: newSite(t, a.program)}
	settings := func(more map[string]any) string {
		all := map[string]any{"command": []string{a.program},
			"cwd": g.site.work, "env": g.site.variables(), "timeout": "20s"}
		if more["tool"] == nil {
			all["common"], all["describe"] = 0, "full"
			if a.only != "" {
				all["only"] = []string{a.only}
			}
		}
		maps.Copy(all, openWall()) // only the rules for arguments hold the program
		maps.Copy(all, more)
		text, err := json.Marshal(all)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	g.defaults = openWithCache(t, settings(nil), cache)
	if blocks := g.defaults.blocks(); len(blocks) > 0 {
		g.written = openWithCache(t, settings(map[string]any{"tool": blocks}), cache)
	}
	g.open = openWithCache(t, settings(map[string]any{"dangerous": []string{"-*", "<*", "**"}, "paths": "any"}), cache)
	g.schemas = g.open.schemas()
	return g
}

// blocks returns the tools as "junctor wrap" records them.
func (h *host) blocks() []json.RawMessage {
	var list struct {
		Tools []struct {
			Annotations struct{ ReadOnlyHint bool }
			Meta        struct {
				Model struct {
					Block   json.RawMessage
					Offered []any `json:"offered_dangerous"`
				} `json:"junctor/model"`
			} `json:"_meta"`
		}
	}
	m := h.ask("tools/list", `{"_meta":{"junctor/model":true}}`)
	if m.Error != nil {
		return nil
	}
	if err := json.Unmarshal(m.Result, &list); err != nil {
		h.t.Fatal(err)
	}
	var blocks []json.RawMessage
	for _, one := range list.Tools {
		blocks = append(blocks, one.Meta.Model.Block)
		if one.Annotations.ReadOnlyHint && len(one.Meta.Model.Offered) > 0 {
			h.t.Error("a tool with a dangerous option has readOnlyHint")
		}
	}
	return blocks
}

// try runs the attack through the wrapped program. It reports whether the
// attack succeeds through a wrapper that allows everything, which shows that
// its arguments are right.
func (g *attackGroup) try(t *testing.T, a *attack) (reproduced bool) {
	t.Helper()
	for how, h := range map[string]*host{"by default": g.defaults, "as tool blocks": g.written} {
		if h == nil {
			continue
		}
		answer := g.call(h, a)
		if did := g.site.harm(t, answer); did != "" {
			t.Errorf("%s %s, %s: %s", a.tool, a.args, how, did)
		}
	}
	answer := g.call(g.open, a)
	reproduced = g.site.harm(t, answer) != ""
	if !reproduced {
		t.Logf("%s %s does no harm through a wrapper that allows everything: %.300s", a.tool, a.args, answer)
	}
	return reproduced
}

// call calls the tool and returns its result or error as text.
func (g *attackGroup) call(h *host, a *attack) string {
	arguments, err := json.Marshal(g.schemas[a.tool].fit(g.site.expand(a.args)))
	if err != nil {
		return err.Error()
	}
	m := h.ask("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, a.tool, arguments))
	if m.Error != nil {
		return m.Error.Message
	}
	return string(m.Result)
}

// A schema is the part of a tool's input schema that attacks need.
type schema struct {
	Properties map[string]struct{ Type any }
}

func (h *host) schemas() map[string]schema {
	var list struct {
		Tools []struct {
			Name        string
			InputSchema schema
		}
	}
	all := map[string]schema{}
	if m := h.ask("tools/list", `{}`); m.Error == nil && json.Unmarshal(m.Result, &list) == nil {
		for _, one := range list.Tools {
			all[one.Name] = one.InputSchema
		}
	}
	return all
}

// fit drops arguments that the tool does not have and converts the others to
// its types, because the table covers several versions of a program.
func (s schema) fit(text string) map[string]any {
	wanted, fitted := map[string]any{}, map[string]any{}
	_ = json.Unmarshal([]byte(text), &wanted)
	for name, value := range wanted {
		property, known := s.Properties[name]
		list, isList := value.([]any)
		switch {
		case !known && s.Properties != nil:
		case property.Type == "array" && !isList:
			fitted[name] = []any{value}
		case property.Type == "string" && isList && len(list) > 0:
			fitted[name] = list[len(list)-1]
		case property.Type == "integer" && value == true:
			fitted[name] = 1
		default:
			fitted[name] = value
		}
	}
	return fitted
}

// openWithCache opens a server with a cache directory.
func openWithCache(t *testing.T, settings, cache string) *host {
	t.Helper()
	conn, err := plugin().Transports["cli"].Open(t.Context(),
		&sdk.Server{Dir: t.TempDir(), MaxMessage: 16 << 20, Cache: cache}, []byte(settings))
	if err != nil {
		t.Fatal(err)
	}
	return connect(t, conn)
}
