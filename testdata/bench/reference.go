package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
)

// hopFlag lets the reference gateway reach its server through a relay process.
const hopFlag = "-plugin"

// referenceGateway serves one echo server over HTTP: the cost of the
// architecture alone. It has no authentication, checks no arguments and does
// not look into results. Its arguments are its address, the program of the
// echo server and hopFlag.
func referenceGateway(arguments []string) {
	address, program := arguments[0], arguments[1]
	var server *forwarder
	var err error
	if len(arguments) > 2 && arguments[2] == hopFlag {
		server, err = throughRelay(program)
	} else {
		server, err = startServer(program)
	}
	if err != nil {
		log.Fatal(err)
	}
	go func() {
		server.read()
		os.Exit(1) // the server has ended
	}()
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	log.Fatal(http.ListenAndServe(address, server))
}

// A forwarder forwards the requests of HTTP clients to a server on a stream.
type forwarder struct {
	out io.Writer
	in  *bufio.Reader

	mu      sync.Mutex // guards the fields below, and is held while a message is written
	next    int
	waiting map[int]chan []byte // the rest of the answer behind its id, by id
}

func newForwarder(out io.Writer, in io.Reader) *forwarder {
	return &forwarder{out: out, in: bufio.NewReaderSize(in, 64<<10), waiting: map[int]chan []byte{}}
}

func startServer(program string) (*forwarder, error) {
	server := exec.Command(program, "echo")
	out, err := server.StdinPipe()
	if err != nil {
		return nil, err
	}
	in, err := server.StdoutPipe()
	if err != nil {
		return nil, err
	}
	return newForwarder(out, in), server.Start()
}

// throughRelay starts a relay, which starts the server.
func throughRelay(program string) (*forwarder, error) {
	dir, err := os.MkdirTemp(filepath.Dir(program), "relay")
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("unix", filepath.Join(dir, "s"))
	if err != nil {
		return nil, err
	}
	defer l.Close()
	if err := exec.Command(os.Args[0], "relay", l.Addr().String(), program).Start(); err != nil {
		return nil, err
	}
	conn, err := l.Accept()
	return newForwarder(conn, conn), err
}

// relay starts an echo server and copies its streams from and to a unix socket,
// as a plugin process does.
func relay(arguments []string) {
	conn, err := net.Dial("unix", arguments[0])
	if err != nil {
		log.Fatal(err)
	}
	server := exec.Command(arguments[1], "echo")
	in, err := server.StdinPipe()
	if err != nil {
		log.Fatal(err)
	}
	out, err := server.StdoutPipe()
	if err != nil {
		log.Fatal(err)
	}
	if err := server.Start(); err != nil {
		log.Fatal(err)
	}
	// A plugin reads messages, so the kernel must not splice.
	go func() {
		_, _ = io.CopyBuffer(struct{ io.Writer }{conn}, struct{ io.Reader }{out}, make([]byte, 64<<10))
		os.Exit(0)
	}()
	_, _ = io.CopyBuffer(struct{ io.Writer }{in}, struct{ io.Reader }{conn}, make([]byte, 64<<10))
}

// read delivers the answers until the server ends.
func (f *forwarder) read() {
	for {
		line, err := f.in.ReadBytes('\n')
		if err != nil {
			return
		}
		const before = `"id":`
		at := bytes.Index(line[:min(len(line), 64)], []byte(before))
		if at < 0 {
			continue
		}
		rest := line[at+len(before):]
		end := bytes.IndexAny(rest, ",}")
		id, err := strconv.Atoi(string(rest[:max(end, 0)]))
		if err != nil {
			continue
		}
		f.mu.Lock()
		answer := f.waiting[id]
		delete(f.waiting, id)
		f.mu.Unlock()
		if answer != nil {
			answer <- rest[end:]
		}
	}
}

// ServeHTTP forwards a request under an id of its own, and answers under the
// client's.
func (f *forwarder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxAnswer))
	var q struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Params json.RawMessage `json:"params"`
	}
	switch {
	case r.Method != http.MethodPost:
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	case err != nil || json.Unmarshal(body, &q) != nil:
		w.WriteHeader(http.StatusBadRequest)
		return
	case q.ID == nil:
		w.WriteHeader(http.StatusAccepted)
		return
	}
	if q.Params == nil {
		q.Params = json.RawMessage("{}")
	}
	answer := make(chan []byte, 1)
	f.mu.Lock()
	f.next++
	f.waiting[f.next] = answer
	_, err = f.out.Write(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", f.next,
		q.Method, q.Params))
	f.mu.Unlock()
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	head := append([]byte(`{"jsonrpc":"2.0","id":`), q.ID...)
	select {
	case rest := <-answer:
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(len(head)+len(rest)))
		_, _ = w.Write(head)
		_, _ = w.Write(rest)
	case <-r.Context().Done():
	}
}
