package host

import (
	"slices"

	"github.com/junctor-mcp/junctor/host/event"
	"github.com/junctor-mcp/junctor/host/feed"
	"github.com/junctor-mcp/junctor/host/logbuffer"
)

// consoleJournal reads the log and the events of the process for the console.
type consoleJournal struct{ *consoleService }

// Records implements [console.Journal].
func (j consoleJournal) Records() []*logbuffer.Record {
	if j.ConsoleOptions.Records == nil {
		return nil
	}
	return newest(j.ConsoleOptions.Records.Read())
}

// Events implements [console.Journal].
func (j consoleJournal) Events() []event.Event { return newest(j.app.events.Read()) }

// newest returns the entries that a feed keeps, the latest first.
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
