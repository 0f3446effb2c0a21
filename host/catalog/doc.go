// Package catalog is everything the upstreams offer, under the names the host
// gives it.
//
// A [Snapshot] is an immutable catalog at one moment; readers take it from an
// atomic pointer and never wait. The catalog makes a new one when a list of a
// server arrives: asked for because nobody knows it yet (Ensure), because the
// server said that it changed (change.go), or because what was read from disk
// at the start is no longer believed (store.go). Items of servers that are not
// running come from disk, so that lists answer with nothing started.
//
// Names are looked up here in both directions and parsed nowhere. A name
// depends on its server's prefix and on itself, on nothing else (name.go).
package catalog
