package main

import (
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
)

// family leaves children of every kind: one of its own, one in a group and one
// in a session of its own, one of each whose own parent is gone, and one that
// nobody can know by its environment. All hold standard error open. Their last
// argument is a name to find them by.
func family(name string) {
	child(nil, name, "sleep 1000; :")
	child(&syscall.SysProcAttr{Setpgid: true}, name, "sleep 1000; :")
	child(&syscall.SysProcAttr{Setsid: true}, name, "sleep 1000; :")
	const again = `sh -c "sleep 1000; :" $0 & exit`
	_ = child(nil, name, again).Wait()
	_ = child(&syscall.SysProcAttr{Setsid: true}, name, again).Wait()
	_ = child(&syscall.SysProcAttr{Setsid: true}, name+"-hidden", "unset JUNCTOR_RUN_ID JUNCTOR_SPAWN EVIL; "+again).Wait()
}

func init() {
	// An MCP server, as far as anybody here cares.
	early["server"] = func() {
		family(os.Args[1])
		_, _ = io.Copy(os.Stdout, os.Stdin)
	}
}

func child(attr *syscall.SysProcAttr, name, command string) *exec.Cmd {
	cmd := exec.Command("/bin/sh", "-c", command, name)
	cmd.Stderr = standardError
	cmd.SysProcAttr = attr
	if err := cmd.Start(); err != nil {
		panic(err)
	}
	return cmd
}

// standardError is the real one: go-plugin replaces os.Stderr.
var standardError = os.Stderr

// heir is a child that goes on accepting connections at the plugin's socket,
// and answers none.
func heir(l *net.UnixListener) {
	f, err := l.File()
	if err != nil {
		panic(err)
	}
	cmd := exec.Command("/bin/sh", "-c", "sleep 1000; :", "heir")
	cmd.ExtraFiles, cmd.Env = []*os.File{f}, []string{"PATH=" + os.Getenv("PATH")}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		panic(err)
	}
}

func ignoreSignals() { signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP) }
