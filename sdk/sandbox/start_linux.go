package sandbox

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/junctor-mcp/junctor/sdk/process"
)

const (
	createRuleset  = 444 // landlock_create_ruleset, the same on every architecture
	versionFlag    = 1   // LANDLOCK_CREATE_RULESET_VERSION
	prSetSeccomp   = 22
	filterMode     = 2
	launchTime     = 20 * time.Second // until the launcher must have executed the program
	maxReport      = 4 << 10          // bytes
	maxDescription = 100 << 10        // bytes; one argument of a program has at most 128 KiB
)

// Probe returns what this kernel can enforce. It asks the kernel once.
var Probe = sync.OnceValue(func() Support {
	var s Support
	if version, _, errno := syscall.Syscall(createRuleset, 0, 0, versionFlag); errno == 0 {
		s.Landlock = int(version)
	}
	// A filter at an invalid address is EFAULT where filters exist.
	_, _, errno := syscall.Syscall6(syscall.SYS_PRCTL, prSetSeccomp, filterMode, 0, 0, 0, 0)
	s.Seccomp = errno == syscall.EFAULT
	return s
})

// LauncherPath is the path of the program that sets up the wall. By default it
// lies beside the executable of this process. Tests replace it before the first
// Start.
var LauncherPath = sync.OnceValue(func() string {
	self, err := os.Executable()
	if err != nil {
		return LauncherName
	}
	if real, err := filepath.EvalSymlinks(self); err == nil {
		self = real
	}
	return filepath.Join(filepath.Dir(self), LauncherName)
})

// Start starts a command behind the wall. It returns when the program runs, or
// with the error of its start. Rules that are nil start it without a wall. The
// limits of c are ignored; the rules have their own.
func (r *Rules) Start(c process.Command) (*process.Process, error) {
	if r == nil {
		return process.Start(c)
	}
	support := Probe()
	if missing := support.Missing(r); r.Required && missing != "" {
		return nil, &UnsupportedError{Missing: missing}
	}
	if support == (Support{}) {
		c.Limits = r.Limits
		return process.Start(c)
	}
	return r.launch(c)
}

// launch starts the launcher with the rules and waits until it has executed the
// program.
func (r *Rules) launch(c process.Command) (*process.Process, error) {
	description, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	if len(description) > maxDescription {
		return nil, &LaunchError{Reason: "the rules name too many files and directories"}
	}
	program, err := filepath.Abs(c.Path)
	if err != nil {
		return nil, err
	}
	read, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer read.Close()
	c.Path, c.Args = LauncherPath(), append([]string{LauncherName, string(description), program}, c.Args...)
	c.Limits, c.Extra = process.Limits{}, []*os.File{write}
	p, err := process.Start(c)
	_ = write.Close()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &LaunchError{Reason: "the program " + c.Path + " is missing; install Junctor again"}
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

// Restricted is the byte that the launcher writes to descriptor 3 when the wall
// stands. Then it executes the program, which closes the descriptor.
const Restricted = '+'

// A Report is what the launcher writes to descriptor 3 if it fails.
type Report struct {
	Reason string `json:"reason,omitempty"`
	Errno  int    `json:"errno,omitempty"` // of executing the program
}

// readReport returns the error of a launch, or nil if the program runs.
func readReport(from *os.File, program string) error {
	_ = from.SetReadDeadline(time.Now().Add(launchTime))
	text, err := io.ReadAll(io.LimitReader(from, maxReport))
	if err != nil {
		return &LaunchError{Reason: "no answer within " + launchTime.String()}
	}
	text, restricted := bytes.CutPrefix(text, []byte{Restricted})
	var report Report
	switch {
	case restricted && len(text) == 0:
		return nil
	case json.Unmarshal(text, &report) != nil:
		return &LaunchError{Reason: "the program " + LauncherName + " ended early"}
	case report.Errno != 0:
		return &fs.PathError{Op: "exec", Path: program, Err: syscall.Errno(report.Errno)}
	}
	return &LaunchError{Reason: report.Reason}
}
