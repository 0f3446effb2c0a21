package plugintest

import (
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/sdk"
)

// Canary is a secret that a plugin must never print. Use it in settings,
// answers to prompts and stored secrets in the place of a real secret. The
// checks search for it in everything that the plugin logs, prints and returns
// as an error.
const Canary = "canary-8d1f5b2e-do-not-print"

// Timeouts of the checks.
var (
	patience    = 20 * time.Second // for events that normally happen at once
	settle      = 5 * time.Second  // for the release of resources
	interrupted = 2 * time.Second  // for a provider to react to cancellation
)

// A Case describes how to check one component of a plugin. It is a [Transport],
// an [Auth] or a [Store].
type Case interface {
	checks() []check
}

// A Transport is a case for one of a plugin's transports.
type Transport struct {
	Name string // as in sdk.Plugin.Transports

	// Peer starts a server that the transport can connect to repeatedly. The
	// server sends every message back unchanged, unless Serves is set. Every
	// check that connects calls Peer once. Peer should clean up with t.Cleanup.
	// See [EchoCommand] and [EchoServer].
	Peer func(t testing.TB) Peer

	// Hang returns settings with which Open waits until it is cancelled, such
	// as the address of a server that never answers. Without Hang, Open is
	// cancelled while it connects to Peer, which finds fewer mistakes.
	Hang func(t testing.TB) string

	// Apart declares that the transport sends requests independently, as HTTP
	// does. Then only notifications must arrive in the order in which they were
	// sent.
	Apart bool

	// Serves declares that the transport is the MCP server itself and does not
	// echo. It must answer each "ping" once, in all sizes and on concurrent
	// connections. The checks of a relay are skipped.
	Serves bool

	// Refused lists settings that the transport must reject.
	Refused []Refusal

	// Host is the host of the transport. Nil grants no services.
	Host *Host
}

// A Peer is a server that a transport connects to.
type Peer struct {
	Settings string   // JSON; should contain [Canary] in a sensitive setting, if there is one
	Env      []string // sdk.Server.Env
	Die      func()   // ends the server and every connection to it; may be nil
}

// An Auth is a case for one of a plugin's auth providers.
type Auth struct {
	Name     string // as in sdk.Plugin.Auths
	Settings string // JSON; should contain [Canary] in a sensitive setting, if there is one
	Refused  []Refusal

	// Host returns a new host for the provider on every call. Nil grants no
	// services.
	Host func(t testing.TB) *Host

	// Hang returns settings with which Authorize waits until it is cancelled,
	// such as the URL of a token endpoint that never answers. Without Hang,
	// cancellation is hardly checked.
	Hang func(t testing.TB) string

	// Login declares that the user must log in first. Until then Authorize
	// must fail with the code NeedsLogin.
	Login bool
	// Account is the account that Login must return; empty: not checked.
	Account string

	// Request is the request to authorize. Want holds the headers and query
	// parameters that the credential must contain.
	Request sdk.AuthRequest
	Want    sdk.Credential
}

// A Refusal is a set of settings that must be rejected, and the paths that the
// errors must name, such as url, headers["Host"] or retry[0].max.
type Refusal struct {
	Settings string
	Paths    []string
}

// A check examines one behaviour of a freshly started plugin.
type check struct {
	name string
	run  func(t testing.TB, s *subject)
}

// InProcess runs all checks that apply to a plugin in the test's process.
func InProcess(t *testing.T, p *sdk.Plugin, cases ...Case) {
	t.Helper()
	runChecks(t, inProcess(p), cases)
}

// Binary runs all checks on a plugin's program. See [Build].
func Binary(t *testing.T, path string, cases ...Case) {
	t.Helper()
	path, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	runChecks(t, program(path), cases)
}

func runChecks(t *testing.T, s *subject, cases []Case) {
	t.Helper()
	for _, q := range commonChecks() {
		t.Run(q.name, func(t *testing.T) { q.limited(t, s) })
	}
	for _, c := range cases {
		for _, q := range c.checks() {
			t.Run(q.name, func(t *testing.T) { q.limited(t, s) })
		}
		if c, ok := c.(Transport); ok {
			runPipeChecks(t, s, c)
		}
	}
}

// runPipeChecks runs the checks of a transport again with a host that takes the servers'
// own streams. It runs none if the transport passes no streams.
func runPipeChecks(t *testing.T, s *subject, c Transport) {
	with := *s
	with.pipes, with.passed = true, new(atomic.Bool)
	for _, q := range c.pipeChecks() {
		t.Run(q.name+" piped", func(t *testing.T) {
			if q.limited(t, &with); !with.passed.Load() {
				t.Skip("the transport passes no streams")
			}
		})
		if !with.passed.Load() {
			return
		}
	}
}

// Build compiles the plugin in a directory for [Binary] and returns the path of
// the program.
func Build(t testing.TB, dir string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "plugin")
	if runtime.GOOS == "windows" {
		path += ".exe"
	}
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", path, ".")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("building %s: %v\n%s", dir, err, out)
	}
	return path
}

// within returns the result of f. It fails the test if f does not return within
// patience.
func within[T any](t testing.TB, what string, f func() T) T {
	t.Helper()
	done := make(chan T, 1)
	go func() { done <- f() }()
	select {
	case v := <-done:
		return v
	case <-time.After(patience):
		t.Fatalf("%s: no result within %s", what, patience)
		panic("unreachable")
	}
}

// eventually calls f until it returns no complaint, for at most settle.
func eventually(t testing.TB, f func() string) {
	t.Helper()
	complaint := ""
	for begun := time.Now(); time.Since(begun) < settle; time.Sleep(10 * time.Millisecond) {
		if complaint = f(); complaint == "" {
			return
		}
	}
	t.Error(complaint)
}

// quick checks that the fastest of up to three calls of f takes at most limit.
// A busy machine may be slow once.
func quick(t testing.TB, what string, limit time.Duration, f func() time.Duration) {
	t.Helper()
	best := f()
	for range 2 {
		if best > limit {
			best = min(best, f())
		}
	}
	if best > limit {
		t.Errorf("%s took %s, the limit is %s", what, best.Round(time.Millisecond), limit)
	}
}

// checkTime bounds a check. stopTime bounds the end of the plugin after it.
var (
	checkTime = 3 * time.Minute
	stopTime  = time.Minute
)

// limited runs the check. If it does not return within checkTime, limited fails
// the test, prints the stacks of all goroutines and leaves the check running.
func (c check) limited(t testing.TB, s *subject) {
	t.Helper()
	if !returns(checkTime, func() { c.run(t, s) }) {
		t.Fatalf("check %q did not finish within %s: the plugin's code does not return\n\n%s",
			c.name, checkTime, stacks())
	}
}

// returns reports whether f returns within d.
func returns(d time.Duration, f func()) bool {
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-done:
		return true
	case <-t.C:
		return false
	}
}

// dumpSize is the maximum size of the printed stacks in bytes.
const dumpSize = 256 << 10

// stacks returns the stacks of all goroutines except those of package testing
// and the caller.
func stacks() string {
	text := make([]byte, dumpSize)
	var shown []string
	for _, g := range strings.Split(string(text[:runtime.Stack(text, true)]), "\n\n") {
		if !strings.Contains(g, "plugintest.stacks") && !strings.Contains(g, "testing.(*M).Run") {
			shown = append(shown, g)
		}
	}
	return strings.Join(shown, "\n\n")
}
