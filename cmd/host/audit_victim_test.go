//go:build unix

package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// A victim is a junctor serve that the test kills.
type victim struct {
	t       *testing.T
	cmd     *exec.Cmd
	url     *url.URL
	reading sync.WaitGroup
	killed  atomic.Bool
}

// startVictim starts a process and waits until it accepts clients. It returns nil if the
// test has failed.
func startVictim(t *testing.T, d *reloadDir) *victim {
	v := &victim{t: t, cmd: d.command("serve", "--http=127.0.0.1:0")}
	stderr, err := v.cmd.StderrPipe()
	if err == nil {
		err = v.cmd.Start()
	}
	if err != nil {
		t.Error(err)
		return nil
	}
	endpoint := make(chan string, 1)
	v.reading.Go(func() { v.readLog(stderr, endpoint) })
	select {
	case text := <-endpoint:
		if v.url, err = url.Parse(text); err == nil && v.url.Host != "" {
			return v
		}
	case <-time.After(reloadPatience):
	}
	t.Error("the process accepts no clients")
	v.kill()
	return nil
}

// readLog reads the log until the process ends. Errors in it fail the test: the disk is not
// full here.
func (v *victim) readLog(stderr io.Reader, endpoint chan<- string) {
	said := ""
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		line := lines.Text()
		if _, rest, ok := strings.Cut(line, "endpoint="); ok && strings.Contains(line, "serving over HTTP") {
			said, _, _ = strings.Cut(rest, " ")
			endpoint <- said
		}
		if strings.Contains(line, "[ERROR]") {
			v.t.Error(line)
		}
	}
	if said == "" {
		endpoint <- ""
	}
}

// kill kills the process with SIGKILL and waits for its end.
func (v *victim) kill() {
	v.killed.Store(true)
	if err := v.cmd.Process.Kill(); err != nil {
		v.t.Error(err)
	}
	v.reading.Wait()
	_ = v.cmd.Wait() // it was killed
}

// A killedClient calls a tool over one connection, one call after the other. Its calls are
// numbered from 1 on.
type killedClient struct {
	name     string
	victim   *victim
	answered int
	answer   func() // is called after each answer
}

// callUntilKilled calls until the process is killed or no calls are left. A call without an
// answer is left for other clients.
func (c *killedClient) callUntilKilled(left *atomic.Int64) error {
	conn, err := net.Dial("tcp", c.victim.url.Host)
	if err != nil {
		if c.victim.killed.Load() {
			return nil
		}
		return err
	}
	defer conn.Close()
	in := bufio.NewReader(conn)
	for left.Add(-1) >= 0 {
		if err := c.call(conn, in); err != nil {
			left.Add(1)
			if c.victim.killed.Load() {
				return nil
			}
			return err
		}
		c.answered++
		c.answer()
	}
	left.Add(1)
	return nil
}

// call sends the next call and reads its answer.
func (c *killedClient) call(conn net.Conn, in *bufio.Reader) error {
	number := c.answered + 1
	body, err := exchange(conn, in, auditedCall(c.victim.url.Host, c.victim.url.Path, c.name, number))
	if err == nil && !isSum(body, number) {
		err = fmt.Errorf("the answer is %s", body)
	}
	return err
}

// exchange sends a request and reads the body of the response.
func exchange(conn net.Conn, in *bufio.Reader, message []byte) (body []byte, err error) {
	if err := conn.SetDeadline(time.Now().Add(reloadPatience)); err != nil {
		return nil, err
	}
	if _, err := conn.Write(message); err != nil {
		return nil, err
	}
	resp, err := http.ReadResponse(in, nil)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(resp.Body)
}

// isSum reports whether a body has the result of the call with a number.
func isSum(body []byte, number int) bool {
	return bytes.Contains(body, fmt.Appendf(nil, `"sum":%d`, number+1))
}

// auditedCall returns the request of the call with a number of a client. Its X-Request-Id
// is CLIENT-NUMBER.
func auditedCall(host, path, client string, number int) []byte {
	body := fmt.Sprintf(
		`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"steady__add","arguments":{"a":%d,"b":1},`+
			`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`,
		number, number,
	)
	return fmt.Appendf(nil, "POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"+
		"Mcp-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: steady__add\r\nX-Request-Id: %s-%d\r\nContent-Length: %d\r\n\r\n%s",
		path, host, client, number, len(body), body)
}
