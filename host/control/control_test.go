//go:build unix

package control

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"go.uber.org/goleak"

	"github.com/junctor-mcp/junctor/host/event"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/logbuffer"
	"github.com/junctor-mcp/junctor/host/plan"
	"github.com/junctor-mcp/junctor/sdk/process"
	"github.com/junctor-mcp/junctor/testdata/eventually"
)

func TestMain(m *testing.M) {
	if os.Getenv("CONTROL_DIAL") != "" {
		dialForTest(os.Getenv("CONTROL_DIAL"))
		return
	}
	if who := os.Getenv("CONTROL_TREE"); who != "" {
		startForTest(who)
		return
	}
	if dir := os.Getenv("CONTROL_SERVE"); dir != "" {
		if _, err := Serve(context.Background(), dir, nil, &fixed{status: Status{PID: os.Getpid()}},
			hclog.NewNullLogger()); err != nil {
			fmt.Println(err)
		}
		fmt.Println("serves")
		_, _ = io.Copy(io.Discard, os.Stdin) // until the test ends it
		return
	}
	// Of the first Start.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/junctor-mcp/junctor/sdk/process.onSpawner.func1.1"))
}

// dialForTest asks for the status at a prefix and prints the result.
func dialForTest(prefix string) {
	answered, failed := StatusOfAll(context.Background(), Find([]string{prefix}))
	for _, s := range answered {
		fmt.Println("answered", s.Status.Version)
	}
	for _, err := range failed {
		fmt.Println(fault.As(err).Code, err)
	}
}

// A fixed process answers every request in the same way.
type fixed struct {
	status  Status
	failure *Failure
	view    *plan.View
	records *logbuffer.Buffer
	events  *event.Stream
}

func (p *fixed) Records() *logbuffer.Buffer { return p.records }

func (p *fixed) Events() *event.Stream { return p.events }

func (*fixed) Disconnect(server string) (*Restarted, *Failure) {
	return &Restarted{Server: server + " off"}, nil
}

func (*fixed) Connect(_ context.Context, server string) (*Restarted, *Failure) {
	return &Restarted{Server: server + " on"}, nil
}

func (*fixed) BeginLogin(_ context.Context, server string) (*LoginPage, *Failure) {
	return &LoginPage{Server: server, URL: "http://127.0.0.1/login"}, nil
}

func (*fixed) AwaitLogin(_ context.Context, server string) (*LoginDone, *Failure) {
	time.Sleep(loginTime) // which the client must wait for
	return &LoginDone{Server: server, Account: "ann"}, nil
}

func (p *fixed) Restart(_ context.Context, server string) (*Restarted, *Failure) {
	if p.failure != nil {
		return nil, p.failure
	}
	return &Restarted{Server: server, Took: 7}, nil
}

func (p *fixed) SetLogLevel(l LogLevel) (*LogLevel, *Failure) {
	if p.failure != nil {
		return nil, p.failure
	}
	return &l, nil
}

func (p *fixed) Status(context.Context) *Status { return &p.status }

func (p *fixed) Reload(context.Context) (*Reloaded, *Failure) {
	if p.failure != nil {
		return nil, p.failure
	}
	return &Reloaded{Generation: 2}, nil
}

func (p *fixed) Approvals() []Approval { return []Approval{{ID: "abcdef", State: "waiting"}} }

func (p *fixed) View(context.Context) *plan.View { return p.view }

func (p *fixed) Answer(id string, a Answering) (*Approval, *Failure) {
	approve := a.Verb == "approve"
	if p.failure != nil {
		return nil, p.failure
	}
	state := map[bool]string{true: "approved", false: "denied"}[approve]
	return &Approval{ID: id, State: state}, nil
}

func (p *fixed) ConsoleLink() (*ConsoleLink, *Failure) {
	if p.failure != nil {
		return nil, p.failure
	}
	return &ConsoleLink{URL: "http://127.0.0.1:7576/open?key=x"}, nil
}

// runDir returns the runtime directory of this process, and the prefix of all.
func runDir(t *testing.T) (dir, prefix string) {
	t.Helper()
	base, err := os.MkdirTemp("", "c") // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(base) })
	dir = filepath.Join(base, fmt.Sprintf("junctor-%s-1", process.Run()))
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir, filepath.Join(base, "junctor-")
}

// TestFindOwnSocket: the socket belongs to the user alone, and the process that serves
// may not ask itself.
func TestFindOwnSocket(t *testing.T) {
	dir, prefix := runDir(t)
	stop, err := Serve(t.Context(), dir, nil, &fixed{}, hclog.NewNullLogger())
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	if info, err := os.Stat(filepath.Join(dir, socketName)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	found := Find([]string{prefix, prefix})
	if len(found) != 1 || found[0].Name != fmt.Sprint(os.Getpid()) {
		t.Fatalf("%+v", found)
	}
	if _, err := found[0].Status(t.Context()); !fault.Is(err, fault.ProcessRefused) {
		t.Errorf("%v", err)
	}
}

// testBinary runs this test's program in dial mode. With reparent, its parent is gone.
func testBinary(t *testing.T, prefix string, reparent bool, user uint32) string {
	t.Helper()
	args := []string{os.Args[0]}
	if reparent {
		args = []string{"sh", "-c", `( setsid sh -c 'sleep 0.1; "$0" >"$1.tmp" 2>&1; mv "$1.tmp" "$1"' "$0" "$1" & )`,
			os.Args[0], filepath.Join(t.TempDir(), "out")}
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(os.Environ(), "CONTROL_DIAL="+prefix)
	if user != 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: user, Gid: user}}
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if reparent {
		eventually.NoError(t, func() error {
			out, err = os.ReadFile(args[len(args)-1])
			return err
		})
	}
	return string(out)
}

// TestDescendantsAreRefused: a child of the serving process is refused, and a process
// whose parents have ended is not.
func TestDescendantsAreRefused(t *testing.T) {
	dir, prefix := runDir(t)
	stop, err := Serve(t.Context(), dir, []string{prefix}, &fixed{status: Status{Version: "1.2.3", PID: os.Getpid()}},
		hclog.NewNullLogger())
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	if out := testBinary(t, prefix, false, 0); !strings.Contains(out, string(fault.ProcessRefused)) ||
		strings.Contains(out, "answered") {
		t.Errorf("a child: %s", out)
	}
	if runtime.GOOS != "linux" {
		return
	}
	if out := testBinary(t, prefix, true, 0); !strings.Contains(out, "answered 1.2.3") {
		t.Errorf("a process that does not descend from this one: %s", out)
	}
}

// TestProcessesOfContainersAreNotAncestors: the id of a process in a container, often 1,
// means another process outside. A directory that a killed process left means none.
func TestProcessesOfContainersAreNotAncestors(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has PID namespaces")
	}
	dir, prefix := runDir(t)
	own := strings.Split(process.Run(), ".")
	for _, run := range []string{process.Run(), "1.other.abc", own[0] + "." + own[1] + ".begun-earlier"} {
		sub := filepath.Join(filepath.Dir(dir), "junctor-"+run+"-2")
		if err := errors.Join(os.Mkdir(sub, 0o700),
			os.WriteFile(filepath.Join(sub, socketName), nil, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	if got := processes([]string{prefix}); len(got) != 1 || got[0] != os.Getpid() {
		t.Errorf("%v", got)
	}
}

// TestOtherUsersAreRefused lets another user reach the socket, which the directory
// normally prevents.
func TestOtherUsersAreRefused(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can run a program as another user")
	}
	dir, _ := runDir(t)
	l, err := net.Listen("unix", filepath.Join(dir, socketName))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, path := range []string{filepath.Dir(dir), dir, filepath.Join(dir, socketName)} {
		if err := os.Chmod(path, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("sh", "-c",
		`python3 -c 'import socket,sys,time; s=socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); s.recv(1)' "$0"`,
		filepath.Join(dir, socketName))
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 4242, Gid: 4242}}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = l.(*net.UnixListener).SetDeadline(time.Now().Add(20 * time.Second))
	c, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	if err := checkPeer(c, nil); err == nil || !strings.Contains(err.Error(), "4242") {
		t.Errorf("a peer of another user: %v", err)
	}
	_ = c.Close()
	_ = cmd.Wait()
}

// TestServersCannotShowApprovals: a program that Junctor started serves a socket like that of
// Junctor. It is not asked for approvals and links. One that Junctor did not start is.
func TestServersCannotShowApprovals(t *testing.T) {
	for _, mark := range []string{"", process.RunVariable + "=1.a.b"} {
		own, prefix := runDir(t)
		dir := prefix + "14.x-1" // as if another process served it: this one is a parent
		if err := errors.Join(os.Remove(own), os.Mkdir(dir, 0o700)); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "CONTROL_SERVE="+dir)
		if mark != "" {
			cmd.Env = append(cmd.Env, mark)
		}
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err = errors.Join(err, cmd.Start()); err != nil {
			t.Fatal(err)
		}
		if line, err := bufio.NewReader(out).ReadString('\n'); line != "serves\n" {
			t.Fatalf("%q, %v", line, err)
		}
		found := Find([]string{prefix})
		if len(found) != 1 {
			t.Fatalf("%+v", found)
		}
		_, listed := found[0].Approvals(t.Context())
		_, approved := found[0].Answer(t.Context(), "abcdef", Answering{Verb: "approve"})
		_, linked := found[0].ConsoleLink(t.Context())
		for what, err := range map[string]error{"list": listed, "approve": approved, "link": linked} {
			if IsStarted(err) != (mark != "") {
				t.Errorf("%s with the mark %q: %v", what, mark, err)
			}
		}
		_ = in.Close()
		_ = cmd.Wait()
	}
}

// TestSocketsOfOthersAreIgnored: a socket in a directory that others may change is not
// asked, nor a name without a process id.
func TestSocketsOfOthersAreIgnored(t *testing.T) {
	dir, prefix := runDir(t)
	base := filepath.Dir(dir)
	for name, mode := range map[string]os.FileMode{"junctor-12.x-1": 0o777, "junctor-x.y-1": 0o700,
		"junctor-0.y-1": 0o700, "other-13.x-1": 0o700, "junctor-14.x-1": 0o700,
		"junctor-15.x-1": 0o777 | os.ModeSticky} {
		sub := filepath.Join(base, name)
		if err := os.Mkdir(sub, 0o700); err != nil {
			t.Fatal(err)
		}
		l, err := net.ListenUnix("unix", &net.UnixAddr{Net: "unix", Name: filepath.Join(sub, socketName)})
		if err != nil {
			t.Fatal(err)
		}
		l.SetUnlinkOnClose(false) // as after a kill
		if err := errors.Join(l.Close(), os.Chmod(sub, mode)); err != nil {
			t.Fatal(err)
		}
	}
	plain := filepath.Join(base, "junctor-16.x-1")
	if err := errors.Join(os.Mkdir(plain, 0o700),
		os.WriteFile(filepath.Join(plain, socketName), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	found := Find([]string{prefix, "/does-not-exist/"})
	if len(found) != 1 || found[0].Name != "14" {
		t.Fatalf("%+v", found)
	}
	if answered, failed := StatusOfAll(t.Context(), found); len(answered)+len(failed) != 0 {
		t.Errorf("a socket that nothing listens on: %v, %v", answered, failed)
	}
}

// TestStopRemovesSocket stops a process and looks for it.
func TestStopRemovesSocket(t *testing.T) {
	dir, prefix := runDir(t)
	stop, err := Serve(t.Context(), dir, nil, &fixed{}, hclog.NewNullLogger())
	if err != nil {
		t.Fatal(err)
	}
	stop()
	if found := Find([]string{prefix}); len(found) != 0 {
		t.Errorf("%+v", found)
	}
}

// TestAnswers sends requests to a handler and reads the answers as a client does.
func TestAnswers(t *testing.T) {
	refused := &Failure{Error: fault.New(fault.ConfigInvalid, "no").Document(), Text: "text"}
	server := httptest.NewServer(handler(t.Context(), t.Context(),
		&fixed{status: Status{Version: "1.2.3", PID: 1}, failure: refused}))
	defer server.Close()
	i := &Instance{Name: "1", pid: 1, client: &http.Client{Transport: &http.Transport{DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "tcp", server.Listener.Addr().String())
		}}}}
	if s, err := i.Status(t.Context()); err != nil || s.Version != "1.2.3" {
		t.Errorf("%+v, %v", s, err)
	}
	_, err := i.Reload(t.Context())
	if r, ok := errors.AsType[*Refused](err); !ok || r.Text != "text" || !fault.Is(err, fault.ConfigInvalid) {
		t.Errorf("%v", err)
	}
	if _, err := i.ConsoleLink(t.Context()); !fault.Is(err, fault.ConfigInvalid) {
		t.Errorf("%v", err)
	}
	for _, c := range []struct{ method, path string }{{"GET", "/v1/console/link"}, {"GET", "/v1/reload"},
		{"POST", "/v1/status"}, {"GET", "/"}, {"GET", "/v2/status"}} {
		if _, err := ask[Status](t.Context(), i, c.method, c.path); !fault.Is(err, fault.ProcessUnreachable) {
			t.Errorf("%s %s: %v", c.method, c.path, err)
		}
	}
}

// accept accepts connections until a listener is closed.
func accept(t *testing.T, l net.Listener) <-chan *peerConn {
	accepted := make(chan *peerConn)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			accepted <- c.(*peerConn)
		}
	}()
	t.Cleanup(func() {
		_ = l.Close()
		<-done
	})
	return accepted
}

// dial connects to a listener.
func dial(t *testing.T, l net.Listener) net.Conn {
	t.Helper()
	c, err := net.Dial(l.Addr().Network(), l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// newPeerListener returns a listener with places for two peers and for one that is
// refused. check may be nil.
func newPeerListener(t *testing.T, check func(net.Conn) error) *peerListener {
	t.Helper()
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if check == nil {
		check = func(net.Conn) error { return nil }
	}
	return &peerListener{Listener: inner, check: check, slots: make(chan struct{}, 2), refused: make(chan struct{}, 1)}
}

// TestConnectionsAreLimited opens more connections than there are slots. One that is
// closed releases its slot once.
func TestConnectionsAreLimited(t *testing.T) {
	l := newPeerListener(t, nil)
	accepted := accept(t, l)
	for range 3 {
		dial(t, l)
	}
	first, second := <-accepted, <-accepted
	select {
	case <-accepted:
		t.Error("there are two slots for three connections")
	case <-time.After(50 * time.Millisecond):
	}
	_ = first.Close()
	_ = first.Close() // releases its slot once only
	third := <-accepted
	select {
	case l.slots <- struct{}{}:
		t.Error("a slot is free")
	default:
	}
	_, _ = second.Close(), third.Close()
}

// TestRefusedPeersTakeNoSlots: peers that are refused and send nothing have few
// connections, which end soon. A peer that is not refused is accepted meanwhile.
func TestRefusedPeersTakeNoSlots(t *testing.T) {
	first := true
	refuse := func(net.Conn) error { return errors.New("it is refused") }
	l := newPeerListener(t, func(c net.Conn) error {
		if !first {
			return refuse(c)
		}
		first = false
		return nil
	})
	accepted := accept(t, l)
	dial(t, l)
	if c := <-accepted; c.refusal != nil {
		t.Fatal(c.refusal)
	} else {
		defer c.Close()
	}
	dial(t, l)
	held := <-accepted
	if held.refusal == nil {
		t.Fatal("the peer is not refused")
	}
	excess := dial(t, l)
	if _, err := excess.Read(make([]byte, 1)); err == nil {
		t.Error("a further refused peer is not disconnected")
	}
	_ = held.SetReadDeadline(time.Now().Add(time.Hour))
	if _, err := held.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a refused peer that sends nothing: %v", err)
	}
	_ = held.Close()
	dial(t, l)
	if c := <-accepted; c.refusal == nil {
		t.Error("the peer is not refused")
	} else {
		_ = c.Close()
	}
}

// TestReloadEndsWithProcess: a reload goes on when the program that asked for it has
// ended, and ends when the process is told to.
func TestReloadEndsWithProcess(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	p := &held{begun: make(chan struct{}), ended: make(chan struct{})}
	server := httptest.NewServer(handler(ctx, ctx, p))
	defer server.Close()
	defer cancel()
	asked, leave := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(asked, http.MethodPost, server.URL+"/v1/reload", nil)
	if err != nil {
		t.Fatal(err)
	}
	left := make(chan struct{})
	go func() {
		defer close(left)
		if resp, err := server.Client().Do(req); err == nil {
			_ = resp.Body.Close()
		}
	}()
	<-p.begun
	leave()
	<-left
	select {
	case <-p.ended:
		t.Error("the reload ended with the program that asked for it")
	case <-time.After(50 * time.Millisecond):
	}
	cancel()
	select {
	case <-p.ended:
	case <-time.After(30 * time.Second):
		t.Fatal("the reload did not end with the process")
	}
}

// A held process reloads until the context ends.
type held struct {
	fixed
	begun, ended chan struct{}
}

func (p *held) Reload(ctx context.Context) (*Reloaded, *Failure) {
	close(p.begun)
	<-ctx.Done()
	close(p.ended)
	return &Reloaded{}, nil
}

// TestProcessesWithOneID: containers that share the runtime directory have processes
// with the same id. Their names differ, and each is found by its name.
func TestProcessesWithOneID(t *testing.T) {
	answering := func(version, long string) *Instance {
		server := httptest.NewServer(handler(t.Context(), t.Context(),
			&fixed{status: Status{Version: version, Instance: "1", PID: 1}}))
		t.Cleanup(server.Close)
		return &Instance{Name: "1", pid: 1, long: long, client: &http.Client{Transport: &http.Transport{
			DisableKeepAlives: true,
			DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
				return (&net.Dialer{}).DialContext(ctx, "tcp", server.Listener.Addr().String())
			},
		}}}
	}
	all := []*Instance{answering("a", "1.a.x-1"), answering("b", "1.b.x-2")}
	answered, failed := StatusOfAll(t.Context(), all)
	if len(answered) != 2 || len(failed) != 0 {
		t.Fatalf("%v, %v", answered, failed)
	}
	for n, name := range []string{"1.a.x-1", "1.b.x-2"} {
		a := answered[n]
		if a.Instance != all[n] || a.Name != name || a.Status.Instance != name || a.Status.Version != name[2:3] ||
			!a.Is(name) || a.Is("1") {
			t.Errorf("%+v, %+v", a.Instance, a.Status)
		}
		if r, err := a.Reload(t.Context()); err != nil || r.Instance != name {
			t.Errorf("%+v, %v", r, err)
		}
	}
	if alone, _ := StatusOfAll(t.Context(), []*Instance{answering("a", "1.a.x-1")}); len(alone) != 1 ||
		alone[0].Name != "1" || !alone[0].Is("1.a.x-1") {
		t.Errorf("%+v", alone)
	}
}

// TestWrongAnswersArePrintable: a hostile process leaves parts out of its answers.
func TestWrongAnswersArePrintable(t *testing.T) {
	for _, text := range []string{
		`{"pid":1,"servers":[null]}`, `{"pid":1,"servers":[{"tools":1}]}`,
		`{"pid":1,"generation":{"failed_reload":{"error":null}}}`, `{"pid":1}`,
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(text))
		}))
		i := instanceAt(server)
		s, err := i.Status(t.Context())
		if err != nil || s.Generation.Failed != nil {
			t.Errorf("%s: %+v, %v", text, s, err)
			continue
		}
		for _, one := range s.Servers {
			if one == nil || one.Tools != nil {
				t.Errorf("%s: %+v", text, one)
			}
		}
		server.Close()
	}
	for _, text := range []string{`null`, `{"pid":2}`, `[]`, ``} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(text))
		}))
		i := instanceAt(server)
		if s, err := i.Status(t.Context()); !fault.Is(err, fault.ProcessUnreachable) {
			t.Errorf("%q: %+v, %v", text, s, err)
		}
		server.Close()
	}
}

// instanceAt returns an instance with process id 1 that a test server answers for.
func instanceAt(server *httptest.Server) *Instance {
	return &Instance{Name: "1", pid: 1, client: &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "tcp", server.Listener.Addr().String())
		},
	}}}
}
