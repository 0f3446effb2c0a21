package control

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/sdk/process"
	"github.com/junctor-mcp/junctor/testdata/eventually"
)

// dials is a script that asks for the status at a prefix when a process has ended, and leaves the
// answer in a file. Its arguments are this binary, the file, the prefix, and the processes that
// it kills first: a host and a plugin, or none.
const dials = `
test -z "$4" || kill -9 "$4" "$5"
while test -n "$4" && kill -0 "$4" 2>/dev/null; do sleep 0.02; done
CONTROL_DIAL="$3" "$1" >"$2.tmp" 2>&1
mv "$2.tmp" "$2"
`

// An orphan is a process that asks for the status, and whose parents have ended.
type orphan struct {
	t         *testing.T
	prefix    string
	dir, file string // the file gets the answer
}

func newOrphan(t *testing.T, prefix string) *orphan {
	t.Helper()
	o := &orphan{t: t, prefix: prefix, dir: t.TempDir()}
	o.file = filepath.Join(o.dir, "answer")
	o.write("dials.sh", dials)
	return o
}

func (o *orphan) write(name, text string) string {
	o.t.Helper()
	path := filepath.Join(o.dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		o.t.Fatal(err)
	}
	return path
}

// dial returns the beginning of a script: it sets the arguments to the command of dials.
func (o *orphan) dial(kills string) string {
	return strings.Join([]string{"set -- /bin/sh", filepath.Join(o.dir, "dials.sh"), os.Args[0], o.file, o.prefix,
		kills}, " ") + "\n"
}

// answer waits for the answer.
func (o *orphan) answer() string {
	o.t.Helper()
	var text []byte
	eventually.NoError(o.t, func() (err error) {
		text, err = os.ReadFile(o.file)
		return err
	})
	return string(text)
}

// serveForTest serves a control socket, and returns the prefix for programs that look for it.
func serveForTest(t *testing.T) (prefix string) {
	t.Helper()
	dir, prefix := runDir(t)
	stop, err := Serve(t.Context(), dir, []string{prefix}, &fixed{status: Status{Version: "1.2.3", PID: os.Getpid()}},
		hclog.NewNullLogger())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	return prefix
}

// TestOrphansOfOtherHostsAreRefused: a server kills its plugin and its host, so that no parent
// tells where it came from, hides, and asks another process of Junctor. It is refused.
func TestOrphansOfOtherHostsAreRefused(t *testing.T) {
	prefix := serveForTest(t)
	for name, hide := range map[string]string{
		"the same environment":     `setsid "$@" &`,
		"another environment":      `setsid env -i "$@" &`,
		"forked twice":             `( setsid env -i "$@" & ) &`,
		"a lower limit":            `prlimit --pid $$ --locks=1000:1000; setsid env -i "$@" &`,
		"a soft limit":             `prlimit --pid $$ --locks=1000:; setsid env -i "$@" &`,
		"a mount namespace":        `setsid env -i unshare -m "$@" &`,
		"a network namespace":      `setsid env -i unshare -n "$@" &`,
		"no capability to hide it": `setsid env -i setpriv --bounding-set -sys_resource prlimit --locks=unlimited "$@" & setsid env -i setpriv --bounding-set -sys_resource "$@" &`,
	} {
		t.Run(name, func(t *testing.T) {
			o := newOrphan(t, prefix)
			server := o.write("server.sh", "host=$(cut -d' ' -f4 /proc/$PPID/stat)\ntest $host != "+
				fmt.Sprint(os.Getpid())+" || exit\n"+o.dial(`"$host" "$PPID"`)+hide+"\nsleep 100\n")
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), "CONTROL_TREE=host", "CONTROL_SERVER="+server)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			go func() { ended <- cmd.Wait() }() // or the host would stay a zombie
			got := o.answer()
			_ = cmd.Process.Kill()
			<-ended
			if !strings.Contains(got, string(fault.ProcessRefused)) || strings.Contains(got, "answered") {
				t.Errorf("%s", got)
			}
		})
	}
}

// TestProcessesOfTheUserAreAnswered: what a shell, cron, a service manager or ssh starts has no
// parent that is known either, and may have no terminal and little environment.
func TestProcessesOfTheUserAreAnswered(t *testing.T) {
	prefix := serveForTest(t)
	for name, start := range map[string]string{
		"in the background":       `"$@" &`,
		"without a terminal":      `setsid "$@" &`,
		"with little environment": `setsid env -i "$@" &`,
		"ignoring hangups":        `nohup "$@" >/dev/null 2>&1 &`,
		"with other limits":       `ulimit -n 64; ulimit -c 0; setsid "$@" &`,
		"with a soft limit":       `prlimit --pid $$ --locks=7:; setsid "$@" &`,
		"without new privileges":  `setsid setpriv --no-new-privs "$@" &`,
		"of a released process":   `JUNCTOR_SPAWN=released setsid "$@" &`,
		"with a similar variable": `XJUNCTOR_RUN_ID=1 setsid "$@" &`,
	} {
		t.Run(name, func(t *testing.T) {
			o := newOrphan(t, prefix)
			// It waits for the end of the shell that starts it, so that this test is no ancestor.
			script := o.write("start.sh", "while kill -0 $1 2>/dev/null; do sleep 0.02; done\n"+o.dial("")+start+"\n")
			outer := o.write("outer.sh", "( setsid /bin/sh "+script+" $$ ) >/dev/null 2>&1 &\n")
			if text, err := exec.Command("/bin/sh", outer).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, text)
			}
			if got := o.answer(); !strings.Contains(got, "answered 1.2.3") {
				t.Errorf("%s", got)
			}
		})
	}
}

// TestServersWithoutMarksCannotShowApprovals: a program that Junctor started and that executed
// with another environment serves a socket like that of Junctor. It is not asked.
func TestServersWithoutMarksCannotShowApprovals(t *testing.T) {
	own, prefix := runDir(t)
	if err := os.Remove(own); err != nil {
		t.Fatal(err)
	}
	dir := prefix + "14.x-1"
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	p, err := process.Start(process.Command{Path: "/bin/sh",
		Args: []string{"sh", "-c", `read go; exec env -i CONTROL_SERVE="$1" "$0"`, os.Args[0], dir}, Stdin: r})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Wait(20 * time.Second)
	defer p.Kill()
	defer w.Close()
	if _, err := w.WriteString("go\n"); err != nil {
		t.Fatal(err)
	}
	eventually.NoError(t, func() error {
		c, err := net.Dial("unix", filepath.Join(dir, socketName))
		if err == nil {
			_ = c.Close()
		}
		return err
	})
	found := Find([]string{prefix})
	if len(found) != 1 {
		t.Fatalf("%+v", found)
	}
	if _, err := found[0].Approvals(t.Context()); !IsStarted(err) {
		t.Errorf("%v", err)
	}
}

// TestEndedPeersAreNoticed: the process that connected is the peer. What it left behind with the
// connection is not, whatever has its id by now.
func TestEndedPeersAreNoticed(t *testing.T) {
	dir, _ := runDir(t)
	l, err := net.Listen("unix", filepath.Join(dir, socketName))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	cmd := exec.Command("python3", "-c", `import os,socket,sys
s=socket.socket(socket.AF_UNIX); s.connect(sys.argv[1])
sys.stdin.read(1)
if os.fork(): os._exit(0)
s.recv(1)`, filepath.Join(dir, socketName))
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Skip(err)
	}
	_ = l.(*net.UnixListener).SetDeadline(time.Now().Add(20 * time.Second))
	c, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if peerEnded(c) {
		t.Error("a process that waits has ended")
	}
	_ = in.Close()
	_ = cmd.Wait()
	if err := checkPeer(c, nil); err == nil {
		t.Error("a process that has ended may control this one")
	}
	if !peerEnded(c) {
		t.Skip("this kernel does not tell")
	}
}
