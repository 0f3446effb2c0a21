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

// A processRunner starts a process for go-plugin. The plugin's standard input is a
// lifeline and not the host's own input, which carries a client's messages under
// "serve". The runner reads standard error itself. It passes only one validated line
// of standard output to go-plugin. go-plugin calls the methods of runner.Runner; the link owns
// it and ends it. The fields below journal are set by Start.
type processRunner struct {
	binary  *program
	env     []string
	dir     string // private directory of the socket
	tls     bool
	limits  limits
	giveUp  <-chan struct{} // closed when no caller waits for the handshake
	journal *journal

	proc     child
	lifeline *os.File
	cut      sync.Once
	stdout   *io.PipeReader // the handshake line, then EOF at the end of the process
	reading  sync.WaitGroup
}

var _ runner.Runner = (*processRunner)(nil)

// A child is a running process.
type child interface {
	PID() int
	Done() <-chan struct{}
	Ended() string
	Wait(d time.Duration) bool
	Kill()
}

var _ child = (*process.Process)(nil)

// Start starts the process and waits for its handshake, so that it can distinguish
// all failures. It blocks until the first line of output, and starts the goroutines that read
// the output.
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
		return startError(r.binary, err)
	}
	r.proc, r.lifeline = proc, inW
	r.reading.Go(func() { readLines(errR, r.limits.lastOutput, r.journal) })
	r.reading.Go(func() { interruptReads(proc, errR, outR) })
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

// readLines copies the output of a process to a journal until it ends.
func readLines(r *os.File, last time.Duration, j *journal) {
	w := &lines{journal: j}
	_, _ = io.Copy(w, process.LastWords(r, last))
	w.end()
	_ = r.Close()
}

// interruptReads ends reading from the pipes when the process has ended. Descendants
// of the process may keep the pipes open, but its own output is already in them. It blocks, on
// a goroutine of its own.
func interruptReads(proc child, pipes ...*os.File) {
	<-proc.Done()
	for _, p := range pipes {
		_ = p.SetReadDeadline(time.Now())
	}
}

// handshake waits for the first line and validates it.
func (r *processRunner) handshake(ctx context.Context, stdout *os.File) (string, error) {
	type first struct {
		line string
		err  error
	}
	got := make(chan first, 1)
	r.reading.Go(func() {
		br := bufio.NewReaderSize(process.LastWords(stdout, r.limits.lastOutput), handshakeLine)
		line, err := br.ReadSlice('\n')
		got <- first{string(line), err}
		_, _ = io.Copy(io.Discard, br) // keep a plugin that prints more from blocking
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
		WithHint("run `junctor plugin logs` to see what the plugin printed")
}

// endedEarly returns the fault for a process that printed nothing.
func (r *processRunner) endedEarly() error {
	if !r.proc.Wait(r.limits.exit) {
		return fault.New(fault.PluginHandshake, "the plugin closed its standard output without a handshake").
			WithHint("run `junctor plugin logs` to see what the plugin printed")
	}
	return fault.New(fault.PluginExited, "the plugin %s before its handshake", r.proc.Ended())
}

// end kills the process and waits until all its output is read.
func (r *processRunner) end() {
	r.cutLifeline()
	r.proc.Kill()
	<-r.proc.Done()
	r.reading.Wait()
	r.journal.end()
}

// cutLifeline closes the plugin's standard input, which tells it to exit.
func (r *processRunner) cutLifeline() {
	r.cut.Do(func() { _ = r.lifeline.Close() })
}

// Stdout returns a reader with the handshake line. It stays open until the process ends.
func (r *processRunner) Stdout() io.ReadCloser { return r.stdout }

// Stderr returns an empty reader, because readLines reads standard error.
func (r *processRunner) Stderr() io.ReadCloser { return io.NopCloser(strings.NewReader("")) }

// Name returns the path of the program, for go-plugin's messages.
func (r *processRunner) Name() string { return r.binary.path }

// ID returns the process id.
func (r *processRunner) ID() string {
	if r.proc == nil {
		return ""
	}
	return strconv.Itoa(r.proc.PID())
}

// Diagnose returns "", because the error of Start is complete.
func (r *processRunner) Diagnose(context.Context) string { return "" }

// Wait returns when the process has ended.
func (r *processRunner) Wait(context.Context) error {
	<-r.proc.Done()
	return nil
}

// Kill kills the process and its process group.
func (r *processRunner) Kill(context.Context) error {
	if r.proc != nil {
		r.end()
	}
	return nil
}

// PluginToHost returns the address unchanged; Start has validated it.
func (r *processRunner) PluginToHost(network, address string) (string, string, error) {
	return network, address, nil
}

// HostToPlugin returns the address unchanged.
func (r *processRunner) HostToPlugin(network, address string) (string, string, error) {
	return network, address, nil
}

// runnerFunc returns go-plugin's factory for the runner. cmd holds the variables of
// the handshake, and dir is the private directory of the socket.
func (l *link) runnerFunc(ctx context.Context, env []string, tls bool) func(hclog.Logger, *exec.Cmd, string) (
	runner.Runner, error,
) {
	return func(_ hclog.Logger, cmd *exec.Cmd, dir string) (runner.Runner, error) {
		l.runner = &processRunner{
			binary: l.binary, env: append(env, cmd.Env...), dir: dir, tls: tls,
			limits: l.limits, giveUp: ctx.Done(), journal: l.journal,
		}
		return l.runner, nil
	}
}

// startError returns the fault for a program that the system did not execute. It has
// the code Internal if the cause may be temporary.
func startError(b *program, err error) error {
	f := fault.Because(fault.PluginNotAllowed, err, "starting plugin %s", b.path)
	switch {
	case errors.Is(err, os.ErrPermission):
		return f.WithHint("run `chmod +x %s`: the file is not executable", b.path)
	case errors.Is(err, syscall.ENOEXEC):
		return f.WithHint("install a build of the plugin for %s", platform())
	case errors.Is(err, os.ErrNotExist):
		return f.WithHint("check that the file exists, and the interpreter that its first line names")
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
