//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/junctor-mcp/junctor/testdata/eventually"
)

// slowStart is a required server that starts once the file "go" exists. The file
// "begun" tells that it waits.
const slowStart = `server "slow" {
  required = true
  transport "stdio" {
    command = ["sh", "-c", "touch begun; until [ -e go ]; do sleep 0.02; done; exec publisher legacy ''"]
  }
}
`

// TestChangeDuringStartIsNoticed changes the configuration while a required server
// starts. The change is in effect soon afterwards, with --watch and on SIGHUP.
func TestChangeDuringStartIsNoticed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		watch bool
		found bool // in the current directory, and trusted
	}{
		"watch": {watch: true}, "watch, found": {watch: true, found: true}, "hangup": {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newReloadDir(t)
			rewriteConfig(t, d.path, slowStart)
			if c.found {
				d.site.env = append(d.site.env, "JUNCTOR_CONFIG=")
			}
			d.trust()
			s := startProcess(t, d.command("serve", "--http=127.0.0.1:0", fmt.Sprintf("--watch=%t", c.watch)))
			awaitFile(t, filepath.Join(d.site.dir, "begun"))
			rewriteConfig(t, d.path, slowStart+publishers("added", "legacy", ""))
			d.trust()
			if !c.watch {
				if err := s.cmd.Process.Signal(syscall.SIGHUP); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.WriteFile(filepath.Join(d.site.dir, "go"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			s.waitLog(fmt.Sprintf("added=[%q]", "added"))
		})
	}
}

// TestReloadDuringFirstStart calls a server whose tools are unknown, and replaces it
// while it starts. The call has its result.
func TestReloadDuringFirstStart(t *testing.T) {
	t.Parallel()
	d := newReloadDir(t)
	slow := strings.Replace(slowStart, "  required = true\n", "", 1)
	rewriteConfig(t, d.path, slow)
	s := d.serveHTTP()
	done := make(chan error, 1)
	go func() {
		_, err := (&reloadClient{url: s.url}).process(map[string]any{"name": "slow__publish"})
		done <- err
	}()
	awaitFile(t, filepath.Join(d.site.dir, "begun"))
	rewriteConfig(t, d.path, strings.Replace(slow, "''", "'changed'", 1))
	s.hangup(`changed=["slow"]`)
	if err := os.WriteFile(filepath.Join(d.site.dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestShutdownEndsReload ends a process while a reload waits for a required server that
// does not start: the reload fails, and the process exits long before timeouts.start.
func TestShutdownEndsReload(t *testing.T) {
	t.Parallel()
	for _, way := range []string{"verb", "hangup", "watch"} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			d := newReloadDir(t)
			s := d.serveHTTP(fmt.Sprintf("--watch=%t", way == "watch"))
			rewriteConfig(t, d.path, strings.Replace(slowStart, "  required = true\n",
				"  required = true\n  timeouts {\n    start = \"9m\"\n  }\n", 1))
			asked := make(chan string, 1)
			switch way {
			case "verb":
				go func() {
					_, errs, _ := s.junctor("reload", "--text")
					asked <- errs
				}()
			case "hangup":
				if err := s.cmd.Process.Signal(syscall.SIGHUP); err != nil {
					t.Fatal(err)
				}
			}
			awaitFile(t, filepath.Join(d.site.dir, "begun"))
			if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			if line := s.waitLog("not reloaded", "reloaded the configuration"); !strings.Contains(line,
				"shutting down") {
				t.Error(line)
			}
			s.awaitExit()
			if way == "verb" {
				if errs := <-asked; !strings.Contains(errs, "shutting down") {
					t.Errorf("the verb prints %s", errs)
				}
			}
		})
	}
}

// awaitFile waits until a file exists.
func awaitFile(t *testing.T, path string) {
	t.Helper()
	eventually.NoError(t, func() error {
		_, err := os.Stat(path)
		return err
	})
}
