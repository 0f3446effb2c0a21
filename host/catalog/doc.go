// Package catalog holds the tools, resources and prompts of all upstreams under the
// names that clients use.
//
// A [Snapshot] is an immutable catalog. Readers load it from an atomic pointer and
// never block. The catalog builds a new snapshot when a server's list arrives. It
// fetches a list if the list is unknown (Ensure), if the server reports a change
// (changebursts.go), or if the list on disk is outdated (store.go). Known lists of servers
// that are not running come from disk, so listing does not start these servers.
//
// Names are resolved only here. An exposed name depends only on the server's prefix
// and on the item's own name (name.go).
//
// Files, from the top: view.go, unmatchedpatterns.go, resource.go, ensure.go, queries.go,
// catalog.go, changebursts.go, refreshes.go, refresh.go, publisher.go, warnings.go, snapshot.go,
// cost.go, corrections.go, changes.go, silent.go, store.go, contents.go, parsed.go, template.go,
// item.go, brokenoutput.go, rejectedschemas.go, access.go, lists.go, pins.go, server.go,
// describe.go, hiddencharacters.go, drift.go, name.go, said.go, paramheaders.go, notifier.go.
package catalog
