package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"time"
)

const startRuns = 25

// starts compares a whole command line with starting the server and
// initializing it directly.
func (b *bench) starts() error {
	config, err := b.config(1)
	if err != nil {
		return err
	}
	env := []string{"JUNCTOR_HOME=" + b.dir + "/home"}
	oneShot := func() (time.Duration, error) {
		at := time.Now()
		cmd := exec.Command(b.junctor, "-c", config, "call", "s0__echo", "bytes=10")
		cmd.Env = append(os.Environ(), env...)
		out, err := cmd.StdoutPipe()
		if err != nil {
			return 0, err
		}
		if err := cmd.Start(); err != nil {
			return 0, err
		}
		first := make([]byte, 4096)
		n, err := out.Read(first) // the result is complete when it is readable
		took := time.Since(at)
		if werr := cmd.Wait(); err == nil {
			err = werr
		}
		if !bytes.Contains(first[:n], []byte("Lines of")) {
			return 0, fmt.Errorf("it printed %q", first[:n])
		}
		return took, err
	}
	floor := func() (time.Duration, error) {
		at := time.Now()
		c, err := start(nil, b.self, "echo")
		if err != nil {
			return 0, err
		}
		defer c.stop()
		if err := c.handshake("echo"); err != nil {
			return 0, err
		}
		err = c.call(10)
		return time.Since(at), err
	}
	if _, err := oneShot(); err != nil { // fills the caches
		return err
	}
	var direct, ours []time.Duration
	for range startRuns {
		f, err := floor()
		if err != nil {
			return err
		}
		o, err := oneShot()
		if err != nil {
			return err
		}
		direct, ours = append(direct, f), append(ours, o)
	}
	slices.Sort(direct)
	slices.Sort(ours)
	fmt.Printf("\n## Start\n\nFrom starting the process to the first result, %d runs in turns.\n\n| | least | median |\n|---|---|---|\n",
		startRuns)
	fmt.Printf("| spawn the server, shake hands, call | %s | %s |\n", micro(direct[0]), micro(direct[startRuns/2]))
	fmt.Printf("| junctor call | %s | %s |\n", micro(ours[0]), micro(ours[startRuns/2]))
	added := ours[startRuns/2] - direct[startRuns/2]
	fmt.Printf("| added | %s | %s |\n", micro(ours[0]-direct[0]), micro(added))
	b.bars = append(b.bars, bar{name: "`junctor call`, over the same call of the server alone", bar: 40,
		format: "%.0f ms", measured: added.Seconds() * 1000})
	return nil
}
