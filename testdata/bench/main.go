// Command bench measures what Junctor adds to the time of a call, to the time
// of a start and to the memory of a machine. It prints ratios to a direct
// connection in the same run.
//
//	go run ./testdata/bench                    # bin/junctor and a reference gateway
//	go run ./testdata/bench -peer 'GATEWAY --listen {addr} -- {echo}'
//	go run ./testdata/bench -write docs/performance.md
//	go run ./testdata/bench -only many         # cost by size
//	go run ./testdata/bench -against OTHER     # two builds of junctor
//
// Machines differ, and one machine differs from minute to minute. Only numbers
// of one run are comparable. The phases of the targets alternate, so that a
// slow minute affects all of them.
package main

import (
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// servers are the programs that this program runs when it starts itself.
var servers = map[string]func(arguments []string){
	"echo": echo, "echo-http": echoHTTP, "mute": mute, "reference": referenceGateway, "relay": relay,
}

func main() {
	if len(os.Args) > 1 {
		if server, ok := servers[os.Args[1]]; ok {
			server(os.Args[2:])
			return
		}
	}
	b := &bench{complete: map[string]bool{}}
	flag.StringVar(&b.junctor, "junctor", "bin/junctor", "the program to measure")
	flag.StringVar(&b.ref, "ref", "", "another gateway to measure: a command that serves {echo} over stdio")
	flag.Func("peer",
		"another gateway to measure: a command that serves {echo} over HTTP at {addr}, path /mcp; may be repeated",
		func(s string) error {
			b.peers = append(b.peers, s)
			return nil
		})
	flag.IntVar(&b.rounds, "rounds", 3, "rounds of everything; medians are shown")
	flag.DurationVar(&b.time, "time", 1500*time.Millisecond, "how long each phase lasts")
	only := flag.String("only", "", "calls, wrapped, start, gateway or many; empty is all")
	against := flag.String("against", "",
		"another build of junctor: compare only the CPU of calls, and fail where this build needs much more")
	into := flag.String("write", "", "a document whose generated tables are replaced")
	flag.Parse()
	err := b.prepare()
	if err == nil {
		err = b.run(*only, *against, *into)
	}
	_ = os.RemoveAll(b.dir)
	if err != nil {
		log.Fatal(err)
	}
}

// run runs one part, or all, and writes the tables into a document.
func (b *bench) run(only, against, into string) error {
	if against != "" {
		return b.diff(against)
	}
	for _, part := range []struct {
		name string
		run  func() error
	}{{"gateway", b.gateway}, {"start", b.starts}, {"many", b.many}, {"calls", b.calls}, {"wrapped", b.wrapped}} {
		if only != "" && only != part.name {
			continue
		}
		if err := part.run(); err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
	}
	b.barReport()
	if into == "" {
		return nil
	}
	if only != "" {
		delete(b.page.tables, "bars") // the document has those of all parts
	}
	return b.page.write(into)
}

// A bench is one run of the program.
type bench struct {
	self, junctor string
	ref           string   // command of another gateway on stdio; empty: none
	reference     string   // command of the reference gateway
	peers         []string // commands of other gateways
	dir           string
	rounds        int
	time          time.Duration
	complete      map[string]bool // configurations whose catalog is on disk
	builds        int             // started by diff
	bars          []bar
	page          page
}

// prepare finds the programs and creates the directory of the run.
func (b *bench) prepare() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if b.junctor, err = filepath.Abs(b.junctor); err != nil {
		return err
	}
	if _, err := os.Stat(b.junctor); err != nil {
		return fmt.Errorf("%s does not exist: run make build", b.junctor)
	}
	if b.dir, err = os.MkdirTemp("", "bench"); err != nil {
		return err
	}
	// Distinct names identify the processes: those of the echo server are not
	// counted.
	program, err := os.ReadFile(self)
	if err != nil {
		return err
	}
	b.self = filepath.Join(b.dir, "bench-echo")
	gateway := filepath.Join(b.dir, "bench-gateway")
	if err := errors.Join(os.WriteFile(b.self, program, 0o755), os.WriteFile(gateway, program, 0o755)); err != nil {
		return err
	}
	b.reference = gateway + " reference {addr} " + b.self
	b.ref = strings.ReplaceAll(b.ref, "{echo}", b.self+" echo")
	for i, command := range b.peers {
		b.peers[i] = strings.ReplaceAll(command, "{echo}", b.self+" echo")
	}
	return nil
}

// config writes a configuration with n echo servers and returns its path.
func (b *bench) config(n int) (string, error) {
	path := filepath.Join(b.dir, fmt.Sprintf("servers-%d.hcl", n))
	return path, os.WriteFile(path, []byte(b.stdioServers(n, "echo")), 0o600)
}
