// Package items finds the tools, resources, prompts and servers that the words of a command line
// name, waits for the lists of servers, and completes names.
//
// Files, from the top: complete.go, lists.go, find.go, awaitlists.go, waiting.go, servers.go.
//
// complete.go completes words for shells. lists.go has what the verbs tools, resources and prompts
// share; awaitlists.go and waiting.go wait for lists, and find.go looks one item up in them.
// servers.go connects to servers for verbs that show their state.
//
// The callers are verbs. The functions read the app, which is safe for concurrent use, and print
// with the invocation, so they are for the goroutine of the verb. They keep nothing between calls.
package items

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/cmd/host/invocation"
	"github.com/junctor-mcp/junctor/cmd/host/verb"
	"github.com/junctor-mcp/junctor/host"
	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/suggest"
	"github.com/junctor-mcp/junctor/host/upstream"
)

// split splits SERVER/NAME if the part before the slash is a configured server.
func split(app *host.App, word string) (server, name string, ok bool) {
	server, name, ok = strings.Cut(word, "/")
	if !ok {
		return "", word, false
	}
	for _, s := range app.Config().Servers {
		if s.Name == server {
			return server, name, true
		}
	}
	return "", word, false
}

// SplitResource is split for resources. It also accepts @SERVER:URI, which many clients use in
// prompts. URIs cannot begin with "@".
func SplitResource(app *host.App, word string) (server, uri string, named bool, err error) {
	short, ok := strings.CutPrefix(word, "@")
	if !ok {
		server, uri, named = split(app, word)
		if named {
			err = Enabled(app, server)
		}
		return server, uri, named, err
	}
	server, uri, ok = strings.Cut(short, ":")
	if !ok || uri == "" {
		return "", "", false, fault.New(fault.Usage, "%q names no resource", word).
			WithHint("write @SERVER:URI or SERVER/URI")
	}
	_, err = ServerNamed(app, server)
	return server, uri, true, err
}

// find looks up an item of the lists in need in the catalog. If it is unknown, find asks the servers that can
// have it by their prefixes, and no others.
func find[T any](ctx context.Context, app *host.App, word string, need []upstream.ListKind,
	look func(s *catalog.Snapshot, server, name string) (T, bool)) (T, error) {
	server, name, named := split(app, word)
	var none T
	owners, prefixed := possibleServers(app, word)
	if named {
		if err := Enabled(app, server); err != nil {
			return none, err
		}
		owners = []string{server}
	}
	if !named && !prefixed {
		if v, ok := look(app.Catalog.Snapshot(), server, name); ok {
			return v, nil
		}
	}
	failed := Ask(ctx, app.Catalog.EnsureLists, need, owners)
	if v, ok := look(app.Catalog.Snapshot(), server, name); ok {
		return v, nil
	}
	// The cached list may be older than the last change of the server.
	var stale []string
	for _, s := range owners {
		if failed[s] == nil && !app.Catalog.Fresh(s) {
			stale = append(stale, s)
		}
	}
	maps.Copy(failed, Ask(ctx, app.Catalog.RefreshLists, need, stale))
	if v, ok := look(app.Catalog.Snapshot(), server, name); ok {
		return v, nil
	}
	left := AwaitLists(ctx, app, owners,
		func() bool { _, ok := look(app.Catalog.Snapshot(), server, name); return ok }, nil)
	if v, ok := look(app.Catalog.Snapshot(), server, name); ok {
		return v, nil
	}
	if len(left) > 0 {
		return none, unfinishedError(app, left[0]) // the item may be in the rest of this list
	}
	if prefix, _, ok := strings.Cut(word, separator); ok && !named && !prefixed {
		if err := Enabled(app, prefix); err != nil {
			return none, err
		}
	}
	for _, s := range owners {
		if failed[s] != nil {
			return none, failed[s] // this server may have the item
		}
	}
	return none, nil
}

// separator is between the prefix of a server and the item's own name.
const separator = "__"

// possibleServers returns the enabled servers that can have an exposed name: the one with its prefix,
// or all without a prefix. Prefixes are unambiguous.
func possibleServers(app *host.App, exposed string) (names []string, prefixed bool) {
	for _, s := range app.Config().Servers {
		switch {
		case !s.Enabled:
		case s.Prefix == "":
			names = append(names, s.Name)
		case strings.HasPrefix(exposed, s.Prefix+separator):
			return []string{s.Name}, true
		}
	}
	return names, false
}

func Enabled(app *host.App, server string) error {
	for _, s := range app.Config().Servers {
		switch {
		case s.Name != server || s.Enabled:
		case s.Blocked != "":
			message, hint := s.WhyBlocked()
			return &fault.Error{Code: fault.UpstreamDisabled, Message: message, Server: server,
				At: s.At.String(), Hint: hint}
		default:
			return &fault.Error{
				Code: fault.UpstreamDisabled, Message: "the server is disabled", Server: server, At: s.At.String(),
				Hint: "remove enabled = false from its block",
			}
		}
	}
	return nil
}

// FindTool finds a tool by the name that the user typed.
func FindTool(ctx context.Context, inv *invocation.Invocation, app *host.App, word string) (*catalog.Tool, error) {
	t, err := find(ctx, app, word, ToolLists, func(s *catalog.Snapshot, server, name string) (*catalog.Tool, bool) {
		if server != "" {
			return s.OwnTool(server, name)
		}
		return s.Tool(name)
	})
	if err != nil || t != nil {
		return t, err
	}
	if err := omitted(app, word); err != nil {
		return nil, err
	}
	return nil, unknown(ctx, app, "tool", word, func() (names []string) {
		for _, t := range app.Catalog.Snapshot().Tools {
			names = append(names, t.Exposed, t.Server+"/"+t.Name)
		}
		return names
	})
}

// omitted returns the fault for a tool that the server has but that is not offered, or nil.
func omitted(app *host.App, word string) error {
	server, name, _ := split(app, word)
	why, ok := app.Catalog.Snapshot().Omitted(server, name)
	switch {
	case !ok:
		return nil
	case why.Held:
		return &fault.Error{Code: fault.ToolHeld, Message: why.Text, Server: why.Server, Hint: why.Hint}
	case why.At != "":
		return &fault.Error{Code: fault.ConfigInvalid, Message: why.Text, Server: why.Server, At: why.At,
			Hint: why.Hint}
	}
	return &fault.Error{Code: fault.UpstreamUnsupported, Message: why.Text, Server: why.Server}
}

// FindPrompt finds a prompt by the name that the user typed.
func FindPrompt(ctx context.Context, inv *invocation.Invocation, app *host.App, word string) (*catalog.Prompt, error) {
	p, err := find(ctx, app, word, PromptLists, func(s *catalog.Snapshot, server, name string) (*catalog.Prompt, bool) {
		if server != "" {
			return s.OwnPrompt(server, name)
		}
		return s.Prompt(name)
	})
	if err != nil || p != nil {
		return p, err
	}
	return nil, unknown(ctx, app, "prompt", word, func() (names []string) {
		for _, p := range app.Catalog.Snapshot().Prompts {
			names = append(names, p.Exposed, p.Server+"/"+p.Name)
		}
		return names
	})
}

// unknown returns the fault for an unknown name. If the server is unknown too, it fetches the
// lists of all servers for a suggestion.
func unknown(ctx context.Context, app *host.App, kind, word string, names func() []string) error {
	best := nearestItem(word, names())
	hint := "run `junctor " + kind + "s` to list them"
	if _, err := ServerNamed(app, word); err == nil {
		return fault.New(fault.NameUnknown, "there is no %s %q", kind, word).
			WithHint("it is a server: write %s/NAME; `junctor %ss %s` lists its %ss", word, kind, word, kind)
	}
	_, _, named := split(app, word)
	if _, prefixed := possibleServers(app, word); best == "" && !named && !prefixed {
		failed := app.Catalog.EnsureLists(ctx,
			map[string][]upstream.ListKind{"tool": ToolLists, "prompt": PromptLists}[kind])
		best = nearestItem(word, names())
		if len(failed) > 0 {
			hint += "; these servers could not be asked: " + strings.Join(slices.Sorted(maps.Keys(failed)), ", ")
		}
	}
	return verb.WithSuggestion(fault.New(fault.NameUnknown, "there is no %s %q", kind, word), best, hint)
}

// nearestItem returns the name that is most similar to a mistyped one. Names are compared
// with and without their prefix, and as SERVER/NAME.
func nearestItem(word string, names []string) string {
	whole := map[string]string{} // by compared text
	var compared []string
	add := func(text, name string) {
		if _, taken := whole[text]; !taken {
			whole[text] = name
			compared = append(compared, text)
		}
	}
	for _, n := range names {
		add(n, n)
	}
	for _, n := range names {
		if _, own, ok := strings.Cut(n, separator); ok {
			add(own, n)
		}
	}
	return whole[suggest.Nearest(word, compared)]
}

// ServerNamed returns a server block, or a fault with a suggestion.
func ServerNamed(app *host.App, name string) (*config.Server, error) {
	var names []string
	for _, s := range app.Config().Servers {
		if s.Name == name {
			return s, Enabled(app, name)
		}
		names = append(names, s.Name)
	}
	return nil, verb.WithSuggestion(fault.New(fault.UpstreamUnknown, "there is no server %q", name),
		suggest.Nearest(name, names), "run `junctor status` to list the servers")
}

// Wanted returns the named servers, or all enabled ones.
func Wanted(app *host.App, names []string) ([]*config.Server, error) {
	var list []*config.Server
	if len(names) == 0 {
		for _, s := range app.Config().Servers {
			if s.Enabled {
				list = append(list, s)
			}
		}
		return list, nil
	}
	for _, name := range names {
		s, err := ServerNamed(app, name)
		if err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	return list, nil
}

func NamesOf(servers []*config.Server) []string {
	var names []string
	for _, s := range servers {
		names = append(names, s.Name)
	}
	return names
}
