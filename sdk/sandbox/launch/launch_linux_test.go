package launch_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/junctor-mcp/junctor/sdk/process"
	"github.com/junctor-mcp/junctor/sdk/sandbox"
	"github.com/junctor-mcp/junctor/sdk/sandbox/launch"
)

// attemptVariable makes this test program try one access and print the outcome.
const attemptVariable = "SANDBOX_TEST_ATTEMPT"

func TestMain(m *testing.M) {
	if attempt := os.Getenv(attemptVariable); attempt != "" {
		fmt.Println(outcome(try(strings.Fields(attempt))))
		os.Exit(0)
	}
	dir, err := os.MkdirTemp("", "junctor-sandbox-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	launcher := filepath.Join(dir, sandbox.LauncherName)
	build := exec.Command("go", "build", "-o", launcher, "../../../plugins/internal/launcher")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if text, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "building the launcher: %v\n%s", err, text)
		os.Exit(1)
	}
	launch.LauncherPath = func() string { return launcher }
	status := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(status)
}

func outcome(err error) string {
	if err == nil {
		return "done"
	}
	return "refused: " + err.Error()
}

// try makes one access: its name and its arguments.
func try(words []string) error {
	name, args := words[0], words[1:]
	number := func(i int) uintptr {
		n, err := strconv.ParseUint(args[i], 0, 64)
		if err != nil {
			panic(err)
		}
		return uintptr(n)
	}
	raw := func(call uintptr, a, b, c uintptr) error {
		if _, _, errno := syscall.Syscall6(call, a, b, c, 0, 0, 0); errno != 0 {
			return errno
		}
		return nil
	}
	switch name {
	case "read":
		_, err := os.ReadFile(args[0])
		return err
	case "list":
		_, err := os.ReadDir(args[0])
		return err
	case "write":
		return os.WriteFile(args[0], []byte("written"), 0o600)
	case "truncate":
		return os.Truncate(args[0], 0)
	case "remove":
		return os.Remove(args[0])
	case "move":
		return os.Rename(args[0], args[1])
	case "link":
		return os.Link(args[0], args[1])
	case "symlink":
		return os.Symlink(args[0], args[1])
	case "mkdir":
		return os.Mkdir(args[0], 0o700)
	case "chmod":
		return os.Chmod(args[0], 0o777)
	case "times":
		return os.Chtimes(args[0], time.Unix(1, 0), time.Unix(1, 0))
	case "run":
		return exec.Command(args[0], args[1:]...).Run()
	case "kill":
		return syscall.Kill(int(number(0)), 0)
	case "socket":
		return raw(syscall.SYS_SOCKET, number(0), number(1), number(2))
	case "dial":
		conn, err := net.DialTimeout(args[0], args[1], 5*time.Second)
		if err == nil {
			_ = conn.Close()
		}
		return err
	case "lookup":
		_, err := (&net.Resolver{PreferGo: true}).LookupHost(context.Background(), args[0])
		return err
	case "call":
		return raw(number(0), number(1), number(2), number(3))
	case "pair":
		_, err := syscall.Socketpair(int(number(0)), int(number(1)), 0)
		return err
	case "listen":
		fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
		if err != nil {
			return err
		}
		return syscall.Listen(fd, 1)
	case "fastopen":
		return fastOpen(args[0])
	}
	return fmt.Errorf("no access %q", name)
}

// fastOpen connects with sendto instead of connect.
func fastOpen(port string) error {
	n, err := strconv.Atoi(port)
	if err != nil {
		return err
	}
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		return err
	}
	const msgFastOpen = 0x20000000
	return syscall.Sendto(fd, []byte("x"), msgFastOpen, &syscall.SockaddrInet4{Port: n, Addr: [4]byte{127, 0, 0, 1}})
}

// attempt makes one access behind the rules and returns what it printed.
func attempt(t *testing.T, rules sandbox.Rules, words ...string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	rules.Read = append(append([]string{filepath.Dir(self)}, sandbox.System()...), rules.Read...)
	rules.Devices = sandbox.Devices
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	p, err := launch.Start(&rules, process.Command{
		Path: self, Args: []string{self}, Env: append(os.Environ(), attemptVariable+"="+strings.Join(words, " ")),
		Dir: "/", Stdout: in, Stderr: in,
	})
	_ = in.Close()
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	_, _ = text.ReadFrom(out)
	<-p.Done()
	return strings.TrimSpace(text.String())
}

// skipWithoutKernel skips a test where the kernel enforces nothing.
func skipWithoutKernel(t *testing.T) {
	t.Helper()
	if missing := sandbox.Probe().Missing(&sandbox.Rules{Network: sandbox.Network{Ports: []uint16{1}}}); missing != "" {
		if os.Getenv("JUNCTOR_REQUIRE_INTEROP") != "" {
			t.Fatalf("this kernel lacks %s", missing)
		}
		t.Skipf("this kernel lacks %s", missing)
	}
}

func TestFilesOutsideTheRulesAreOutOfReach(t *testing.T) {
	skipWithoutKernel(t)
	allowed, readable, secret := t.TempDir(), t.TempDir(), t.TempDir()
	for _, file := range []string{filepath.Join(allowed, "a"), filepath.Join(readable, "r"), filepath.Join(secret,
		"s")} {
		if err := os.WriteFile(file, []byte("content"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(secret, filepath.Join(allowed, "link")); err != nil {
		t.Fatal(err)
	}
	rules := sandbox.Rules{Read: []string{readable}, Write: []string{allowed}}
	in := func(dir, name string) string { return filepath.Join(dir, name) }
	for _, c := range []struct {
		words []string
		done  bool
	}{
		{[]string{"read", in(allowed, "a")}, true},
		{[]string{"write", in(allowed, "b")}, true},
		{[]string{"move", in(allowed, "b"), in(allowed, "c")}, true},
		{[]string{"mkdir", in(allowed, "d")}, true},
		{[]string{"read", in(readable, "r")}, true},
		{[]string{"list", readable}, true},
		{[]string{"read", "/etc/passwd"}, true},
		{[]string{"read", "/proc/self/status"}, true},
		{[]string{"read", "/proc/cpuinfo"}, true},
		{[]string{"run", "/bin/true"}, true},
		{[]string{"read", in(secret, "s")}, false},
		{[]string{"list", secret}, false},
		{[]string{"read", in(allowed, "link/s")}, false},
		{[]string{"read", "/proc/self/root" + in(secret, "s")}, false},
		{[]string{"read", "/proc/self/cwd" + in(secret, "s")}, false},
		{[]string{"write", in(secret, "new")}, false},
		{[]string{"write", in(readable, "r")}, false},
		{[]string{"write", in(readable, "new")}, false},
		{[]string{"truncate", in(secret, "s")}, false},
		{[]string{"truncate", in(readable, "r")}, false},
		{[]string{"remove", in(readable, "r")}, false},
		{[]string{"remove", in(secret, "s")}, false},
		{[]string{"link", in(secret, "s"), in(allowed, "hard")}, false},
		{[]string{"link", in(readable, "r"), in(allowed, "hard")}, false},
		{[]string{"move", in(secret, "s"), in(allowed, "moved")}, false},
		{[]string{"move", in(allowed, "a"), in(secret, "moved")}, false},
		{[]string{"symlink", "/", in(readable, "root")}, false},
		{[]string{"mkdir", in(readable, "dir")}, false},
		{[]string{"chmod", in(secret, "s")}, false},
		{[]string{"times", in(secret, "s")}, false},
		{[]string{"run", in(secret, "s")}, false},
		{[]string{"list", "/tmp"}, false},
		{[]string{"list", "/proc"}, false},
		{[]string{"write", "/dev/shm/junctor-sandbox-test"}, false},
	} {
		got := attempt(t, rules, c.words...)
		if (got == "done") != c.done || !c.done && !strings.HasPrefix(got, "refused: ") {
			t.Errorf("%v: %s, want done: %t", c.words, got, c.done)
		}
	}
	if text, err := os.ReadFile(filepath.Join(secret, "s")); err != nil || string(text) != "content" {
		t.Errorf("the secret is %q, %v", text, err)
	}
}

func TestOtherProcessesAreOutOfReach(t *testing.T) {
	skipWithoutKernel(t)
	other, err := process.Start(process.Command{Path: "/bin/sleep", Args: []string{"sleep", "60"},
		Env: []string{"SECRET=x"}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { other.Kill(); <-other.Done() }()
	pid := strconv.Itoa(other.PID())
	for _, words := range [][]string{
		{"read", "/proc/" + pid + "/environ"},
		{"read", "/proc/" + pid + "/cmdline"},
		{"read", "/proc/" + pid + "/maps"},
		{"read", "/proc/" + pid + "/root" + "/etc/hostname"},
		{"list", "/proc/" + pid + "/fd"},
		{"read", "/proc/1/environ"},
		{"read", "/proc/" + strconv.Itoa(os.Getpid()) + "/environ"},
		{"kill", pid},
		{"call", fmt.Sprint(unix.SYS_PTRACE), "16", pid, "0"}, // PTRACE_ATTACH
		{"call", fmt.Sprint(unix.SYS_PROCESS_VM_READV), pid, "0", "0"},
		{"call", fmt.Sprint(unix.SYS_PRLIMIT64), pid, "0", "0"},
		{"call", fmt.Sprint(unix.SYS_PRLIMIT64), "0x100000000", "0", "0"},
		{"call", fmt.Sprint(unix.SYS_SETPRIORITY), "0", pid, "19"},
		{"call", fmt.Sprint(unix.SYS_SETPRIORITY), "2", "0", "19"}, // all processes of the user
		{"call", fmt.Sprint(unix.SYS_IOPRIO_SET), "1", pid, "0"},
		{"call", fmt.Sprint(unix.SYS_SCHED_SETAFFINITY), pid, "0", "0"},
		{"call", fmt.Sprint(unix.SYS_SCHED_SETSCHEDULER), pid, "0", "0"},
		{"call", fmt.Sprint(unix.SYS_SHMGET), "1", "4096", "0o1600"},
		{"call", fmt.Sprint(unix.SYS_MSGGET), "1", "0o1600", "0"},
		{"call", fmt.Sprint(unix.SYS_SEMGET), "1", "1", "0o1600"},
		{"call", fmt.Sprint(unix.SYS_IOCTL), "0", "0x40086602", "0"}, // FS_IOC_SETFLAGS
		{"call", fmt.Sprint(unix.SYS_IOCTL), "0", "0x140086602", "0"},
		{"call", fmt.Sprint(unix.SYS_IOCTL), "0", "0x401c5820", "0"},
		{"call", fmt.Sprint(unix.SYS_IOCTL), "0", "0x40087602", "0"}, // FS_IOC_SETVERSION
		{"call", fmt.Sprint(unix.SYS_FCNTL), "0", "1024", "1"},       // F_SETLEASE
		{"call", fmt.Sprint(unix.SYS_FCNTL), "0", "0x100000400", "1"},
		{"call", fmt.Sprint(unix.SYS_PRLIMIT64), "0", "10", "1"}, // RLIMIT_LOCKS, which says whose run it is
		{"call", fmt.Sprint(unix.SYS_PRLIMIT64), "0", "0x10000000a", "1"},
		{"call", fmt.Sprint(unix.SYS_SETRLIMIT), "10", "1", "0"},
		{"call", fmt.Sprint(unix.SYS_IO_URING_SETUP), "1", "0", "0"},
		{"call", fmt.Sprint(unix.SYS_BPF), "0", "0", "0"},
		{"call", fmt.Sprint(unix.SYS_KEYCTL), "0", "0", "0"},
		{"call", fmt.Sprint(unix.SYS_MOUNT), "0", "0", "0"},
		{"call", fmt.Sprint(unix.SYS_OPEN_BY_HANDLE_AT), "0", "0", "0"},
	} {
		got := attempt(t, sandbox.Rules{}, words...)
		if refused := strings.HasPrefix(got, "refused: "); !refused || words[0] == "call" &&
			!strings.HasSuffix(got, syscall.EPERM.Error()) && !strings.HasSuffix(got, syscall.EACCES.Error()) &&
			!strings.HasSuffix(got, syscall.ENOSYS.Error()) {
			t.Errorf("%v: %s", words, got)
		}
	}
	// The superuser's program has no capability for it, also where the table grants /proc.
	proc := sandbox.Rules{Read: []string{"/proc"}}
	for _, name := range []string{"environ", "maps", "root/etc/hostname"} {
		if got := attempt(t, proc, "read", "/proc/"+pid+"/"+name); !strings.HasPrefix(got, "refused: ") {
			t.Errorf("%s of another process: %s", name, got)
		}
	}
	for _, request := range []string{"0x80086601", "0xc020660b", "0x5421", "0xffffffff80045430"} {
		// Other requests reach the kernel.
		if got := attempt(t, sandbox.Rules{}, "call", fmt.Sprint(unix.SYS_IOCTL), "0", request,
			"0"); strings.HasSuffix(got, syscall.EACCES.Error()) {
			t.Errorf("ioctl %s: %s", request, got)
		}
	}
	for _, resource := range []string{"0", "10"} {
		if got := attempt(t, sandbox.Rules{}, "call", fmt.Sprint(unix.SYS_PRLIMIT64), "0", resource,
			"0"); got != "done" {
			t.Errorf("its own limit %s: %s", resource, got)
		}
	}
	if other.Ended() != "" {
		t.Errorf("the other process %s", other.Ended())
	}
}

// TestOtherArchitectures checks that 32-bit system calls do not pass the filter.
func TestOtherArchitectures(t *testing.T) {
	skipWithoutKernel(t)
	const x32 = 0x40000000
	if got := attempt(t, sandbox.Rules{}, "call", fmt.Sprint(x32+41), "2", "1", "0"); !strings.HasPrefix(got,
		"refused: ") {
		t.Errorf("socket with the number of the x32 ABI: %s", got)
	}
}

func TestSocketsNeedTheNetwork(t *testing.T) {
	skipWithoutKernel(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	other, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	datagrams, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer datagrams.Close()
	at := filepath.Join(t.TempDir(), "s")
	local, err := net.Listen("unix", at)
	if err != nil {
		t.Fatal(err)
	}
	defer local.Close()
	port := func(a net.Addr) uint16 {
		_, text, _ := net.SplitHostPort(a.String())
		n, _ := strconv.ParseUint(text, 10, 16)
		return uint16(n)
	}
	tcp, second, udp, named := []string{"dial", "tcp", listener.Addr().String()},
		[]string{"dial", "tcp", other.Addr().String()}, []string{"dial", "udp", datagrams.LocalAddr().String()},
		[]string{"dial", "unix", at}
	none, all := sandbox.Rules{}, sandbox.Rules{Network: sandbox.Network{All: true}}
	one := sandbox.Rules{Network: sandbox.Network{Ports: []uint16{port(listener.Addr())}}}
	names := sandbox.Rules{Network: sandbox.Network{Ports: []uint16{port(listener.Addr()), 53}}}
	sockets := sandbox.Rules{UnixSockets: true, Read: []string{filepath.Dir(at)}}
	socket := func(family, kind, protocol int) []string {
		return []string{"socket", strconv.Itoa(family), strconv.Itoa(kind), strconv.Itoa(protocol)}
	}
	for _, c := range []struct {
		rules sandbox.Rules
		name  string
		words []string
		done  bool
	}{
		{none, "no network", tcp, false},
		{none, "no network", udp, false},
		{none, "no network", named, false},
		{none, "no network", socket(syscall.AF_INET, syscall.SOCK_RAW, 1), false},
		{none, "no network", socket(syscall.AF_PACKET, syscall.SOCK_RAW, 0), false},
		{none, "no network", socket(syscall.AF_NETLINK, syscall.SOCK_RAW, 0), false},
		{none, "no network", socket(40, syscall.SOCK_STREAM, 0), false}, // AF_VSOCK
		{none, "no network", []string{"socket", "0x100000002", "1", "0"}, false},
		{none, "no network", []string{"socket", "0x200000001", "1", "0"}, false},
		{none, "no network", []string{"pair", "1", "1"}, true}, // a pair of streams
		{none, "no network", []string{"pair", "1", "5"}, true},
		{none, "no network", []string{"pair", "1", "2"}, false}, // datagrams can be sent elsewhere
		{none, "no network", []string{"pair", "1", "3"}, false},
		{none, "no network", []string{"pair", "1", "0x80802"}, false}, // with flags
		{all, "network", []string{"pair", "1", "2"}, false},
		{one, "one port", []string{"pair", "1", "2"}, false},
		{sockets, "unix sockets", []string{"pair", "1", "2"}, true},
		{one, "one port", []string{"listen"}, false},
		{all, "network", []string{"listen"}, true},
		{all, "network", tcp, true},
		{all, "network", udp, true},
		{all, "network", named, false},
		{all, "network", socket(syscall.AF_PACKET, syscall.SOCK_RAW, 0), false},
		{one, "one port", tcp, true},
		{one, "one port", socket(syscall.AF_NETLINK, syscall.SOCK_RAW, syscall.NETLINK_ROUTE), true},
		{one, "one port", socket(syscall.AF_NETLINK, syscall.SOCK_RAW, 4), false}, // SOCK_DIAG
		{one, "one port", socket(syscall.AF_NETLINK, syscall.SOCK_DGRAM, syscall.NETLINK_KOBJECT_UEVENT), false},
		{one, "one port", []string{"socket", "0x100000010", "3", "4"}, false},
		{all, "network", socket(syscall.AF_NETLINK, syscall.SOCK_RAW, 4), true}, // ss
		{one, "one port", second, false},
		{one, "one port", udp, false},
		{one, "one port", named, false},
		{one, "one port", socket(syscall.AF_INET, syscall.SOCK_RAW, 1), false},
		{one, "one port", socket(syscall.AF_INET, syscall.SOCK_STREAM, 262), false}, // MPTCP
		{one, "one port", socket(syscall.AF_INET, syscall.SOCK_STREAM, 132), false}, // SCTP
		{one, "one port", socket(syscall.AF_INET, syscall.SOCK_SEQPACKET, 132), false},
		{one, "one port", []string{"socket", "0x100000002", "2", "0"}, false},
		{one, "one port", []string{"fastopen", strconv.Itoa(int(port(other.Addr())))}, false},
		{names, "a port and 53", tcp, true},
		{names, "a port and 53", second, false},
		{names, "a port and 53", udp, true},
		{names, "a port and 53", socket(syscall.AF_INET, syscall.SOCK_RAW, 1), false},
		{sockets, "unix sockets", named, true},
		{sockets, "unix sockets", tcp, false},
		{sockets, "unix sockets", udp, false},
	} {
		if got := attempt(t, c.rules, c.words...); (got == "done") != c.done ||
			!c.done && !strings.HasPrefix(got, "refused: ") {
			t.Errorf("%s: %v: %s, want done: %t", c.name, c.words, got, c.done)
		}
	}
}

func TestStartReportsErrors(t *testing.T) {
	skipWithoutKernel(t)
	dir := t.TempDir()
	text := filepath.Join(dir, "text")
	if err := os.WriteFile(text, []byte("no program"), 0o700); err != nil {
		t.Fatal(err)
	}
	rules := &sandbox.Rules{Read: append([]string{dir}, sandbox.System()...)}
	for path, want := range map[string]error{
		filepath.Join(dir, "absent"): fs.ErrNotExist,
		text:                         syscall.ENOEXEC,
		dir:                          fs.ErrPermission,
	} {
		if _, err := launch.Start(rules, process.Command{Path: path, Args: []string{"x"}}); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", path, err, want)
		}
	}
	if _, err := launch.Start(&sandbox.Rules{},
		process.Command{Path: "/bin/true", Args: []string{"true"}}); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("rules that allow nothing: %v", err)
	}
	many := &sandbox.Rules{Read: make([]string, 60_000)}
	var failed *sandbox.LaunchError
	if _, err := launch.Start(many, process.Command{Path: "/bin/true", Args: []string{"true"}}); !errors.As(err,
		&failed) {
		t.Errorf("too many rules: %v", err)
	}
	before := launch.LauncherPath
	defer func() { launch.LauncherPath = before }()
	for _, launcher := range []string{filepath.Join(dir, "absent"), "/bin/true"} {
		launch.LauncherPath = func() string { return launcher }
		if _, err := launch.Start(rules, process.Command{Path: "/bin/true", Args: []string{"true"}}); !errors.As(err,
			&failed) {
			t.Errorf("launcher %s: %v", launcher, err)
		}
	}
}

func TestLimitsHoldFromTheFirstInstruction(t *testing.T) {
	skipWithoutKernel(t)
	rules := sandbox.Rules{Read: sandbox.System(),
		Limits: process.Limits{Files: 17, CPU: 3 * time.Second, Memory: 64 << 20}}
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	p, err := launch.Start(&rules,
		process.Command{Path: "/bin/sh", Args: []string{"sh", "-c", "ulimit -n; ulimit -t; ulimit -v"}, Stdout: in})
	_ = in.Close()
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	_, _ = text.ReadFrom(out)
	<-p.Done()
	if text.String() != "17\n3\n65536\n" {
		t.Errorf("the limits are %q", text.String())
	}
}
