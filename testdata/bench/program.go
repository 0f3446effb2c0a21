package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"time"
)

// A program is an HTTP server that is measured.
type program struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	at  time.Time // start time
	pid int
}

func launch(env []string, command ...string) (*program, io.Reader, error) {
	p := &program{cmd: exec.Command(command[0], command[1:]...)}
	p.cmd.Env = append(os.Environ(), env...)
	p.cmd.Stderr = os.Stderr
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, nil, err
	}
	p.at = time.Now()
	if err := p.cmd.Start(); err != nil {
		return nil, nil, err
	}
	p.pid = p.cmd.Process.Pid
	return p, out, nil
}

// direct starts the echo server.
func (b *bench) direct() (*program, *endpoint, error) {
	p, out, err := launch(nil, b.self, "echo-http")
	if err != nil {
		return nil, nil, err
	}
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		p.stop()
		return nil, nil, err
	}
	return p, &endpoint{address: strings.TrimSpace(address)}, nil
}

const startTime = 30 * time.Second

// reachable waits until a process listens at the address.
func (p *program) reachable(address string) error {
	for {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			return conn.Close()
		}
		if time.Since(p.at) > startTime {
			return fmt.Errorf("no process listens at %s: %w", address, err)
		}
		time.Sleep(500 * time.Microsecond)
	}
}

// stop ends the program and its remaining children.
func (p *program) stop() {
	all := family(p.pid)
	_ = p.in.Close()
	_ = p.cmd.Process.Signal(os.Interrupt)
	done := make(chan struct{})
	go func() { defer close(done); _ = p.cmd.Wait() }()
	select {
	case <-done:
	case <-time.After(15 * time.Second):
		_ = p.cmd.Process.Kill()
		<-done
	}
	for _, pid := range all[min(1, len(all)):] {
		if left, err := os.FindProcess(pid); err == nil {
			_ = left.Kill()
		}
	}
}

// freeAddress returns an address that is free at the moment.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}
