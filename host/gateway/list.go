package gateway

import (
	"context"
	"encoding/base64"
	"fmt"
	"strconv"
	"time"

	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/policy"
	"github.com/junctor-mcp/junctor/host/upstream"
)

const (
	// listTTL is how long a modern client may cache a list. A client that needs to know at once listens.
	listTTL = time.Minute
	// pageBytes bounds one page of a list. It is large because some clients read one page only.
	pageBytes = 4 << 20
	// listTime is how long a list waits for servers. It is sent with the items known
	// then; clients are notified when there are more.
	listTime = 900 * time.Millisecond
	// firstListTime is how long a client's first list waits for servers that have
	// not failed so far: many clients never ask again.
	firstListTime = 3 * time.Second
)

// listTools serves tools/list. The methods for lists run on the goroutine of the request. The
// lists are those of the catalog; this file leaves out what the policy denies.
func listTools(ctx context.Context, u *use) (response, error) {
	snapshot, partial := awaitLists(ctx, u, upstream.Tools, toolLists)
	if u.session != nil && mcp.Member(u.params, "cursor") == nil { // further pages may be of a later snapshot
		u.session.shown.list(snapshot.Removals)
	}
	return list(
		u, partial, "tools", policy.Tool, len(snapshot.Tools),
		func(i int) (*catalog.Item, *catalog.Tool) { return &snapshot.Tools[i].Item, snapshot.Tools[i] },
	)
}

func listPrompts(ctx context.Context, u *use) (response, error) {
	snapshot, partial := awaitLists(ctx, u, upstream.Prompts, promptLists)
	return list(
		u, partial, "prompts", policy.Prompt, len(snapshot.Prompts),
		func(i int) (*catalog.Item, *catalog.Tool) { return &snapshot.Prompts[i].Item, nil },
	)
}

func listResources(ctx context.Context, u *use) (response, error) {
	snapshot, partial := awaitLists(ctx, u, upstream.Resources, resourceLists)
	return list(
		u, partial, "resources", policy.Resource, len(snapshot.Resources),
		func(i int) (*catalog.Item, *catalog.Tool) { return snapshot.Resources[i], nil },
	)
}

func listTemplates(ctx context.Context, u *use) (response, error) {
	snapshot, partial := awaitLists(ctx, u, upstream.Templates, resourceLists)
	return list(
		u, partial, "resourceTemplates", policy.Template, len(snapshot.Templates),
		func(i int) (*catalog.Item, *catalog.Tool) { return &snapshot.Templates[i].Item, nil },
	)
}

// awaitLists waits for lists that are not known yet, for a client that asks for a kind of them.
// It reports whether some are still to come. It blocks for at most listTime or firstListTime.
func awaitLists(
	ctx context.Context, u *use, asked upstream.ListKind, need []upstream.ListKind,
) (_ *catalog.Snapshot, partial bool) {
	g := u.gw
	first := u.session.listedFirst()
	soon, cancel := context.WithTimeout(ctx, listTime)
	defer cancel()
	failed := g.catalog.AwaitLists(ctx, soon, need, func(since time.Time) time.Time {
		if first.After(since) {
			since = first
		}
		return since.Add(firstListTime)
	})
	snapshot := g.catalog.Snapshot()
	// Further pages may be of a later snapshot, and another policy may hide other items of this one.
	if u.session != nil && mcp.Member(u.params, "cursor") == nil && u.generation == g.generations.current() &&
		ctx.Err() == nil {
		u.session.sent.add(asked, snapshot)
	}
	return snapshot, len(g.finder.logUnknownLists(ctx, failed)) > 0
}

// listedFirst returns when the client first asked for a list. It is zero for a
// stateless request, whose client may have asked before.
func (s *Session) listedFirst() time.Time {
	if s == nil {
		return time.Time{}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.listed.IsZero() && !s.stateless {
		s.listed = time.Now()
	}
	return s.listed
}

// list composes one page of what the client may see. It sets hidden of u.
func list(
	u *use, partial bool, member string, kind policy.Kind, n int, at func(int) (*catalog.Item, *catalog.Tool),
) (response, error) {
	start, ok := cursorOf(u.params)
	if !ok || start > n {
		return response{}, &rpcError{code: mcp.CodeInvalidParams, message: "the cursor is not one of this list"}
	}
	page := fmt.Appendf(nil, `{%q:[`, member)
	empty := len(page)
	next := n
	for i := start; i < n; i++ {
		item, tool := at(i)
		d := u.generation.list(&u.principal, u, policy.Item{Server: item.Server, Kind: kind, Name: item.Name}, tool)
		if !d.Lists() {
			u.hidden++
			continue
		}
		raw := item.Raw
		if d.Verdict == policy.Depends {
			raw = narrowed(u, tool)
		}
		if tool != nil && !u.modern() {
			raw = tool.ForLegacy(raw)
		}
		if len(page) > empty {
			if len(page)+len(raw) > pageBytes {
				next = i
				break
			}
			page = append(page, ',')
		}
		page = append(page, raw...)
	}
	page = append(page, ']')
	if next < n {
		page = fmt.Appendf(page, `,"nextCursor":%q`, cursor(next))
	}
	if u.modern() {
		ttl := listTTL
		if partial {
			ttl = 0
		}
		page = fmt.Appendf(page, `,"resultType":"complete","ttlMs":%d,"cacheScope":"private"`, ttl.Milliseconds())
	}
	return response{result: append(page, '}')}, nil
}

// cursor returns the text that stands for a place in a list. Clients send it back as they got
// it; its form is private to this file.
func cursor(i int) string {
	return base64.RawURLEncoding.EncodeToString(strconv.AppendInt(nil, int64(i), 10))
}

// cursorOf returns where the page that is asked for begins.
func cursorOf(params []byte) (int, bool) {
	raw := mcp.Member(params, "cursor")
	if raw == nil || string(raw) == "null" {
		return 0, true
	}
	text, ok := mcp.Text(raw)
	if !ok {
		return 0, false
	}
	b, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return 0, false
	}
	i, err := strconv.Atoi(string(b))
	return i, err == nil && i >= 0
}
