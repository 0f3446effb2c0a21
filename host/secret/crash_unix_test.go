//go:build unix

package secret

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// start starts a child process that writes n keys.
func start(t *testing.T, path, name string, n int) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), childFile+"="+path, childName+"="+name, childMost+"="+strconv.Itoa(n))
	c.Stderr = os.Stderr
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	return c, bufio.NewScanner(out)
}

// TestKilledWriterLosesNothing: a process is killed while it writes, at different
// moments. Every key that it reported as stored is there.
func TestKilledWriterLosesNothing(t *testing.T) {
	path := secretsPath(t)
	for round := range 8 {
		name := fmt.Sprint("round", round, "-")
		c, lines := start(t, path, name, 1000)
		stored := -1
		for lines.Scan() {
			stored, _ = strconv.Atoi(lines.Text())
			if stored == 1 {
				// The delay varies within the next writes, of some milliseconds each.
				time.AfterFunc(time.Duration(round)*7*time.Millisecond, func() { _ = c.Process.Kill() })
			}
		}
		_ = c.Wait()
		f, warned := newFile(t, path)
		if stored < 1 {
			t.Fatal("nothing was stored")
		}
		for i := range stored + 1 {
			mustHave(t, f, fmt.Sprint(name, i), fmt.Sprint("value ", i))
		}
		mustSet(t, f, fmt.Sprint("after", round), "1")
		if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*")); len(left) != 2 || len(*warned) != 0 {
			t.Fatalf("left %q, warned %q", left, *warned)
		}
	}
}

// TestProcessesWriteAtOnce: three processes write at once, and no key is lost.
func TestProcessesWriteAtOnce(t *testing.T) {
	const each = 20
	path := secretsPath(t)
	var all []*exec.Cmd
	for _, name := range []string{"a", "b", "c"} {
		c, lines := start(t, path, name, each)
		all = append(all, c)
		go func() {
			for lines.Scan() {
			}
		}()
	}
	for _, c := range all {
		if err := c.Wait(); err != nil {
			t.Fatal(err)
		}
	}
	f, _ := newFile(t, path)
	if keys, err := f.Keys(t.Context()); err != nil || len(keys) != 3*each {
		t.Errorf("%d keys, %v; want %d", len(keys), err, 3*each)
	}
}
