package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"
)

// A way is one of several ways to do the same.
type way struct {
	name string
	do   func() error
	cpu  func() time.Duration // processor time used so far
}

// compare does the same in several ways, alternately and one at a time, and
// prints medians. The first way is the reference.
func (b *bench) compare(title, about string, ways []way) error {
	took, used := map[string][]time.Duration{}, map[string][]time.Duration{}
	for round := range b.rounds {
		for i := range ways {
			w := ways[(i+round)%len(ways)]
			for range 50 {
				if err := w.do(); err != nil {
					return fmt.Errorf("%s: %w", w.name, err)
				}
			}
			var mine []time.Duration
			before := w.cpu()
			for begin := time.Now(); time.Since(begin) < b.time; {
				at := time.Now()
				if err := w.do(); err != nil {
					return fmt.Errorf("%s: %w", w.name, err)
				}
				mine = append(mine, time.Since(at))
			}
			slices.Sort(mine)
			took[w.name] = append(took[w.name], mine[len(mine)/2])
			used[w.name] = append(used[w.name], (w.cpu()-before)/time.Duration(len(mine)))
		}
	}
	median := func(d []time.Duration) time.Duration { slices.Sort(d); return d[len(d)/2] }
	fmt.Printf("\n## %s\n\n%s\n\n| way | median | added | CPU | CPU added |\n|---|---|---|---|---|\n", title, about)
	first := ways[0].name
	for _, w := range ways {
		fmt.Printf("| %s | %s | %s | %s | %s |\n",
			w.name, micro(median(took[w.name])), micro(median(took[w.name])-median(took[first])),
			micro(median(used[w.name])), micro(median(used[w.name])-median(used[first])))
	}
	return nil
}

// wrapped compares a call of a wrapped program with starting the program.
func (b *bench) wrapped() error {
	program, err := exec.LookPath("true")
	if err != nil {
		return err
	}
	c, err := b.serving("cli",
		fmt.Sprintf("    command = [%q]\n    tool \"run\" {\n      description = \"Does nothing.\"\n    }\n", program),
		"s__run")
	if err != nil {
		return err
	}
	defer c.stop()
	return b.compare("A wrapped program",
		"`true`, one at a time; CPU is of the starter and, with Junctor, of the host and the plugin.", []way{
			{"started", func() error { return exec.Command(program).Run() }, selfCPU},
			{"junctor", func() error { _, err := c.ask("tools/call", `{"name":"s__run","arguments":{}}`); return err },
				func() time.Duration { return treeCPU(c.cmd.Process.Pid) }},
		})
}

// serving starts a gateway with one server.
func (b *bench) serving(transport, settings, tool string) (*client, error) {
	path := filepath.Join(b.dir, transport+".hcl")
	text := fmt.Sprintf("server \"s\" {\n  transport %q {\n%s  }\n}\n", transport, settings)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return nil, err
	}
	c, err := start([]string{"JUNCTOR_HOME=" + b.dir + "/home"}, b.junctor, "-c", path, "serve", "--log", "error")
	if err != nil {
		return nil, err
	}
	return c, c.handshake(tool)
}

// selfCPU returns the processor time of this process.
func selfCPU() time.Duration { return oneCPU(os.Getpid()) }
