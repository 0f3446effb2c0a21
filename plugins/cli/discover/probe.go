package discover

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/sdk/process"
)

// afterEnd is how long what an answer printed is waited for once the program is
// gone: a stranger that nobody can find may hold the pipe open.
const afterEnd = 200 * time.Millisecond

// An answer is what a program printed when it was asked.
type answer struct {
	stdout, stderr string // without colours and the like
	status         int    // -1: it was killed
	late, long     bool   // it was ended for the time it took, for what it printed
	failed         error  // it could not be started
	took           time.Duration
	settled        bool // it was late so often that it is not asked again
}

// A prober asks one program.
type prober struct {
	path     string   // the executable
	fixed    []string // the arguments that every call begins with
	name     string   // what the program is told it is called
	dir      string
	env      []string
	time     time.Duration
	output   int
	log      hclog.Logger
	places   chan struct{} // one for each question that may be open
	asked    atomic.Int64
	variants []string // variables on top of env
	beside   string   // of man: the program whose pages it is asked for
	ownHome  bool     // env has the user's own home
	answers  *answerStore
	slowest  *atomic.Int64 // ns; of the answers that came in time
	again    bool          // what was late is asked once more, with twice the time
}

// A question has so many times the time of the slowest answer so far: what takes
// long because the machine is busy is not given up as if it hung.
const (
	slack    = 10
	longTime = time.Minute // the most that makes
)

// limit is how long an answer is waited for.
func (p *prober) limit() time.Duration {
	d := max(p.time, min(slack*time.Duration(p.slowest.Load()), longTime))
	if p.again {
		d *= 2
	}
	return d
}

// measure takes note of how long an answer took.
func (p *prober) measure(a answer) {
	for a.failed == nil && !a.late {
		slowest := p.slowest.Load()
		if int64(a.took) <= slowest || p.slowest.CompareAndSwap(slowest, int64(a.took)) {
			return
		}
	}
}

// running bounds the questions that this process asks at a time, whatever the
// programs.
var running = make(chan struct{}, runtime.NumCPU()+2)

// with returns a prober of the same program with more variables.
func (p *prober) with(variables ...string) *prober {
	return &prober{
		path: p.path, fixed: p.fixed, name: p.name, dir: p.dir, env: p.env, time: p.time, output: p.output,
		log: p.log, places: p.places, variants: slices.Concat(p.variants, variables), beside: p.beside, ownHome: p.ownHome, answers: p.answers,
		slowest: p.slowest,
	}
}

// patient returns a prober that waits longer for an answer.
func (p *prober) patient() *prober {
	q := p.with()
	q.again = true
	return q
}

// of returns a prober of another program in the same environment.
func (p *prober) of(path string) *prober {
	q := p.with()
	q.slowest = new(atomic.Int64)
	q.path, q.fixed, q.name = path, nil, path
	return q
}

// ask returns what the program prints with args: now, or when it was asked
// before. Everything that it started is gone by then, or ctx is done and
// everything is going.
func (p *prober) ask(ctx context.Context, args ...string) answer {
	question := p.question(args)
	a, late, known := p.answers.load(question)
	if known && ctx.Err() == nil {
		p.measure(a)
		return a
	}
	for _, places := range []chan struct{}{p.places, running} {
		select {
		case places <- struct{}{}:
			defer func() { <-places }()
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
	p.log.Trace("asked", "args", strings.Join(args, " "), "status", a.status, "bytes", len(a.stdout)+len(a.stderr), "took", time.Since(begun).Round(time.Millisecond), "error", a.failed)
	return a
}

// question spells everything that tells one question from another, but for what
// the whole store depends on.
func (p *prober) question(args []string) string {
	text, err := json.Marshal(struct {
		Path, Name            string
		Fixed, Args, Variants []string
		OwnHome               bool
	}{p.path, p.name, p.fixed, args, p.variants, p.ownHome})
	if err != nil {
		panic(err) // strings can be written
	}
	return string(text)
}

func (p *prober) run(ctx context.Context, args []string) answer {
	if ctx.Err() != nil {
		return answer{status: -1, failed: ctx.Err()}
	}
	var pipes [4]*os.File
	defer func() {
		for _, f := range pipes {
			if f != nil {
				_ = f.Close()
			}
		}
	}()
	var err error
	for i := 0; i < len(pipes); i += 2 {
		if pipes[i], pipes[i+1], err = os.Pipe(); err != nil {
			return answer{status: -1, failed: err}
		}
	}
	proc, err := process.Start(process.Command{
		Path: p.path, Args: slices.Concat([]string{p.name}, p.fixed, args), Env: slices.Concat(p.env, p.variants), Dir: p.dir,
		Stdout: pipes[1], Stderr: pipes[3],
	})
	_ = pipes[1].Close()
	_ = pipes[3].Close()
	if err != nil {
		return answer{status: -1, failed: err}
	}
	out, errs := newReading(pipes[0], p.output, proc.Kill), newReading(pipes[2], p.output, proc.Kill)
	var a answer
	clock := time.NewTimer(p.limit())
	defer clock.Stop()
	select {
	case <-proc.Done():
	case <-clock.C:
		a.late = true
	case <-ctx.Done():
		a.failed = ctx.Err()
	}
	proc.Kill()
	<-proc.Done()
	a.status = proc.ExitCode()
	a.stdout, a.stderr = plain(out.end()), plain(errs.end())
	a.long = out.long.Load() || errs.long.Load()
	return a
}

// A reading reads one stream while the program runs.
type reading struct {
	pipe *os.File
	done chan struct{}
	text []byte // valid once done is closed
	long atomic.Bool
}

// newReading reads at most limit bytes; when there are more it calls stop.
func newReading(pipe *os.File, limit int, stop func()) *reading {
	r := &reading{pipe: pipe, done: make(chan struct{})}
	go func() {
		defer close(r.done)
		r.text, _ = io.ReadAll(io.LimitReader(process.LastWords(pipe, afterEnd), int64(limit)+1))
		if len(r.text) > limit {
			r.text = r.text[:limit]
			r.long.Store(true)
			stop()
		}
	}()
	return r
}

// end returns what was read once the program is gone.
func (r *reading) end() []byte {
	_ = r.pipe.SetReadDeadline(time.Now())
	<-r.done
	return r.text
}

var (
	escapes    = regexp.MustCompile("\x1b(?:\\[[0-?]*[ -/]*[@-~]|\\][^\x07\x1b]*(?:\x07|\x1b\\\\)|[@-Z\\\\^_]|[()][0-9A-B])")
	overstrike = regexp.MustCompile("[^\n]\b")
)

// plain is a text without what only a terminal understands.
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

// newProber makes a prober of the program to learn about.
func newProber(o *Options, path string, n *nest, answers *answerStore) *prober {
	return &prober{
		path: path, fixed: o.Command[1:], name: argv0(o.Command[0], path), dir: n.workDir, env: n.env,
		time: o.ProbeTime, output: o.ProbeOutput, log: o.Log, places: make(chan struct{}, o.Parallel), answers: answers, slowest: new(atomic.Int64),
	}
}

// argv0 is how the program is called. Many are links to one file that looks at
// its name, and most print it in their usage line.
func argv0(command, path string) string {
	if filepath.Base(command) == filepath.Base(path) {
		return command
	}
	return path
}
