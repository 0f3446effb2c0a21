// Command bench measures what Junctor adds to the time of a call, to the time
// of a start and to the memory of a machine. It prints ratios to a direct
// connection in the same run.
//
//	go run ./testdata/bench              # bin/junctor against the echo server
//	go run ./testdata/bench -ref 'CMD'   # and another gateway beside it
//	go run ./testdata/bench -only gateway -ref-http 'CMD {addr} {echo}'
//
// Machines differ, and one machine differs from minute to minute. Only numbers
// of one run are comparable. The phases of the targets alternate, so that a
// slow minute affects all of them.
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// servers are the servers that this program runs when it starts itself.
var servers = map[string]func(){"echo": echo, "echo-http": echoHTTP, "mute": mute}

func main() {
	if len(os.Args) > 1 {
		if server, ok := servers[os.Args[1]]; ok {
			server()
			return
		}
	}
	junctor := flag.String("junctor", "bin/junctor", "the program to measure")
	ref := flag.String("ref", "", "another gateway to measure: a command that serves {echo} over stdio")
	refHTTP := flag.String("ref-http", "", "another gateway to measure: a command that serves {echo} over HTTP at {addr}")
	rounds := flag.Int("rounds", 3, "rounds of everything; medians are shown")
	pause := flag.Duration("time", 1500*time.Millisecond, "how long each phase lasts")
	only := flag.String("only", "", "calls, http, wrapped, start, memory or gateway; empty is all")
	flag.Parse()
	b, err := newBench(*junctor, *ref, *rounds, *pause)
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(b.dir)
	b.refHTTP = strings.ReplaceAll(*refHTTP, "{echo}", b.self+" echo")
	for _, part := range []struct {
		name string
		run  func() error
	}{{"calls", b.calls}, {"http", b.http}, {"wrapped", b.wrapped}, {"start", b.starts}, {"memory", b.memory}, {"gateway", b.gateway}} {
		if *only != "" && *only != part.name {
			continue
		}
		if err := part.run(); err != nil {
			log.Fatalf("%s: %v", part.name, err)
		}
	}
}

// A bench is one run of the program.
type bench struct {
	self, junctor, ref, refHTTP string
	dir                         string
	rounds                      int
	time                        time.Duration
}

func newBench(junctor, ref string, rounds int, d time.Duration) (*bench, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	junctor, err = filepath.Abs(junctor)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(junctor); err != nil {
		return nil, fmt.Errorf("%s does not exist: run make build", junctor)
	}
	dir, err := os.MkdirTemp("", "bench")
	if err != nil {
		return nil, err
	}
	// A distinct name identifies its processes.
	echo := filepath.Join(dir, "bench-echo")
	program, err := os.ReadFile(self)
	if err == nil {
		err = os.WriteFile(echo, program, 0o755)
	}
	return &bench{self: echo, junctor: junctor, ref: strings.ReplaceAll(ref, "{echo}", echo+" echo"), dir: dir, rounds: rounds, time: d}, err
}

// config writes a configuration with n echo servers and returns its path.
func (b *bench) config(n int) (string, error) {
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, "server \"s%d\" {\n  transport \"stdio\" {\n    command = [%q, \"echo\"]\n  }\n}\n", i, b.self)
	}
	path := filepath.Join(b.dir, fmt.Sprintf("servers-%d.hcl", n))
	return path, os.WriteFile(path, []byte(text.String()), 0o600)
}
