// Package launch starts programs behind the wall of package sandbox.
//
// Go cannot run code between fork and exec, so [Start] starts the program
// junctor-sandbox, which lies beside the executable of the caller. That restricts
// itself and then executes the program. The caller prepares the restrictions, a
// Landlock ruleset and seccomp filters, so that the launcher has little to do.
//
// launch_linux.go starts the launcher, files_linux.go makes the ruleset and calls_linux.go the
// filters. [Start] may be called concurrently. The words of the plan are in package launchplan; a
// change of them is one of both programs.
package launch

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/junctor-mcp/junctor/sdk/process"
	"github.com/junctor-mcp/junctor/sdk/sandbox"
	"github.com/junctor-mcp/junctor/sdk/sandbox/launchplan"
)

const (
	launchTime = 20 * time.Second // until the launcher must have executed the program
	maxReport  = 4 << 10          // bytes
)

// LauncherPath is the path of the program that sets up the wall. By default it
// lies beside the executable of this process. Tests replace it before the first
// Start.
var LauncherPath = sync.OnceValue(func() string {
	self, err := os.Executable()
	if err != nil {
		return sandbox.LauncherName
	}
	if real, err := filepath.EvalSymlinks(self); err == nil {
		self = real
	}
	return filepath.Join(filepath.Dir(self), sandbox.LauncherName)
})

// Start starts a command behind the wall. It returns when the program runs, or
// with the error of its start. Rules that are nil start it without a wall. The
// limits of c are ignored; the rules have their own.
func Start(r *sandbox.Rules, c process.Command) (*process.Process, error) {
	if r == nil {
		return process.Start(c)
	}
	support := sandbox.Probe()
	if missing := support.Missing(r); r.Required && missing != "" {
		return nil, &sandbox.UnsupportedError{Missing: missing}
	}
	if support == (sandbox.Support{}) {
		c.Limits = r.Limits
		return process.Start(c)
	}
	plan, ruleset, err := prepare(r, support)
	if err != nil {
		return nil, &sandbox.LaunchError{Reason: err.Error()}
	}
	if ruleset != nil {
		defer ruleset.Close()
	}
	return launch(&plan, ruleset, c)
}

// prepare returns the plan for rules and its Landlock ruleset, which is nil if
// the kernel restricts no files.
func prepare(r *sandbox.Rules, support sandbox.Support) (plan launchplan.Plan, ruleset *os.File, err error) {
	for _, l := range r.Limits.Resources() {
		plan.Limits = append(plan.Limits, launchplan.Limit{Resource: l.Resource, Most: l.Most})
	}
	if support.Seccomp {
		if plan.Filters, err = filtersFor(r); err != nil {
			return plan, nil, err
		}
	}
	if support.Landlock > 0 {
		ruleset, err = addRuleset(&plan, r, support.Landlock)
	}
	return plan, ruleset, err
}

// launch starts the launcher with a plan and waits until it has executed the
// program.
func launch(plan *launchplan.Plan, ruleset *os.File, c process.Command) (*process.Process, error) {
	program, err := filepath.Abs(c.Path)
	if err != nil {
		return nil, err
	}
	read, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer read.Close()
	c.Path, c.Args = LauncherPath(), append(append(append([]string{sandbox.LauncherName}, plan.Words()...), program),
		c.Args...)
	c.Limits, c.Extra = process.Limits{}, []*os.File{launchplan.ReportFD - 3: write}
	if ruleset != nil {
		c.Extra = append(c.Extra, ruleset)
	}
	p, err := process.Start(c)
	_ = write.Close()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &sandbox.LaunchError{Reason: "the program " + c.Path + " is missing; install Junctor again"}
	}
	if err != nil {
		return nil, err
	}
	if err := readReport(read, program); err != nil {
		p.Kill()
		<-p.Done()
		return nil, err
	}
	return p, nil
}

// readReport returns the error of a launch, or nil if the program runs.
func readReport(from *os.File, program string) error {
	_ = from.SetReadDeadline(time.Now().Add(launchTime))
	text, err := io.ReadAll(io.LimitReader(from, maxReport))
	if err != nil {
		return &sandbox.LaunchError{Reason: "no answer within " + launchTime.String()}
	}
	text, restricted := bytes.CutPrefix(text, []byte{launchplan.Restricted})
	if restricted && len(text) == 0 {
		return nil
	}
	failure, err := launchplan.ParseFailure(string(text))
	switch errno := syscall.Errno(failure.Errno); {
	case err != nil:
		return &sandbox.LaunchError{Reason: "the program " + sandbox.LauncherName + " ended early"}
	case failure.Step == launchplan.Executing:
		return &fs.PathError{Op: "exec", Path: program, Err: errno}
	default:
		return &sandbox.LaunchError{Reason: failure.Step + ": " + errno.Error()}
	}
}
