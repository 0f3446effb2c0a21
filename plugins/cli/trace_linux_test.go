package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestTracedCalls makes calls like those of TestFuzzedCalls under strace. A
// wrapped program must not even try to open, change or run a file outside, or
// to connect.
func TestTracedCalls(t *testing.T) {
	if testing.Short() {
		t.Skip("starts many programs")
	}
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skip("strace is not installed")
	}
	if os.Getenv(arenaVariable) == "" && os.Getuid() != 0 && os.Getenv(callsVariable) == "" {
		t.Skipf("runs programs as the user of this test, so it asks for %s", callsVariable)
	}
	calls := traceCalls
	if os.Getenv(callsVariable) != "" {
		calls = number(t, callsVariable, 0) / 20
	}
	log := filepath.Join(t.TempDir(), "trace")
	if os.Getenv(arenaVariable) == "" {
		if err := os.Chmod(filepath.Dir(log), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(filepath.Dir(filepath.Dir(log)), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if unprivileged(t, time.Minute+time.Duration(calls)*300*time.Millisecond, "strace", "-f", "-q", "-s", "4096",
		"-o", log,
		"-e", "trace=clone,clone3,fork,vfork,execve,chdir,open,openat,openat2,creat,unlink,unlinkat,rename,renameat,renameat2,truncate,mkdir,mkdirat,link,linkat,symlink,symlinkat,chmod,fchmodat,mknodat,connect,sendto") {
		readTrace(t, log)
		return
	}
	fuzzCalls(t, max(calls, traceLeast), traceLeast)
}

// A traced process is one that the trace names.
type traced struct {
	wrapped bool   // it runs a wrapped program, or was started by one
	dir     string // its working directory
}

var (
	traceLine  = regexp.MustCompile(`^(\d+) +(?:<\.\.\. )?([a-z0-9_]+)(.*)$`)
	traceChild = regexp.MustCompile(`= (\d+)$`)
	traceEnd   = regexp.MustCompile(`^(\d+) +\+\+\+ `)
	traceText  = regexp.MustCompile(`"((?:[^"\\]|\\.)*)"`)
)

// readTrace looks for accesses outside in the output of strace.
func readTrace(t *testing.T, log string) {
	t.Helper()
	file, err := os.Open(log)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	all := map[string]*traced{}
	of := func(pid string) *traced {
		if all[pid] == nil {
			all[pid] = &traced{}
		}
		return all[pid]
	}
	lines, starts := bufio.NewScanner(file), 0
	lines.Buffer(nil, 1<<20)
	found := map[string]int{}
	for lines.Scan() {
		if end := traceEnd.FindStringSubmatch(lines.Text()); end != nil {
			delete(all, end[1]) // another process may get the number
			continue
		}
		m := traceLine.FindStringSubmatch(lines.Text())
		if m == nil {
			continue
		}
		p := of(m[1])
		switch call, rest := m[2], m[3]; call {
		case "clone", "clone3", "fork", "vfork":
			if child := traceChild.FindStringSubmatch(rest); child != nil {
				c := of(child[1])
				c.wrapped = c.wrapped || p.wrapped
				if c.dir == "" {
					c.dir = p.dir
				}
			}
		case "chdir":
			if text := traceText.FindStringSubmatch(rest); text != nil && strings.HasSuffix(rest, "= 0") {
				p.dir = absoluteIn(p.dir, text[1])
			}
		default:
			if call == "execve" && strings.HasSuffix(rest, "= 0") && strings.HasSuffix(p.dir, "/work") && !p.wrapped {
				p.wrapped = true
				starts++
			}
			if p.wrapped {
				if finding := p.accesses(call, rest); finding != "" {
					found[finding]++
				}
			}
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	for finding, n := range found {
		t.Errorf("%d times: %s", n, finding)
	}
	t.Logf("%d programs were traced", starts)
	if starts == 0 {
		t.Error("no program was traced")
	}
}

// absoluteIn returns a path as a process in the directory dir reads it.
func absoluteIn(dir, path string) string {
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	return filepath.Clean(path)
}

// systemPlaces are directories that every program may read, with the home directory of
// the user who runs the calls, which does not exist.
var systemPlaces = []string{"/usr", "/lib", "/lib64", "/bin", "/sbin", "/etc", "/proc", "/sys", "/dev", "/run",
	"/var/run", "/var/lib", "/var/cache", "/opt", "/nonexistent"}

// accesses returns the access outside that a system call asks for, or "".
func (p *traced) accesses(call, rest string) string {
	switch {
	case call == "connect" || call == "sendto":
		if strings.Contains(rest, "127.0.0.1") ||
			strings.Contains(rest, `sun_path=`) && !strings.Contains(rest, "/nscd/") {
			return call + rest
		}
		return ""
	case strings.HasPrefix(rest, " resumed"):
		return ""
	case strings.Contains(rest, "O_PATH"):
		return "" // a handle that reads nothing, such as the launcher of the wall takes
	}
	writes := call != "openat" && call != "open" && call != "openat2" && call != "execve" ||
		strings.Contains(rest, "O_WRONLY") || strings.Contains(rest, "O_RDWR") || strings.Contains(rest, "O_CREAT")
	texts := traceText.FindAllStringSubmatch(rest, 2)
	if call == "execve" || call == "open" || strings.HasPrefix(call, "openat") {
		texts = texts[:min(1, len(texts))]
	}
	for _, text := range texts {
		path := absoluteIn(p.dir, text[1])
		top := filepath.Dir(p.dir)
		switch {
		case path == p.dir, strings.HasPrefix(path, p.dir+"/"),
			strings.HasPrefix(path, filepath.Join(top, "home")+"/") && !secretName.MatchString(path),
			path == filepath.Join(top, "home"):
		case strings.HasPrefix(path, os.TempDir()+"/") && !strings.HasPrefix(path, top), path == "/dev/null",
			path == "/dev/tty", strings.HasPrefix(path, "/var/tmp/"), strings.HasPrefix(path, "/dev/shm/"):
		case path == "/", path == "/tmp", strings.HasPrefix(top, path):
		case !writes && slices.ContainsFunc(systemPlaces,
			func(place string) bool { return path == place || strings.HasPrefix(path, place+"/") }):
		case strings.HasPrefix(text[1], "/") && !strings.Contains(rest, "AT_FDCWD") && call != "execve" &&
			call != "open":
		default:
			return fmt.Sprintf("%s%.200s", call, rest)
		}
	}
	return ""
}

// secretName matches the files of a home directory that an attack names.
var secretName = regexp.MustCompile(`/(id_rsa|mark[^/]*|\.bashrc|\.profile)$`)
