//go:build unix

package interoptest

import (
	"os/exec"
	"syscall"
)

// inOwnGroup starts a command in a process group of its own.
func inOwnGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// killGroup ends all processes in the group of a command.
func killGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
