package console

import (
	"context"
	"net/http"
	"slices"

	"github.com/junctor-mcp/junctor/host/control"
	"github.com/junctor-mcp/junctor/host/pins"
)

// The differences that a page shows.
const (
	maxHeld      = 50
	maxHeldBytes = 512 << 10 // of their parts in total, except for the first difference
)

// A heldView is the part of a server's page about tools whose definitions were not accepted.
// This file is the part of the pages of servers and plugins where a person accepts definitions
// and programs.
type heldView struct {
	Tools []heldTool
	More  int // further differences
	All   int // tools of Tools that the person may accept together
}

// A heldTool is a tool whose definition is not the accepted one.
type heldTool struct {
	pins.Difference
	Parts []changedPart
}

// Gone reports whether the server has no such tool any more.
func (t heldTool) Gone() bool { return t.Digest == "" }

// New reports whether no definition of the tool was accepted yet.
func (t heldTool) New() bool { return t.Pinned == "" }

// held returns the first differences, within the limits of a page. Tools that are held back
// come before those that are gone.
func (q *request) held(all []pins.Difference) (v heldView) {
	shown := 0
	for i, d := range all {
		size := len(d.Tool)
		for _, m := range d.Members {
			size += len(m.Name) + len(m.Before) + len(m.After)
		}
		if i == maxHeld || i > 0 && shown+size > maxHeldBytes {
			v.More = len(all) - i
			break
		}
		shown += size
		one := heldTool{Difference: d, Parts: partsOf(d.Members)}
		if !one.Gone() && q.hide(d.Tool) == d.Tool {
			v.All++
		}
		v.Tools = append(v.Tools, one)
	}
	return v
}

// acceptTools accepts the definitions that the form names by their digests: those that were
// shown. The goroutine of the request runs it and acceptProgram; they change lock files through
// Sources.
func acceptTools(w http.ResponseWriter, r *http.Request, q *request) error {
	server, tools, digests := r.PostForm.Get("server"), r.PostForm["tool"], r.PostForm["digest"]
	if len(tools) == 0 || len(tools) > maxHeld || len(tools) != len(digests) || slices.Contains(tools, "") ||
		slices.Contains(digests, "") {
		return errForm
	}
	seen := map[string]string{}
	for i, name := range tools {
		seen[name] = digests[i]
	}
	page := "servers"
	if q.serverNamed(r.Context(), server) != nil {
		page = "server" + query("name", server)
	}
	if err := q.sources.Pins.AcceptTools(server, seen, q.session.name()+", in the console"); err != nil {
		return q.done(w, r, page, failure(err))
	}
	q.log.Info("tools are accepted in the console", "server", server, "tools", len(seen), "by", q.session.name())
	text := "Accepted: " + plural(len(seen), "tool") + " of " + server + "."
	if len(seen) == 1 {
		text = "Accepted: tool " + tools[0] + " of " + server + "."
	}
	return q.done(w, r, page, flash{Text: text})
}

// Acceptable reports whether a person may accept the program that is on disk.
func (p Program) Acceptable() bool { return p.Lockable && p.OnDisk != "" && p.OnDisk != p.Pin }

// Replaced reports whether the file is not the program that this process started with.
func (p Program) Replaced() bool { return p.OnDisk != "" && p.OnDisk != p.SHA256 }

// acceptProgram accepts the program of a plugin that the form names by its digest.
func acceptProgram(w http.ResponseWriter, r *http.Request, q *request) error {
	plugin, digest := r.PostForm.Get("plugin"), r.PostForm.Get("digest")
	if plugin == "" || digest == "" {
		return errForm
	}
	if err := q.sources.Programs.AcceptProgram(plugin, digest, q.session.name()+", in the console"); err != nil {
		return q.done(w, r, "plugins", failure(err))
	}
	q.log.Info("the program of a plugin is accepted in the console",
		"plugin", plugin, "sha256", digest, "by", q.session.name())
	return q.done(w, r, "plugins",
		flash{Text: "Accepted: the program of " + plugin + ". Start Junctor again to use it; a configuration that was found in a directory needs junctor trust before."})
}

// serverNamed returns the status of a server of the configuration, or nil.
func (q *request) serverNamed(ctx context.Context, name string) *control.Server {
	for _, s := range q.sources.Process.Status(ctx).Servers {
		if s.Server == name {
			return s
		}
	}
	return nil
}
