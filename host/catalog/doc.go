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
// Package host makes one Catalog for a process, sets its servers at each reload and stops it.
// The gateway, the command line, the console and package policy/check read snapshots, all
// values of which are immutable and may be shared; they must not change a byte of Raw. The
// types with methods for several goroutines say so; the others belong to the goroutine that
// builds a snapshot. refreshes.mu may be held when publisher.mu is taken, not the other way
// round.
//
// catalog.go, server.go, said.go, ensure.go and queries.go are what other packages call.
// refreshes.go, refresh.go and changebursts.go ask servers; publisher.go, contents.go, lists.go
// and notifier.go hold the answers and tell of them; snapshot.go, parsed.go, resource.go,
// item.go, template.go, view.go, describe.go, hiddencharacters.go, paramheaders.go and name.go
// make the catalog of them. store.go and silent.go are the files on disk. pins.go, drift.go,
// changes.go, brokenoutput.go, rejectedschemas.go and access.go judge definitions; warnings.go,
// cost.go, corrections.go and unmatchedpatterns.go tell users.
//
// Exposed names, members of _meta that begin with junctor/, digests of definitions and the
// format on disk (storeVersion) are kept by clients, lock files and later releases: they must
// stay.
//
// Files, from the top: view.go, unmatchedpatterns.go, resource.go, ensure.go, queries.go,
// catalog.go, changebursts.go, refreshes.go, refresh.go, publisher.go, warnings.go, snapshot.go,
// cost.go, corrections.go, changes.go, silent.go, store.go, contents.go, parsed.go, template.go,
// item.go, brokenoutput.go, rejectedschemas.go, access.go, lists.go, pins.go, server.go,
// describe.go, hiddencharacters.go, drift.go, name.go, said.go, paramheaders.go, notifier.go.
package catalog
