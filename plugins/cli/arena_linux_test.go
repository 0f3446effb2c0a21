package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/sdk/sandbox"
	"github.com/junctor-mcp/junctor/sdk/sandbox/launch"
)

// Variables of a test process that runs without privileges.
const (
	arenaVariable = "JUNCTOR_TEST_ARENA" // set in that process
	callsVariable = "JUNCTOR_FUZZ_CALLS" // how many calls TestFuzzedCalls makes
	seedVariable  = "JUNCTOR_FUZZ_SEED"
	wallVariable  = "JUNCTOR_FUZZ_WALL" // "open" or "default"; TestFuzzedCalls tries both otherwise
)

// openWall returns settings with a block sandbox that allows everything, so that
// only the rules for arguments hold a program. A kernel that has no wall needs no
// block.
func openWall() map[string]any {
	if sandbox.Probe().Missing(&sandbox.Rules{}) != "" {
		return map[string]any{}
	}
	return map[string]any{"sandbox": map[string]any{"read": []string{"/"}, "write": []string{"/"},
		"network": true, "unix_sockets": true}}
}

// otherUser is the user that runs wrapped programs when the tests run as root: a
// hole must not harm the machine.
const otherUser = 65534

// unprivileged runs the test again as another user, if this process is root, in
// a directory with a copy of the data. It reports whether it did; the test then
// returns. tracer is put in front of the command line.
func unprivileged(t *testing.T, limit time.Duration, tracer ...string) bool {
	t.Helper()
	if os.Getenv(arenaVariable) != "" || os.Getuid() != 0 && len(tracer) == 0 {
		return false
	}
	arena, err := os.MkdirTemp("", "e") // short, for the addresses of sockets
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(arena) })
	for _, dir := range []string{"pkg/testdata", "tmp", "home"} {
		if err := os.MkdirAll(filepath.Join(arena, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	copyFile(t, self, filepath.Join(arena, "tests"), 0o755)
	copyFile(t, launch.LauncherPath(), filepath.Join(arena, sandbox.LauncherName), 0o755)
	for _, name := range []string{"escapes.txt", "programs.txt"} {
		copyFile(t, filepath.Join("testdata", name), filepath.Join(arena, "pkg", "testdata", name), 0o644)
	}
	for i, word := range tracer {
		tracer[i] = strings.ReplaceAll(word, "$ARENA", arena)
	}
	argv := append(slices.Clone(tracer), filepath.Join(arena, "tests"), "-test.run=^"+t.Name()+"$", "-test.v",
		"-test.timeout="+limit.String())
	ctx, cancel := context.WithTimeout(t.Context(), limit+time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir = filepath.Join(arena, "pkg")
	cmd.Env = []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + arena + "/home",
		"TMPDIR=" + arena + "/tmp", "LANG=C.UTF-8", arenaVariable + "=" + arena}
	for _, name := range []string{callsVariable, seedVariable, wallVariable, "JUNCTOR_REQUIRE_INTEROP"} {
		cmd.Env = append(cmd.Env, name+"="+os.Getenv(name))
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if os.Getuid() == 0 {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: otherUser, Gid: otherUser}
		giveAway(t, arena)
	}
	cmd.WaitDelay = 5 * time.Second
	out, err := cmd.CombinedOutput()
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	if err != nil {
		t.Errorf("as another user: %v\n%s", err, out)
	} else if testing.Verbose() {
		t.Logf("as another user:\n%s", out)
	}
	return true
}

// giveAway makes otherUser the owner of a directory and everything in it.
func giveAway(t *testing.T, dir string) {
	t.Helper()
	if err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, otherUser, otherUser)
	}); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
}

func copyFile(t *testing.T, from, to string, mode os.FileMode) {
	t.Helper()
	source, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer source.Close()
	target, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, mode)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(target, source); err != nil {
		t.Fatal(err)
	}
	if err := target.Close(); err != nil {
		t.Fatal(err)
	}
}

// listed is a part of the name of a file outside. A program that shows it lists
// a directory that it must not read.
const listed = "LISTED5e1f"

// A guard watches a site from outside: files, their content, and connections.
type guard struct {
	*site
	port     int
	socket   string
	contacts atomic.Int64
	hashes   map[string]string // of every file outside the working directory
}

// newGuard returns a guard for a program. It listens on a port of this machine
// and on a socket outside the working directory.
func newGuard(t *testing.T, program string) *guard {
	t.Helper()
	g := &guard{site: newSite(t, program)}
	g.socket = filepath.Join(g.top, "s")
	for name, text := range map[string]string{
		"home/.ssh/id_rsa": canary, "home/.bashrc": "true\n", "home/.profile": "true\n",
		"outside/" + listed: "x\n", "outside/deep/" + listed: "x\n",
	} {
		g.write(t, filepath.Join(g.top, name), text, 0o644)
	}
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g.port = tcp.Addr().(*net.TCPAddr).Port
	unix, err := net.Listen("unix", g.socket)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range []net.Listener{tcp, unix} {
		done := make(chan struct{})
		go func() {
			defer close(done)
			for {
				conn, err := l.Accept()
				if err != nil {
					return
				}
				g.contacts.Add(1)
				_ = conn.Close()
			}
		}()
		t.Cleanup(func() { _ = l.Close(); <-done })
	}
	g.hashes = g.snapshot()
	return g
}

// expand replaces the variables in a text by the places of the site.
func (g *guard) expand(text string) string {
	return g.site.expand(strings.NewReplacer("$PORT", fmt.Sprint(g.port), "$SOCKET", g.socket, "$HOME", g.home, "$TOP",
		g.top).Replace(text))
}

// snapshot returns the hash of each file outside the working directory. Of the
// home directory it has only the files that the test wrote and those with a
// name that an attack uses, because programs keep state there.
func (g *guard) snapshot() map[string]string { return g.files(g.top, g.work) }

// files returns the state of each file below a directory, apart from another one.
func (g *guard) files(dir, without string) map[string]string {
	all := map[string]string{}
	_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(g.top, path)
		name := filepath.Base(path)
		state := strings.HasPrefix(rel, "home/") && !strings.HasPrefix(name, "mark") && name != ".bashrc" &&
			name != ".profile" && name != "id_rsa"
		switch {
		case err != nil:
			return nil
		case path == without:
			return fs.SkipDir
		case e.IsDir():
			if !state {
				all[rel] = "directory"
			}
			return nil
		case state:
			return nil
		}
		text, _ := os.ReadFile(path)
		if info, err := e.Info(); err == nil {
			all[rel] = fmt.Sprintf("%v %x", info.Mode(), sha256.Sum256(text))
		}
		return nil
	})
	return all
}

// harm returns the harm that a call did, or "", and undoes it.
func (g *guard) harm(t *testing.T, answer string) string {
	t.Helper()
	did := ""
	sent := g.requests.take()
	for _, sign := range []string{canary, listed} {
		if strings.Contains(strings.ToUpper(answer+sent), strings.ToUpper(sign)) {
			did = "shows " + sign
		}
	}
	now := g.snapshot()
	for name, hash := range now {
		if g.hashes[name] != hash {
			did = "wrote " + name
		}
	}
	for name := range g.hashes {
		if now[name] == "" {
			did = "removed " + name
		}
	}
	if did != "" && (strings.HasPrefix(did, "wrote") || strings.HasPrefix(did, "removed")) {
		for name := range now {
			if g.hashes[name] == "" {
				_ = os.RemoveAll(filepath.Join(g.top, name))
			}
		}
		g.fill(t)
		for name := range g.hashes {
			if strings.HasSuffix(name, listed) || strings.HasPrefix(name, "home/.") && g.hashes[name] != "directory" {
				g.write(t, filepath.Join(g.top, name),
					map[bool]string{true: "x\n", false: "true\n"}[strings.HasSuffix(name, listed)], 0o644)
			}
		}
		g.hashes = g.snapshot()
	}
	if n := g.contacts.Swap(0); n > 0 || sent != "" {
		did = strings.TrimPrefix(did+", connects", ", ")
	}
	return did
}

// renew writes the files of the working directory again.
func (g *guard) renew(t *testing.T, program string) {
	t.Helper()
	_ = os.RemoveAll(g.work)
	g.fill(t)
	g.prepareFor(program)
}
