// Package feed keeps the newest entries of a stream in memory, for any number of
// readers.
//
// Packages event and logbuffer have a [Feed] each; the control socket and the console make a
// [Reader] for each program that watches. A slow reader loses entries and never delays a writer.
package feed

import (
	"context"
	"sync"
)

// A Feed keeps the newest entries that were added to it. Its methods may be called
// concurrently. Add never waits for a reader.
type Feed[T any] struct {
	maxEntries, maxBytes int
	size                 func(T) int

	mu      sync.Mutex
	entries []T           // guarded by mu; the entries from dropped on are kept, oldest first
	dropped int           // guarded by mu; entries at the beginning of entries that are not kept
	bytes   int           // guarded by mu; of the kept entries
	first   uint64        // guarded by mu; number of the oldest kept entry
	more    chan struct{} // guarded by mu; closed at the next entry; nil if no reader waits
}

// New returns a Feed that keeps at most maxEntries entries and maxBytes bytes. size
// returns the bytes of an entry. An entry of more than maxBytes is kept alone.
func New[T any](maxEntries, maxBytes int, size func(T) int) *Feed[T] {
	return &Feed[T]{maxEntries: maxEntries, maxBytes: maxBytes, size: size, first: 1}
}

// Add adds an entry and drops the oldest ones above the limits.
func (f *Feed[T]) Add(v T) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.entries = append(f.entries, v)
	f.bytes += f.size(v)
	for n := f.kept(); n > f.maxEntries || n > 1 && f.bytes > f.maxBytes; n-- {
		f.dropOldest()
	}
	if f.dropped > len(f.entries)/2 {
		n := copy(f.entries, f.entries[f.dropped:])
		clear(f.entries[n:])
		f.entries, f.dropped = f.entries[:n], 0
	}
	if f.more != nil {
		close(f.more)
		f.more = nil
	}
}

// kept returns the number of kept entries. The caller holds mu.
func (f *Feed[T]) kept() int { return len(f.entries) - f.dropped }

// dropOldest drops the oldest kept entry. The caller holds mu.
func (f *Feed[T]) dropOldest() {
	var none T
	f.bytes -= f.size(f.entries[f.dropped])
	f.entries[f.dropped] = none // releases its memory
	f.dropped++
	f.first++
}

// An Item is an entry as a reader gets it.
type Item[T any] struct {
	Number uint64 // 1 for the first entry of the Feed
	Value  T
	Missed uint64 // entries before this one that were dropped before they were read
}

// A Reader reads the entries of a Feed in order. One goroutine uses it.
type Reader[T any] struct {
	feed *Feed[T]
	next uint64 // number of the next entry
}

// Read returns a Reader that begins with the oldest kept entry. A Reader keeps nothing
// in memory and need not be closed: what it does not read in time is dropped.
func (f *Feed[T]) Read() *Reader[T] {
	f.mu.Lock()
	defer f.mu.Unlock()
	return &Reader[T]{feed: f, next: f.first}
}

// Next returns the next entry. ok is false if there is none yet.
func (r *Reader[T]) Next() (item Item[T], ok bool) {
	r.feed.mu.Lock()
	defer r.feed.mu.Unlock()
	return r.take()
}

// take is Next. The caller holds mu.
func (r *Reader[T]) take() (item Item[T], ok bool) {
	f := r.feed
	if r.next < f.first {
		item.Missed, r.next = f.first-r.next, f.first
	}
	at := f.dropped + int(r.next-f.first)
	if at >= len(f.entries) {
		return Item[T]{}, false
	}
	item.Number, item.Value = r.next, f.entries[at]
	r.next++
	return item, true
}

// Wait returns the next entry. It waits for it until ctx ends.
func (r *Reader[T]) Wait(ctx context.Context) (Item[T], error) {
	for {
		r.feed.mu.Lock()
		item, ok := r.take()
		if !ok && r.feed.more == nil {
			r.feed.more = make(chan struct{})
		}
		more := r.feed.more
		r.feed.mu.Unlock()
		if ok {
			return item, nil
		}
		select {
		case <-more:
		case <-ctx.Done():
			return Item[T]{}, ctx.Err()
		}
	}
}
