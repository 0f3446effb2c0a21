package gateway

import (
	"maps"
	"strings"
	"sync"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/host/fault"
)

// warnings logs each warning once. The Gateway has one. Its methods may be called concurrently.
type warnings struct {
	log hclog.Logger

	mu     sync.Mutex
	logged map[string]bool // guarded by mu; keys of the logged warnings
}

// maxWarnings limits the stored keys of logged warnings.
const maxWarnings = 10_000

func newWarnings(log hclog.Logger) *warnings { return &warnings{log: log, logged: map[string]bool{}} }

// first records the key of a warning. It reports whether the key is new.
func (w *warnings) first(key string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.logged[key] {
		return false
	}
	if len(w.logged) >= maxWarnings {
		clear(w.logged) // a server that renames its tools could go on for ever
	}
	w.logged[key] = true
	return true
}

// loginNeeded reports whether an error asks for a login to a server, and logs that once.
// Clients that call the server get the command to run.
func (w *warnings) loginNeeded(server string, err error) bool {
	if !fault.Is(err, fault.UpstreamLogin) {
		return false
	}
	f := fault.As(err)
	if w.first(loginKey(server) + f.Hint) {
		w.log.Warn("a server needs a login", "server", server, "error", err, "hint", f.Hint)
	}
	return true
}

// loginKey returns the prefix of the warning keys about a login to a server.
func loginKey(server string) string { return "login\x00" + server + "\x00" }

// forgetLogin forgets the warnings about a login to a server that has connected, so that
// a later login is logged again.
func (w *warnings) forgetLogin(server string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	maps.DeleteFunc(w.logged, func(key string, _ bool) bool { return strings.HasPrefix(key, loginKey(server)) })
}
