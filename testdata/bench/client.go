package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"time"
)

// A client communicates with a server on the standard streams of a process.
type client struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
	tool string

	mu      sync.Mutex // one write at a time
	next    int
	waiting map[int]chan int // size of the answer by id; negative for an error
	failed  string           // guarded by mu; last error
	err     error
	done    chan struct{}
}

func start(env []string, command ...string) (*client, error) {
	c := &client{cmd: exec.Command(command[0], command[1:]...), waiting: map[int]chan int{}, done: make(chan struct{})}
	c.cmd.Env = append(os.Environ(), env...)
	c.cmd.Stderr = os.Stderr
	in, err := c.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c.in, c.out = in, bufio.NewReaderSize(out, 256<<10)
	if err := c.cmd.Start(); err != nil {
		return nil, err
	}
	go c.read()
	return c, nil
}

func (c *client) read() {
	defer close(c.done)
	var line []byte
	for {
		line = line[:0]
		for {
			part, err := c.out.ReadSlice('\n')
			line = append(line, part...)
			if err == nil {
				break
			}
			if err != bufio.ErrBufferFull {
				c.err = err
				return
			}
		}
		const before = `"id":`
		i := bytes.Index(line[:min(len(line), 64)], []byte(before))
		if i < 0 {
			continue
		}
		digits := line[i+len(before):]
		id, err := strconv.Atoi(string(digits[:bytes.IndexAny(digits, ",}")]))
		if err != nil {
			continue
		}
		size := len(line)
		if bytes.Contains(line[:min(len(line), 200)], []byte(`"error"`)) ||
			bytes.Contains(line[max(0, len(line)-200):], []byte(`"isError":true`)) {
			size = -1
		}
		c.mu.Lock()
		if size < 0 {
			c.failed = fmt.Sprintf("%.500s", line)
		}
		answer := c.waiting[id]
		delete(c.waiting, id)
		c.mu.Unlock()
		if answer != nil {
			answer <- size
		}
	}
}

// ask sends a request and waits for its answer.
func (c *client) ask(method, params string) (size int, err error) {
	answer := make(chan int, 1)
	c.mu.Lock()
	c.next++
	id := c.next
	c.waiting[id] = answer
	_, err = fmt.Fprintf(c.in, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", id, method, params)
	c.mu.Unlock()
	if err != nil {
		return 0, err
	}
	select {
	case size = <-answer:
	case <-c.done:
		return 0, fmt.Errorf("the server ended: %v", c.err)
	case <-time.After(time.Minute):
		return 0, fmt.Errorf("%s was not answered", method)
	}
	if size < 0 {
		c.mu.Lock()
		defer c.mu.Unlock()
		return 0, fmt.Errorf("%s failed: %s", method, c.failed)
	}
	return size, nil
}

func (c *client) handshake(tool string) error {
	c.tool = tool
	if _, err := c.ask("initialize",
		`{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}`); err != nil {
		return err
	}
	c.mu.Lock()
	_, err := io.WriteString(c.in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n")
	c.mu.Unlock()
	return err
}

// call calls the echo tool and checks the size of the answer.
func (c *client) call(bytes int) error {
	size, err := c.ask("tools/call", fmt.Sprintf(`{"name":%q,"arguments":{"bytes":%d}}`, c.tool, bytes))
	if err == nil && size < bytes {
		err = fmt.Errorf("the answer has %d of %d bytes", size, bytes)
	}
	return err
}

func (c *client) stop() {
	_ = c.in.Close()
	done := make(chan struct{})
	go func() { defer close(done); _ = c.cmd.Wait() }()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		_ = c.cmd.Process.Kill()
		<-done
	}
}
