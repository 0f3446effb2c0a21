package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// An expressionCall is one line of testdata/expressions.txt.
type expressionCall struct {
	command   []string
	arguments string
	outcome   string // "=>", "refused" or "answer"
	want      string
}

func readExpressionCalls(t *testing.T) (all map[string][]expressionCall, order []string) {
	t.Helper()
	text, err := os.ReadFile("testdata/expressions.txt")
	if err != nil {
		t.Fatal(err)
	}
	all = map[string][]expressionCall{}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSuffix(line, "\n"); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.SplitN(line, " | {", 2)
		end := strings.LastIndex(line, "} | ")
		if len(fields) != 2 || end < 0 {
			t.Fatalf("not a call: %s", line)
		}
		c := expressionCall{command: strings.Fields(fields[0]), arguments: line[len(fields[0])+len(" | ") : end+1]}
		c.outcome, c.want, _ = strings.Cut(line[end+len("} | "):], " ")
		if !json.Valid([]byte(c.arguments)) {
			t.Fatalf("not a call: %s", line)
		}
		if all[fields[0]] == nil {
			order = append(order, fields[0])
		}
		all[fields[0]] = append(all[fields[0]], c)
	}
	return all, order
}

// TestExpressionsOfRealPrograms makes the calls of expressions.txt and checks the output
// or the error of each, and that none does harm.
func TestExpressionsOfRealPrograms(t *testing.T) {
	if testing.Short() {
		t.Skip("starts many programs")
	}
	all, order := readExpressionCalls(t)
	for _, key := range order {
		t.Run(key, func(t *testing.T) {
			calls := all[key]
			program := calls[0].command
			if _, err := exec.LookPath(program[0]); err != nil {
				if slices.Contains([]string{"find", "test", "[", "expr"}, program[0]) {
					t.Fatal(err) // every system has them
				}
				t.Skipf("%s is not installed", program[0])
			}
			if !genuine(program[0]) {
				t.Skipf("%s is another program here", program[0])
			}
			s := newSite(t, program[0])
			s.forExpressions(t)
			s.before = s.outside(t)
			for name, more := range map[string]map[string]any{"rules for arguments": openWall(), "default": {}} {
				settings := map[string]any{"command": program, "cwd": s.work, "env": s.variables(), "timeout": "20s"}
				for key, value := range more {
					settings[key] = value
				}
				text, err := json.Marshal(settings)
				if err != nil {
					t.Fatal(err)
				}
				h := openWithCache(t, string(text), t.TempDir())
				for _, c := range calls {
					c.try(t, h, s, name)
				}
			}
		})
	}
}

// forExpressions adds the files that the calls need.
func (s *site) forExpressions(t *testing.T) {
	t.Helper()
	for name, text := range map[string]string{
		"data.json": `{"name":"widget","count":3,"env":{"name":"inner"}}`, "n.txt": "4\n2\n", "n.csv": "a,b,c\n",
		"list.m3u8":     "#EXTM3U\n#EXTINF:1,\n../outside/secret\n",
		"list.ffconcat": "ffconcat version 1.0\nfile 'in.gif'\n",
	} {
		s.write(t, filepath.Join(s.work, name), text, 0o644)
	}
	if err := os.Symlink("../outside/mark.gif", filepath.Join(s.work, "dangling.gif")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../outside/mark.png", filepath.Join(s.work, "dang1.png")); err != nil {
		t.Fatal(err)
	}
	s.prepare("ffmpeg", "-v", "error", "-f", "lavfi", "-i", "color=s=16x16:d=0.2:c=red", "-y", "in.gif")
	s.prepare("cp", "in.gif", "../outside/secret.gif")
}

// try makes one call.
func (c *expressionCall) try(t *testing.T, h *host, s *site, held string) {
	t.Helper()
	name, failure := toolName(h)
	if name == "" {
		if !regexp.MustCompile(c.want).MatchString(failure) {
			t.Errorf("%s, %v: %s", held, c.command, failure)
		}
		return
	}
	arguments := s.expand(c.arguments)
	m := h.ask("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, name, arguments))
	answer, code, stdout := "", 0, ""
	if m.Error != nil {
		answer = m.Error.Message
	} else {
		r := readCallResult(t, m)
		answer, code, stdout = r.Content[0].Text, r.Result.ExitCode, r.Result.Stdout
	}
	fits := false
	switch ran := m.Error == nil && !strings.Contains(answer, "the arguments were rejected"); c.outcome {
	case "=>":
		fits = ran && code == 0 && regexp.MustCompile(c.want).MatchString(strings.TrimRight(stdout, "\n"))
	case "answer":
		fits = ran && strconv.Itoa(code) == c.want
	case "refused":
		fits = !ran && regexp.MustCompile(s.expand(c.want)).MatchString(answer)
	}
	if !fits {
		t.Errorf("%s, %v %s: want %s %s, got exit code %d, %q, %.400s",
			held, c.command, arguments, c.outcome, c.want, code, stdout, answer)
	}
	if did := s.harm(t, answer+stdout+string(m.Result)); did != "" {
		t.Errorf("%s, %v %s: %s", held, c.command, arguments, did)
	}
}

// toolName returns the name of the only tool, or why there is none.
func toolName(h *host) (name, failure string) {
	var list struct{ Tools []struct{ Name string } }
	m := h.ask("tools/list", `{}`)
	switch {
	case m.Error != nil:
		return "", m.Error.Message
	case json.Unmarshal(m.Result, &list) != nil || len(list.Tools) == 0:
		return "", "no tool is offered"
	}
	return list.Tools[0].Name, ""
}
