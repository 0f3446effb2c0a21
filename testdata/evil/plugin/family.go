package main

import (
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
)

// family starts a child in this process group, one in a new group and one in a
// new session. It also leaves an orphan in this session, one in a new session,
// and one whose environment has no mark. All keep standard error open. name is
// their last argument, by which tests find them.
func family(name string) {
	child(nil, name, "sleep 1000; :")
	child(&syscall.SysProcAttr{Setpgid: true}, name, "sleep 1000; :")
	child(&syscall.SysProcAttr{Setsid: true}, name, "sleep 1000; :")
	const again = `sh -c "sleep 1000; :" $0 & exit`
	_ = child(nil, name, again).Wait()
	_ = child(&syscall.SysProcAttr{Setsid: true}, name, again).Wait()
	_ = child(&syscall.SysProcAttr{Setsid: true}, name+"-hidden",
		"unset JUNCTOR_RUN_ID JUNCTOR_SPAWN EVIL; "+again).Wait()
}

func init() {
	// The server echoes its input.
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

// standardError is the original standard error. go-plugin replaces os.Stderr.
var standardError = os.Stderr

// heir starts a child that inherits the plugin's socket and never answers.
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
