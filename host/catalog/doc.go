// Package catalog holds the tools, resources and prompts of all upstreams under the
// names that clients use.
//
// A [Snapshot] is an immutable catalog. Readers load it from an atomic pointer and
// never block. The catalog builds a new snapshot when a server's list arrives: because
// the list was unknown (Ensure), because the server reported a change (change.go), or
// because the list on disk was outdated (store.go). Lists of servers that are not
// running come from disk, so listing starts no server.
//
// Names are resolved only here. An exposed name depends only on the server's prefix
// and on the item's own name (name.go).
package catalog
