package source

import (
	"slices"

	"github.com/junctor-mcp/junctor/host/event"
	"github.com/junctor-mcp/junctor/host/feed"
	"github.com/junctor-mcp/junctor/host/logbuffer"
)

// A journal reads the log and the events of a process.
type journal struct{ *Process }

// Records implements [console.Journal].
func (j journal) Records() []*logbuffer.Record {
	if j.Process.Records == nil {
		return nil
	}
	return newest(j.Process.Records.Read())
}

// Events implements [console.Journal].
func (j journal) Events() []event.Event { return newest(j.Process.Events.Read()) }

// newest returns the entries that a feed keeps, the latest first. It does not wait.
func newest[T any](r *feed.Reader[T]) (all []T) {
	for range maxJournal {
		item, ok := r.Next()
		if !ok {
			break
		}
		all = append(all, item.Value)
	}
	slices.Reverse(all)
	return all
}

// maxJournal bounds the entries that a page reads while others are added.
const maxJournal = 4096
