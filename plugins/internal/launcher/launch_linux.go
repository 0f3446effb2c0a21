package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/junctor-mcp/junctor/sdk/process"
	"github.com/junctor-mcp/junctor/sdk/sandbox"
)

// reportTo is the descriptor of the report.
const reportTo = 3

// launch restricts this process and executes a program. It returns only if that
// fails.
func launch(description, program string, args []string) {
	runtime.LockOSThread() // the restrictions hold for this thread; exec ends all others
	unix.CloseOnExec(reportTo)
	var rules sandbox.Rules
	if err := json.Unmarshal([]byte(description), &rules); err != nil {
		report(sandbox.Report{Reason: "reading the rules: " + err.Error()})
		return
	}
	if err := restrict(&rules); err != nil {
		report(sandbox.Report{Reason: err.Error()})
		return
	}
	env := os.Environ()
	if _, err := unix.Write(reportTo, []byte{sandbox.Restricted}); err != nil {
		return // the plugin has gone
	}
	err := syscall.Exec(program, args, env)
	errno, ok := errors.AsType[syscall.Errno](err)
	if !ok {
		report(sandbox.Report{Reason: "executing the program: " + err.Error()})
		return
	}
	report(sandbox.Report{Errno: int(errno)})
}

// restrict sets the limits, the Landlock rules and the seccomp filter.
func restrict(rules *sandbox.Rules) error {
	support := sandbox.Probe()
	if missing := support.Missing(rules); rules.Required && missing != "" {
		return &sandbox.UnsupportedError{Missing: missing}
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("giving up new privileges: %w", err)
	}
	if support.Landlock > 0 {
		if err := restrictFiles(rules, support.Landlock); err != nil {
			return fmt.Errorf("restricting files: %w", err)
		}
	}
	if support.Seccomp {
		if err := restrictCalls(rules); err != nil {
			return fmt.Errorf("restricting system calls: %w", err)
		}
	}
	return setLimits(rules.Limits)
}

// setLimits lowers the limits of this process, last of all: the program inherits
// them, and little memory may be left for this one.
func setLimits(l process.Limits) error {
	for _, r := range l.Resources() {
		var now syscall.Rlimit
		if err := syscall.Getrlimit(r.Resource, &now); err != nil {
			return fmt.Errorf("reading a limit: %w", err)
		}
		most := min(r.Most, now.Max)
		if err := syscall.Setrlimit(r.Resource, &syscall.Rlimit{Cur: most, Max: most}); err != nil {
			return fmt.Errorf("setting a limit: %w", err)
		}
	}
	return nil
}

// report tells the plugin why the program does not run.
func report(r sandbox.Report) {
	text, err := json.Marshal(r)
	if err != nil {
		return
	}
	_, _ = unix.Write(reportTo, text) // the plugin may have gone
}
