package discover

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/plugins/internal/subprocess"
	"github.com/junctor-mcp/junctor/sdk/process"
	"github.com/junctor-mcp/junctor/sdk/sandbox"
)

// A prober asks one program. Its methods may be called concurrently; the fields do not
// change after it is made, except the counters. Copies made by with share slots and answers.
type prober struct {
	path     string   // the executable
	fixed    []string // the fixed arguments of every call
	name     string   // the first element of the argument list
	dir      string
	env      []string
	time     time.Duration // the least time limit for one question
	output   int           // the limit for each stream, in bytes
	log      hclog.Logger
	slots    chan struct{} // holds an element for each open question
	asked    atomic.Int64  // number of questions
	variants []string      // variables in addition to env
	pageOf   string        // for man: the program whose pages it looks up
	ownHome  bool          // env has the user's own home directory
	answers  *answerStore
	slowest  *atomic.Int64 // duration of the slowest answer in time, in ns
	rules    *sandbox.Rules
	doubled  bool // questions get twice the time, because they were late before
}

// The time limit of a question grows with the slowest answer so far. So a
// question that is slow because the machine is busy does not time out.
const (
	slowFactor = 10          // limit divided by the duration of the slowest answer
	maxLimit   = time.Minute // upper bound of that limit
)

// limit returns the time limit of the next question.
func (p *prober) limit() time.Duration {
	d := max(p.time, min(slowFactor*time.Duration(p.slowest.Load()), maxLimit))
	if p.doubled {
		d *= 2
	}
	return d
}

// measure records how long an answer took.
func (p *prober) measure(a answer) {
	for a.failed == nil && !a.late {
		slowest := p.slowest.Load()
		if int64(a.took) <= slowest || p.slowest.CompareAndSwap(slowest, int64(a.took)) {
			return
		}
	}
}

// processSlots bounds the open questions of this process about all programs.
var processSlots = make(chan struct{}, runtime.NumCPU()+2)

// with returns a prober of the same program with more variables.
func (p *prober) with(variables ...string) *prober {
	return &prober{
		path: p.path, fixed: p.fixed, name: p.name, dir: p.dir, env: p.env, time: p.time, output: p.output,
		log: p.log, slots: p.slots, variants: slices.Concat(p.variants, variables), pageOf: p.pageOf,
		ownHome: p.ownHome, answers: p.answers,
		slowest: p.slowest, rules: p.rules,
	}
}

// patient returns a prober with twice the time limit.
func (p *prober) patient() *prober {
	q := p.with()
	q.doubled = true
	return q
}

// of returns a prober of another program in the same environment.
func (p *prober) of(path string) *prober {
	q := p.with()
	q.slowest = new(atomic.Int64)
	q.path, q.fixed, q.name = path, nil, path
	return q
}

// ask returns what the program prints with args, from the store or by running
// it. When ask returns, no process that the program started is left.
func (p *prober) ask(ctx context.Context, args ...string) answer {
	question := p.question(args)
	a, late, known := p.answers.load(question)
	if known && ctx.Err() == nil {
		p.measure(a)
		return a
	}
	for _, slots := range []chan struct{}{p.slots, processSlots} {
		select {
		case slots <- struct{}{}:
			defer func() { <-slots }()
		case <-ctx.Done():
			return answer{status: -1, failed: ctx.Err()}
		}
	}
	p.asked.Add(1)
	begun := time.Now()
	a = p.run(ctx, args)
	a.took = time.Since(begun)
	p.measure(a)
	p.answers.store(question, a, late)
	p.log.Trace("asked", "args", strings.Join(args, " "), "status", a.status, "bytes", len(a.stdout)+len(a.stderr),
		"took", time.Since(begun).Round(time.Millisecond), "error", a.failed)
	return a
}

// question returns the key of a question in the store: everything that
// distinguishes it from other questions about the same program.
func (p *prober) question(args []string) string {
	text, err := json.Marshal(struct {
		Path, Name            string
		Fixed, Args, Variants []string
		OwnHome               bool
	}{p.path, p.name, p.fixed, args, p.variants, p.ownHome})
	if err != nil {
		panic(err) // strings can always be encoded
	}
	return string(text)
}

// run runs the program once. When run returns, no process that the program started
// is left.
func (p *prober) run(ctx context.Context, args []string) answer {
	if ctx.Err() != nil {
		return answer{status: -1, failed: ctx.Err()}
	}
	full := make(chan struct{}, 2) // one element for each stream
	stdout, stderr := &limitedWriter{limit: p.output, full: full}, &limitedWriter{limit: p.output, full: full}
	proc, err := subprocess.Start(process.Command{
		Path: p.path, Args: slices.Concat([]string{p.name}, p.fixed, args),
		Env: slices.Concat(p.env, p.variants), Dir: p.dir,
	}, p.rules, nil, stdout, stderr)
	if err != nil {
		return answer{status: -1, failed: err}
	}
	var a answer
	clock := time.NewTimer(p.limit())
	defer clock.Stop()
	select {
	case <-proc.Done():
	case <-full:
	case <-clock.C:
		a.late = true
	case <-ctx.Done():
		a.failed = ctx.Err()
	}
	proc.Kill()
	<-proc.Done()
	proc.Drain()
	a.status = proc.ExitCode()
	a.stdout, a.stderr = plain(stdout.text), plain(stderr.text)
	a.long = stdout.overflowed || stderr.overflowed
	return a
}

// A limitedWriter keeps the first limit bytes. When there are more, it sends to
// full and fails.
type limitedWriter struct {
	text       []byte
	limit      int
	overflowed bool
	full       chan<- struct{}
}

func (w *limitedWriter) Write(b []byte) (int, error) {
	if len(w.text)+len(b) <= w.limit {
		w.text = append(w.text, b...)
		return len(b), nil
	}
	w.text = append(w.text, b[:w.limit-len(w.text)]...)
	w.overflowed = true
	w.full <- struct{}{}
	return 0, errOverflow
}

var errOverflow = errors.New("the output exceeds its limit")

var (
	escapes = regexp.MustCompile(
		"\x1b(?:\\[[0-?]*[ -/]*[@-~]|\\][^\x07\x1b]*(?:\x07|\x1b\\\\)|[@-Z\\\\^_]|[()][0-9A-B])",
	)
	overstrike = regexp.MustCompile("[^\n]\b")
)

// plain returns a text without escape sequences and overstriking.
func plain(text []byte) string {
	s := strings.ToValidUTF8(string(text), "\uFFFD")
	if strings.Contains(s, "\x1b") {
		s = escapes.ReplaceAllString(s, "")
	}
	if strings.Contains(s, "\b") {
		s = overstrike.ReplaceAllString(s, "")
	}
	return strings.ReplaceAll(s, "\r\n", "\n")
}

// newProber returns a prober of the program to discover.
func newProber(o *Options, path string, box *workspace, answers *answerStore) *prober {
	return &prober{
		path: path, fixed: o.Command[1:], name: argv0(o.Command[0], path), dir: box.workDir, env: box.env,
		time: o.ProbeTime, output: o.ProbeOutput, log: o.Log, slots: make(chan struct{}, o.Parallel), answers: answers,
		slowest: new(atomic.Int64), rules: box.rules,
	}
}

// argv0 returns the name to call the program by. Many names are links to one
// executable, which behaves according to its name and prints it in its usage.
func argv0(command, path string) string {
	if filepath.Base(command) == filepath.Base(path) {
		return command
	}
	return path
}
