package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/sdk/process"
)

const (
	defaultCalls = 2000 // of TestFuzzedCalls in CI; a soak makes 100 000
	leastCalls   = 45   // of one program, or discovering it is not worth the time
	traceCalls   = 400  // of TestTracedCalls
	traceLeast   = 12   // of one program in TestTracedCalls
	renewEvery   = 40   // calls with the same working directory
)

// A wrapped is one program of testdata/programs.txt.
type wrapped struct {
	program, only      string
	required, connects bool
}

// readPrograms parses programs.txt.
func readPrograms(t *testing.T) (all []wrapped) {
	t.Helper()
	text, err := os.ReadFile("testdata/programs.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		for _, word := range strings.Fields(line)[min(1, len(strings.Fields(line))):] {
			name := strings.TrimLeft(word, "!+")
			w := wrapped{required: strings.Contains(word, "!"), connects: strings.Contains(word, "+")}
			w.program, w.only, _ = strings.Cut(name, "/")
			all = append(all, w)
		}
	}
	return all
}

// forms are the spellings of arguments. P is a place outside: a file with a
// secret, one to write, a directory, a program, a key, a socket.
var forms = []string{
	"P", " P", "P ", "\tP", "P\n", "//P", "/./P", "P/", "P/.", "/proc/self/cwd/R", "/proc/thread-self/cwd/R",
	"/proc/self/rootP", "/dev/fd/../cwd/R", "file://P", "file:P", "FILE://localhostP", "file:R", "x:P", "x:R", "a:b:P",
	"cache:P", "concat:a.txt|P", "subfile,,start,0,end,9,,:P", "md5:P", "tee:P", "pipe:P", "jar:file:P!/x", "zip://P",
	"@P", "@R", "x@P", "<P", ">P", ">>P", "|cat P", "|P", "cat P|", "P|", "k=P", "k=@P", "k=R", "k=<P", "a.txt,P",
	"a.txt;P", "a.txt|P", "a.txt P", "a.txt\nP", "-P", "-IP", "-oP", "--output=P", "--file=P", "%2e%2e/N", "%2e%2e%2fN",
	"%252e%252e/N", "~/.ssh/id_rsa", "~/mark", "$HOME/mark", "R", "./R", "sub/../R", "new/../R", "sub/../../N", "link",
	"sub/link", "dangling", "..", "../", "/", "..\\N", ".?/N", ".*/N", "{..,}/N", "'P'", "\"P\"", "[P]", "(P)", "{P}",
	"*P", "w P", "r P", "e P", "s/a/b/wP", "!P", ".read P", ".trace P", ".output P", "\\! P", "source P", "include P",
	"include \"P\"", "document('P')", "readfile('P')", "fsdir('R')", "load_file('P')", "system(\"P\")", "print > \"P\"",
	"$(P)", "`P`", ";P", "env", "$ENV", "%env", "tcp://127.0.0.1:PORT", "http://127.0.0.1:PORT/x", "127.0.0.1:PORT",
	"//127.0.0.1:PORT/x", "unix://SOCKET", "unix:SOCKET", "SOCKET", "ext::P", "host:P", "-", "--", "", "a.txt", "new1",
	"%s%n", "\u202eP", "\xc3\x28P",
}

// harmless are values for the arguments that are not tried.
var harmless = []string{"a.txt", "b.txt", "sub", "x.xml", "new1", "alpha", "1", "x", ".", "-", "big.txt", "t.tar",
	"1,2", "utf-8", "a", "sub/c.txt", "HEAD"}

// A generator makes calls of tools.
type generator struct {
	*rand.Rand
	g *guard
}

// value returns a payload.
func (r *generator) value() string {
	places := []string{"outside/secret", "outside/mark", "outside", "outside/evil", "home/.ssh/id_rsa",
		"outside/new dir/mark", "outside/secret.json"}
	name := places[r.IntN(len(places))]
	text := forms[r.IntN(len(forms))]
	text = strings.ReplaceAll(text, "SOCKET", r.g.socket)
	text = strings.ReplaceAll(text, "PORT", fmt.Sprint(r.g.port))
	for letter, with := range map[string]string{"P": filepath.Join(r.g.top, name), "R": "../" + name, "N": name} {
		if at := strings.Index(text, letter); at >= 0 && !strings.HasPrefix(text[at:], "PORT") &&
			!strings.HasPrefix(text[at:], "NV") {
			text = text[:at] + with + text[at+1:]
			break
		}
	}
	return text
}

// arguments returns arguments for a tool: at most a number of payloads, and harmless
// values for what is required and for some of the others.
func (r *generator) arguments(one listedTool, payloads int) string {
	var schema struct {
		Properties map[string]struct {
			Type        any
			Enum        []any
			MaxItems    int
			Description string
		}
		Required []string
	}
	text, _ := json.Marshal(one.raw)
	_ = json.Unmarshal(text, &schema)
	names := make([]string, 0, len(schema.Properties))
	for name := range schema.Properties {
		names = append(names, name)
	}
	slices.Sort(names)
	var open []string // the properties that take a text
	for _, name := range names {
		if p := schema.Properties[name]; len(p.Enum) == 0 && p.Type != "boolean" && p.Type != "integer" &&
			p.Type != "number" {
			open = append(open, name)
		}
	}
	tried := map[string]bool{}
	for range payloads {
		if len(open) > 0 {
			tried[open[r.IntN(len(open))]] = true
		}
	}
	arguments := map[string]any{}
	for _, name := range names {
		p := schema.Properties[name]
		value := harmless[r.IntN(len(harmless))]
		if tried[name] {
			value = r.value()
		} else if !slices.Contains(schema.Required, name) && r.IntN(10) > 1 {
			continue
		}
		switch {
		case len(p.Enum) > 0:
			arguments[name] = p.Enum[r.IntN(len(p.Enum))]
		case p.Type == "boolean":
			arguments[name] = true
		case p.Type == "integer", p.Type == "number":
			arguments[name] = r.IntN(4)
		case p.Type == "array" && p.MaxItems > 0:
			arguments[name] = r.expression(p.Description, value)
		case p.Type == "array":
			arguments[name] = []string{harmless[r.IntN(len(harmless))], value}[r.IntN(2):]
		case p.Type == "object":
			arguments[name] = map[string]string{"k": value}
		default:
			arguments[name] = value
		}
	}
	text, _ = json.Marshal(arguments)
	return string(text)
}

// expression returns words that a description names, with values between them. Some of
// the words are left out of the table because they do harm.
func (r *generator) expression(description, value string) []string {
	words := append(strings.Fields(strings.NewReplacer(";", " ", ". ", " ").Replace(description)), "-exec", "-delete",
		"-fprint", "-L", "-progress", "-o")
	var all []string
	for range 1 + r.IntN(6) {
		switch r.IntN(4) {
		case 0:
			all = append(all, harmless[r.IntN(len(harmless))])
		case 1:
			all = append(all, value)
		default:
			all = append(all, words[r.IntN(len(words))])
		}
	}
	return all
}

// TestFuzzedCalls wraps programs with default settings, makes calls from the
// schemas of their tools, and checks from outside that no call does harm.
func TestFuzzedCalls(t *testing.T) {
	if testing.Short() {
		t.Skip("starts many programs")
	}
	if os.Getuid() != 0 && os.Getenv(arenaVariable) == "" && os.Getenv(callsVariable) == "" {
		t.Skipf("runs programs as the user of this test, so it asks for %s", callsVariable)
	}
	calls := number(t, callsVariable, defaultCalls)
	if unprivileged(t, time.Minute+time.Duration(calls)*100*time.Millisecond) {
		return
	}
	fuzzCalls(t, calls, leastCalls)
}

// fuzzCalls makes calls in parallel, at least a number of one program. Each
// program has a directory of its own.
func fuzzCalls(t *testing.T, calls, least int) {
	t.Helper()
	if err := process.Adopt(); err != nil {
		t.Log(err)
	}
	// A program must not fill the disk.
	_ = syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 32 << 20, Max: 32 << 20})
	seed := number(t, seedVariable, 1)
	var here []wrapped
	for _, w := range readPrograms(t) {
		if _, err := exec.LookPath(w.program); err == nil {
			here = append(here, w)
		} else if w.required && os.Getenv("JUNCTOR_REQUIRE_INTEROP") != "" {
			t.Errorf("%s is not installed", w.program)
		}
	}
	rng := rand.New(rand.NewPCG(uint64(seed), 0))
	rng.Shuffle(len(here), func(i, j int) { here[i], here[j] = here[j], here[i] })
	chosen := here[:min(len(here), max(1, calls/least))]
	cache := t.TempDir()
	slots := make(chan struct{}, 3)
	var made, ran atomic.Int64
	t.Run("each", func(t *testing.T) {
		for i, w := range chosen {
			t.Run(fmt.Sprintf("%d %s", i, w.program), func(t *testing.T) {
				t.Parallel()
				slots <- struct{}{}
				defer func() { <-slots }()
				share := calls / len(chosen)
				wall := os.Getenv(wallVariable)
				if wall == "" {
					wall = []string{"open", "default"}[i%2]
				}
				n := w.fuzz(t, share, wall, rand.New(rand.NewPCG(uint64(seed), uint64(i))), cache)
				made.Add(int64(share))
				ran.Add(int64(n))
			})
		}
	})
	t.Logf("%d calls of %d programs, of %d that are installed; %d calls ran the program",
		made.Load(), len(chosen), len(here), ran.Load())
}

// fuzz makes calls of one program. It returns how many of them were not refused.
func (w *wrapped) fuzz(t *testing.T, calls int, wall string, rng *rand.Rand, cache string) (ran int) {
	t.Helper()
	g := newGuard(t, w.program)
	all := map[string]any{"command": []string{w.program},
		"cwd": g.work, "env": g.variables(), "timeout": "2s", "common": 0, "max_output": 100000}
	if wall == "open" {
		maps.Copy(all, openWall())
	}
	if w.only != "" {
		all["only"] = []string{w.only}
	}
	settings, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	s := openSession(t, string(settings), cache)
	var tools []listedTool
	for _, one := range s.tools {
		tools = append(tools, one)
	}
	slices.SortFunc(tools, func(a, b listedTool) int { return strings.Compare(a.Name, b.Name) })
	if len(tools) == 0 {
		return 0 // it is dangerous as a whole
	}
	r := &generator{Rand: rng, g: g}
	for i := range calls {
		one := tools[r.IntN(len(tools))]
		arguments := r.arguments(one, 1+r.IntN(2))
		inside := map[string]string{}
		if one.Annotations.ReadOnlyHint {
			inside = g.files(g.work, "")
		}
		answer := s.callAs(one.Name, arguments)
		refused := strings.Contains(answer, "the arguments were rejected")
		if !refused {
			ran++
		}
		did := g.harm(t, answer)
		if one.Annotations.ReadOnlyHint && !maps.Equal(inside, g.files(g.work, "")) {
			did = "changes the working directory"
			g.renew(t, w.program)
		}
		if did == "connects" && w.connects && !one.Annotations.ReadOnlyHint {
			did = ""
		}
		if did != "" {
			t.Errorf("%s %s %s: %s (read-only: %t): %.300s",
				w.program, one.Name, arguments, did, one.Annotations.ReadOnlyHint, answer)
		}
		if _, err := os.Lstat(filepath.Join(g.work, "link")); err != nil || i%renewEvery == renewEvery-1 {
			g.renew(t, w.program)
		}
	}
	return ran
}

// number returns the number in an environment variable.
func number(t *testing.T, variable string, otherwise int) int {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("%s is not a number", variable)
	}
	return n
}
