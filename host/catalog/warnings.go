package catalog

import (
	"slices"
	"sync"

	"github.com/hashicorp/go-hclog"
)

// warnings log what users should know about the lists of servers, each thing once. A Catalog
// has one. It may be used concurrently.
type warnings struct {
	log hclog.Logger

	mu    sync.Mutex
	notes map[Note]bool   // guarded by mu; configuration notes that were logged
	costs map[string]bool // guarded by mu; servers with a logged cost warning
}

func newWarnings(log hclog.Logger) *warnings {
	return &warnings{log: log, notes: map[Note]bool{}, costs: map[string]bool{}}
}

// forget allows another warning about the cost of a server.
func (w *warnings) forget(server string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.costs, server)
}

// cost logs the cost note of a server once.
func (w *warnings) cost(shown *Snapshot, server string) {
	text := CostNote(slices.DeleteFunc(slices.Clone(shown.Tools), func(t *Tool) bool { return t.Server != server }))
	if text == "" {
		return
	}
	w.mu.Lock()
	logged := w.costs[server]
	w.costs[server] = true
	w.mu.Unlock()
	if !logged {
		w.log.Warn("the tools of a server use many tokens", "server", server, "why", text)
	}
}

// maxLoggedNotes is the maximum number of remembered notes.
const maxLoggedNotes = 1000

// config logs each note about the configuration once.
func (w *warnings) config(shown *Snapshot) {
	var fresh []Note
	w.mu.Lock()
	for _, n := range shown.Notes {
		if n.At != "" && !w.notes[n] && len(w.notes) < maxLoggedNotes {
			w.notes[n] = true
			fresh = append(fresh, n)
		}
	}
	w.mu.Unlock()
	for _, n := range fresh {
		args := []any{"server", n.Server, "problem", n.Text, "at", n.At}
		if n.Hint != "" {
			args = append(args, "hint", n.Hint)
		}
		w.log.Warn("the configuration does not match a server", args...)
	}
}

// warnedSchemas is the maximum number of warnings about schemas for one list.
const warnedSchemas = 10

// refused logs the tools of a server with rejected schemas.
func (w *warnings) refused(s *Server, l *lists) {
	n := 0
	for _, o := range l.parse(s).tools {
		if o.item == nil || o.item.Refused.reason() == "" {
			continue
		}
		if n++; n <= warnedSchemas {
			w.log.Warn("the schema of a tool is rejected",
				"server", s.Name, "tool", o.item.Name, "error", o.item.Refused.reason())
		}
	}
	if n > warnedSchemas {
		w.log.Warn("more schemas of the server are rejected", "server", s.Name, "tools", n-warnedSchemas)
	}
}
