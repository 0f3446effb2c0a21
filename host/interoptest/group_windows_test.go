package interoptest

import "os/exec"

// inOwnGroup does nothing: Windows has no process groups.
func inOwnGroup(*exec.Cmd) {}

// killGroup ends the process of a command.
func killGroup(cmd *exec.Cmd) { _ = cmd.Process.Kill() }
