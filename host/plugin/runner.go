package plugin

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin/runner"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/sdk/process"
)

// A processRunner is go-plugin's way to start a process. It gives the plugin a
// lifeline as standard input, because go-plugin would give it the host's own,
// which carries a client's messages under "serve"; it reads standard error
// itself; and it shows go-plugin one checked line of standard output and
// nothing else.
type processRunner struct {
	binary  *program
	env     []string
	dir     string // private; the socket is in it
	tls     bool
	limits  limits
	giveUp  <-chan struct{} // nobody waits for the handshake any more
	journal *journal

	proc     child
	lifeline *os.File
	cut      sync.Once
	stdout   *io.PipeReader // the handshake line, then nothing until the end
	reading  sync.WaitGroup
}

var _ runner.Runner = (*processRunner)(nil)

// A child is a process that was started.
type child interface {
	PID() int
	Done() <-chan struct{}
	Ended() string
	Wait(d time.Duration) bool
	Kill()
}

var _ child = (*process.Process)(nil)

// Start starts the process and waits for its handshake, so that every way this
// can go wrong is told apart here.
func (r *processRunner) Start(ctx context.Context) error {
	var pipes [6]*os.File
	for i := 0; i < len(pipes); i += 2 {
		var err error
		if pipes[i], pipes[i+1], err = os.Pipe(); err != nil {
			closeFiles(pipes[:])
			return err
		}
	}
	inR, inW, outR, outW, errR, errW := pipes[0], pipes[1], pipes[2], pipes[3], pipes[4], pipes[5]
	proc, err := process.Start(process.Command{
		Path: r.binary.path, File: r.binary.file, Args: []string{r.binary.path}, Env: r.env, Dir: r.dir,
		Stdin: inR, Stdout: outW, Stderr: errW, Soft: true,
	})
	closeFiles([]*os.File{inR, outW, errW})
	if err != nil {
		closeFiles([]*os.File{inW, outR, errR})
		return cannotRun(r.binary, err)
	}
	r.proc, r.lifeline = proc, inW
	r.reading.Go(func() { readLines(errR, r.limits.last, r.journal) })
	r.reading.Go(func() { hearOut(proc, errR, outR) })
	line, err := r.handshake(ctx, outR)
	if err != nil {
		r.end()
		return err
	}
	var w *io.PipeWriter
	r.stdout, w = io.Pipe()
	r.reading.Go(func() {
		_, _ = io.WriteString(w, line)
		<-proc.Done()
		_ = w.Close()
	})
	return nil
}

// readLines gives a journal what a process writes, to its end.
func readLines(r *os.File, last time.Duration, j *journal) {
	w := &lines{journal: j}
	_, _ = io.Copy(w, process.LastWords(r, last))
	w.end()
	_ = r.Close()
}

// hearOut tells those who read from a process that it has ended. Whoever
// inherited the pipes may hold them open; what the process wrote is in them by
// now.
func hearOut(proc child, pipes ...*os.File) {
	<-proc.Done()
	for _, p := range pipes {
		_ = p.SetReadDeadline(time.Now())
	}
}

// handshake waits for the first line and checks it.
func (r *processRunner) handshake(ctx context.Context, stdout *os.File) (string, error) {
	type first struct {
		line string
		err  error
	}
	got := make(chan first, 1)
	r.reading.Go(func() {
		br := bufio.NewReaderSize(process.LastWords(stdout, r.limits.last), handshakeLine)
		line, err := br.ReadSlice('\n')
		got <- first{string(line), err}
		_, _ = io.Copy(io.Discard, br) // a plugin that goes on printing must not block
		_ = stdout.Close()
	})
	select {
	case f := <-got:
		if f.err != nil && f.line == "" {
			return "", r.endedEarly()
		}
		if errors.Is(f.err, bufio.ErrBufferFull) {
			return "", fault.New(fault.PluginHandshake, "the plugin printed %s instead of a handshake", quoted(f.line))
		}
		network, address, err := checkHandshake(f.line, r.dir, r.tls)
		if err == nil && network == "unix" {
			err = checkSocket(address)
		}
		return f.line, err
	case <-ctx.Done():
	case <-r.giveUp:
	}
	return "", fault.New(fault.PluginStartTimeout, "the plugin started but printed no handshake in time").
		WithHint("see junctor plugin logs")
}

// endedEarly says how a process ended that printed nothing.
func (r *processRunner) endedEarly() error {
	if !r.proc.Wait(r.limits.exit) {
		return fault.New(fault.PluginHandshake, "the plugin closed its standard output without a handshake")
	}
	return fault.New(fault.PluginExited, "the plugin %s before its handshake", r.proc.Ended())
}

// end kills the process and waits for all that was read from it.
func (r *processRunner) end() {
	r.cutLifeline()
	r.proc.Kill()
	<-r.proc.Done()
	r.reading.Wait()
	r.journal.end()
}

// cutLifeline tells the plugin that it is no longer needed.
func (r *processRunner) cutLifeline() {
	r.cut.Do(func() { _ = r.lifeline.Close() })
}

// Stdout is the handshake line, and then open until the process ends.
func (r *processRunner) Stdout() io.ReadCloser { return r.stdout }

// Stderr is empty: the lines are read above.
func (r *processRunner) Stderr() io.ReadCloser { return io.NopCloser(strings.NewReader("")) }

// Name is for go-plugin's messages.
func (r *processRunner) Name() string { return r.binary.path }

// ID is the process's number.
func (r *processRunner) ID() string {
	if r.proc == nil {
		return ""
	}
	return strconv.Itoa(r.proc.PID())
}

// Diagnose has nothing to add: Start said it all.
func (r *processRunner) Diagnose(context.Context) string { return "" }

// Wait returns when the process has ended.
func (r *processRunner) Wait(context.Context) error {
	<-r.proc.Done()
	return nil
}

// Kill ends the process, with its group.
func (r *processRunner) Kill(context.Context) error {
	if r.proc != nil {
		r.end()
	}
	return nil
}

// PluginToHost passes an address that Start has checked.
func (r *processRunner) PluginToHost(network, address string) (string, string, error) {
	return network, address, nil
}

// HostToPlugin passes an address on.
func (r *processRunner) HostToPlugin(network, address string) (string, string, error) {
	return network, address, nil
}

// runnerFunc is how go-plugin gets its runner: cmd holds the variables of the
// handshake, dir is the private directory it made for the socket.
func (l *link) runnerFunc(ctx context.Context, env []string, tls bool) func(hclog.Logger, *exec.Cmd, string) (runner.Runner, error) {
	return func(_ hclog.Logger, cmd *exec.Cmd, dir string) (runner.Runner, error) {
		l.runner = &processRunner{
			binary: l.binary, env: append(env, cmd.Env...), dir: dir, tls: tls,
			limits: l.limits, giveUp: ctx.Done(), journal: l.journal,
		}
		return l.runner, nil
	}
}

// cannotRun explains why the system refused to execute a program. Reasons that
// have nothing to do with the program may pass.
func cannotRun(b *program, err error) error {
	f := fault.Because(fault.PluginNotAllowed, err, "starting plugin %s", b.path)
	switch {
	case errors.Is(err, os.ErrPermission):
		return f.WithHint("the file is not executable: chmod +x %s", b.path)
	case errors.Is(err, syscall.ENOEXEC):
		return f.WithHint("it is not a program for %s", platform())
	case errors.Is(err, os.ErrNotExist):
		return f.WithHint("the file or its interpreter is missing")
	}
	f.Code = fault.Internal
	return f
}

func closeFiles(files []*os.File) {
	for _, f := range files {
		if f != nil {
			_ = f.Close()
		}
	}
}
