package gateway

import (
	"sync"

	"github.com/junctor-mcp/junctor/host/upstream"
)

// clientWaits counts the questions of each server that wait for the answer of a client. The
// Gateway has one. Its methods may be called concurrently.
type clientWaits struct {
	mu sync.Mutex
	of map[*upstream.Upstream]int // guarded by mu
}

// begin counts a question of a server until end is called.
func (w *clientWaits) begin(u *upstream.Upstream) (end func()) {
	w.add(u, 1)
	return func() { w.add(u, -1) }
}

func (w *clientWaits) add(u *upstream.Upstream, n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.of == nil {
		w.of = map[*upstream.Upstream]int{}
	}
	if w.of[u] += n; w.of[u] == 0 {
		delete(w.of, u)
	}
}

// WaitsForClient reports whether a question of a server waits for the answer of a
// client, and so perhaps for a person. A question waits at most AskTime. The reload of the
// configuration asks before it closes a replaced upstream.
func (g *Gateway) WaitsForClient(u *upstream.Upstream) bool {
	g.clientWaits.mu.Lock()
	defer g.clientWaits.mu.Unlock()
	return g.clientWaits.of[u] > 0
}
