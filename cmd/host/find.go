package main

import (
	"context"
	"maps"
	"sort"
	"strings"

	"github.com/agext/levenshtein"

	"github.com/junctor-mcp/junctor/host"
	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/fault"
)

// split takes SERVER/NAME apart, when what stands before the slash is a
// configured server.
func split(app *host.App, word string) (server, name string, ok bool) {
	server, name, ok = strings.Cut(word, "/")
	if !ok {
		return "", word, false
	}
	for _, s := range app.Config.Servers {
		if s.Name == server {
			return server, name, true
		}
	}
	return "", word, false
}

// find looks something up in the catalog: with what is known, then after
// asking the servers it could belong to, then after asking all of them.
func find[T any](ctx context.Context, app *host.App, word string, look func(s *catalog.Snapshot, server, name string) (T, bool)) (T, error) {
	server, name, named := split(app, word)
	var none T
	if named {
		if err := enabled(app, server); err != nil {
			return none, err
		}
	}
	first := []string{server}
	if !named {
		first = byPrefix(app, word)
	}
	if len(first) > 0 {
		if failed := app.Catalog.Ensure(ctx, first...); len(failed) == len(first) {
			return none, failed[first[0]]
		}
	}
	if v, ok := look(app.Catalog.Snapshot(), server, name); ok {
		return v, nil
	}
	var failed map[string]error
	if named {
		// What the server offers may have changed since it was asked last.
		failed = app.Catalog.Refresh(ctx, server)
	} else {
		failed = app.Catalog.Ensure(ctx)
		if doubtful := app.Catalog.Doubtful(name); len(doubtful) > 0 {
			if _, ok := look(app.Catalog.Snapshot(), server, name); !ok {
				maps.Copy(failed, app.Catalog.Refresh(ctx, doubtful...))
			}
		}
	}
	if v, ok := look(app.Catalog.Snapshot(), server, name); ok {
		return v, nil
	}
	for _, err := range failed {
		return none, err // it could be what the server that failed has
	}
	return none, nil
}

// byPrefix guesses which servers to ask first for an exposed name. It is only
// about order: what a name means is looked up, not guessed.
func byPrefix(app *host.App, exposed string) []string {
	var names []string
	for _, s := range app.Config.Servers {
		if s.Enabled && s.Prefix != "" && strings.HasPrefix(exposed, s.Prefix+"__") {
			names = append(names, s.Name)
		}
	}
	return names
}

func enabled(app *host.App, server string) error {
	for _, s := range app.Config.Servers {
		if s.Name == server && !s.Enabled {
			return &fault.Error{Code: fault.UpstreamDisabled, Message: "the server is disabled", Server: server, At: s.At.String(),
				Hint: "remove enabled = false from its block"}
		}
	}
	return nil
}

// findTool finds a tool by the name a person typed.
func (e *env) findTool(ctx context.Context, app *host.App, word string) (*catalog.Tool, error) {
	t, err := find(ctx, app, word, func(s *catalog.Snapshot, server, name string) (*catalog.Tool, bool) {
		if server != "" {
			return s.OwnTool(server, name)
		}
		return s.Tool(name)
	})
	if err != nil || t != nil {
		return t, err
	}
	var names []string
	for _, t := range app.Catalog.Snapshot().Tools {
		names = append(names, t.Exposed, t.Server+"/"+t.Name)
	}
	return nil, unknown("tool", word, names, "junctor tools lists them")
}

// findPrompt finds a prompt by the name a person typed.
func (e *env) findPrompt(ctx context.Context, app *host.App, word string) (*catalog.Prompt, error) {
	p, err := find(ctx, app, word, func(s *catalog.Snapshot, server, name string) (*catalog.Prompt, bool) {
		if server != "" {
			return s.OwnPrompt(server, name)
		}
		return s.Prompt(name)
	})
	if err != nil || p != nil {
		return p, err
	}
	var names []string
	for _, p := range app.Catalog.Snapshot().Prompts {
		names = append(names, p.Exposed, p.Server+"/"+p.Name)
	}
	return nil, unknown("prompt", word, names, "junctor prompts lists them")
}

func unknown(kind, word string, names []string, hint string) error {
	f := fault.New(fault.NameUnknown, "there is no %s %q", kind, word)
	if best := nearest(word, names); best != "" {
		hint = "did you mean " + best + "? " + hint
	}
	return f.WithHint("%s", hint)
}

// nearest returns the name that a mistyped one was probably meant to be.
func nearest(word string, names []string) string {
	type candidate struct {
		name string
		far  int
	}
	var all []candidate
	for _, n := range names {
		far := levenshtein.Distance(word, n, nil)
		if _, own, ok := strings.Cut(n, "__"); ok {
			far = min(far, levenshtein.Distance(word, own, nil)+1)
		}
		if far <= max(2, len(word)/3) {
			all = append(all, candidate{n, far})
		}
	}
	if len(all) == 0 {
		return ""
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].far < all[j].far })
	return all[0].name
}

// serverNamed returns a server block, or a fault with a suggestion.
func serverNamed(app *host.App, name string) (*config.Server, error) {
	var names []string
	for _, s := range app.Config.Servers {
		if s.Name == name {
			return s, enabled(app, name)
		}
		names = append(names, s.Name)
	}
	f := fault.New(fault.UpstreamUnknown, "there is no server %q", name)
	hint := "junctor status lists them"
	if best := nearest(name, names); best != "" {
		hint = "did you mean " + best + "? " + hint
	}
	return nil, f.WithHint("%s", hint)
}

// wanted returns the servers that a verb is about: those named, or all that
// are enabled.
func wanted(app *host.App, names []string) ([]*config.Server, error) {
	var list []*config.Server
	if len(names) == 0 {
		for _, s := range app.Config.Servers {
			if s.Enabled {
				list = append(list, s)
			}
		}
		return list, nil
	}
	for _, name := range names {
		s, err := serverNamed(app, name)
		if err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	return list, nil
}

func namesOf(servers []*config.Server) []string {
	var names []string
	for _, s := range servers {
		names = append(names, s.Name)
	}
	return names
}
