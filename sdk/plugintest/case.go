package plugintest

import (
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/sdk"
)

// Canary is a secret that nobody may print. Settings, answers to prompts and
// stored secrets should hold it where a real secret would stand; the questions
// then look for it in everything that the plugin logs, prints and returns as an
// error.
const Canary = "canary-8d1f5b2e-do-not-print"

// How long a question waits for what should come at once, for what was used to
// be given back, and for a provider to notice that it was cancelled.
var (
	patience    = 20 * time.Second
	settle      = 5 * time.Second
	interrupted = 2 * time.Second
)

// A Case says how to try one thing that a plugin offers. It is a [Transport], an
// [Auth] or a [Store].
type Case interface {
	questions() []question
}

// A Transport is a case for one of a plugin's transports.
type Transport struct {
	Name string // as in sdk.Plugin.Transports

	// Peer starts something that the transport can connect to, many times, and
	// that sends every message back as it is, unless the transport Serves. It
	// is called once in each question that connects and should clean up after itself with t.Cleanup.
	// See [EchoCommand] and [EchoServer].
	Peer func(t testing.TB) Peer

	// Hang returns settings with which Open waits until it is cancelled: for a
	// peer that accepts and never answers. Without it, Open is cancelled while
	// it connects to Peer, which finds less.
	Hang func(t testing.TB) string

	// Apart says that requests travel side by side, as over HTTP, so that only
	// notifications arrive in the order in which they were sent.
	Apart bool

	// Serves says that the transport is the server itself, so that nothing
	// comes back as it was. It is asked "ping", in all sizes and from many
	// sides, and must answer each once; what is asked of a relay is not asked.
	Serves bool

	// Refused are settings that must be refused.
	Refused []Refusal

	// Host is what the host does for the transport; nil grants nothing.
	Host *Host
}

// A Peer is what a transport connects to.
type Peer struct {
	Settings string   // JSON; hold [Canary] in a sensitive setting, if there is one
	Env      []string // sdk.Server.Env
	Die      func()   // makes the peer go away, with every connection to it; may be nil
}

// An Auth is a case for one of a plugin's auth providers.
type Auth struct {
	Name     string // as in sdk.Plugin.Auths
	Settings string // JSON; hold [Canary] in a sensitive setting, if there is one
	Refused  []Refusal

	// Host returns what the host does for the provider: a new one each time.
	// Nil grants nothing.
	Host func(t testing.TB) *Host

	// Hang returns settings with which Authorize waits until it is cancelled:
	// for a token endpoint that accepts and never answers. Without it nothing
	// shows that the provider can be interrupted.
	Hang func(t testing.TB) string

	// Login says that a person must log in first. Until then Authorize is
	// expected to fail with the code NeedsLogin.
	Login bool
	// Account is who is logged in then; empty is not checked.
	Account string

	// Request is what the credential is for, and Want what it must hold, at
	// the least.
	Request sdk.AuthRequest
	Want    sdk.Credential
}

// A Refusal is settings that must be refused and the paths that the complaint
// must name, as in url, headers["Host"] or retry[0].max.
type Refusal struct {
	Settings string
	Paths    []string
}

// A question is asked of a fresh plugin.
type question struct {
	name string
	ask  func(t testing.TB, s *subject)
}

// InProcess asks everything that can be asked of a plugin within the test.
func InProcess(t *testing.T, p *sdk.Plugin, cases ...Case) {
	t.Helper()
	askAll(t, inProcess(p), cases)
}

// Binary asks everything of a plugin's program. See [Build].
func Binary(t *testing.T, path string, cases ...Case) {
	t.Helper()
	path, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	askAll(t, program(path), cases)
}

func askAll(t *testing.T, s *subject, cases []Case) {
	t.Helper()
	for _, q := range commonQuestions() {
		t.Run(q.name, func(t *testing.T) { q.limited(t, s) })
	}
	for _, c := range cases {
		for _, q := range c.questions() {
			t.Run(q.name, func(t *testing.T) { q.limited(t, s) })
		}
	}
}

// Build compiles the program in a directory for [Binary] and returns its path.
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

// within runs f, which may wait for the plugin, but not for ever.
func within[T any](t testing.TB, what string, f func() T) T {
	t.Helper()
	done := make(chan T, 1)
	go func() { done <- f() }()
	select {
	case v := <-done:
		return v
	case <-time.After(patience):
		t.Fatalf("%s: nothing for %s", what, patience)
		panic("unreachable")
	}
}

// eventually waits, at most settle, until f has nothing left to complain about.
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

// quick says that f took at most limit at its best of three times: a busy
// machine may be slow once, but a plugin that waits is slow always.
func quick(t testing.TB, what string, limit time.Duration, f func() time.Duration) {
	t.Helper()
	best := f()
	for range 2 {
		if best > limit {
			best = min(best, f())
		}
	}
	if best > limit {
		t.Errorf("%s took %s, at most %s is right", what, best.Round(time.Millisecond), limit)
	}
}
