package upstream

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/mcp"
)

// Bounds of a list that a server may send in pages.
const (
	listPages = 1000
	listItems = 10_000
	listBytes = 32 << 20
	listTime  = 30 * time.Second
)

// A Listing is a list of a server, whole, its items as they came.
type Listing struct {
	Items [][]byte
	TTL   time.Duration // how long the server says it stays so; 0: it does not
	// Degraded says why there may be more than what stands here.
	Degraded string
	Failed   error // when that is because asking for it, or for a page, failed
	// Unfinished says how far a server is that is still finding out what it has;
	// nil: the list is all there is.
	Unfinished *Unfinished
}

// An Unfinished list is followed by a notification that it changed.
type Unfinished struct {
	Known int  `json:"known"`           // of Total, so much has been looked at
	Total int  `json:"total"`           // 0: not known yet
	Ended bool `json:"ended,omitempty"` // the server goes on when it is started again
}

// unfinishedMeta is the name under which a server says in _meta of a list that it
// is Unfinished.
const unfinishedMeta = "junctor/unfinished"

// A ListKind is one of the lists that servers have.
type ListKind struct {
	Method     string // that asks for it
	Member     string // of the result that holds it
	Capability string // of a server that has it
	Changed    string // the notification that it changed
}

// The lists that servers have.
var (
	Tools     = ListKind{mcp.MethodListTools, "tools", "tools", mcp.NoteToolsChanged}
	Resources = ListKind{mcp.MethodListRes, "resources", "resources", mcp.NoteResChanged}
	Templates = ListKind{mcp.MethodListTempl, "resourceTemplates", "resources", mcp.NoteResChanged}
	Prompts   = ListKind{mcp.MethodListPrompts, "prompts", "prompts", mcp.NotePromptsChanged}
)

// List asks the server for a list, page by page, connecting when need be. A
// server without the capability has an empty one, one that misbehaves a shorter
// one. An error is about the connection.
func (u *Upstream) List(ctx context.Context, kind ListKind) (Listing, error) {
	c, err := u.get(ctx, ForList)
	if err != nil {
		return Listing{}, err
	}
	defer u.put()
	if !capable(c.capabilities, kind.Capability) {
		return Listing{}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, listTime)
	defer cancel()
	var l Listing
	var cursor []byte
	seen := map[string]bool{}
	size := 0
	for page := 0; ; page++ {
		result, err := u.page(ctx, kind, cursor)
		if err != nil && listFault(err) {
			l.Failed, l.Degraded = err, "asking failed: "+withoutMethod(kind.Method, fault.As(err).Message)
			return l, nil
		}
		if err != nil {
			return Listing{}, err
		}
		for item := range mcp.Elements(mcp.Member(result, kind.Member)) {
			if size += len(item); len(l.Items) >= listItems || size > listBytes {
				l.Degraded = fmt.Sprintf("it has more than %d items or %d bytes", listItems, listBytes)
				return l, nil
			}
			// A copy of its own, so that one tool does not keep a page alive.
			l.Items = append(l.Items, bytes.Clone(item))
		}
		l.TTL = ttl(result)
		if u := unfinished(result); u != nil {
			l.Unfinished = u
		}
		cursor = mcp.Member(result, "nextCursor")
		switch {
		case len(cursor) == 0 || cursor[0] != '"':
			return l, nil
		case seen[string(cursor)]:
			l.Degraded = "cursor_loop"
			return l, nil
		case page+1 >= listPages:
			l.Degraded = fmt.Sprintf("it has more than %d pages", listPages)
			return l, nil
		}
		if size += len(cursor); size > listBytes {
			l.Degraded = fmt.Sprintf("its cursors have more than %d bytes", listBytes)
			return l, nil
		}
		seen[string(cursor)] = true
	}
}

// withoutMethod is a message that does not name the list it is about, so that
// several lists that failed alike say the same.
func withoutMethod(method, message string) string {
	if rest, ok := strings.CutPrefix(message, method+": "); ok {
		return rest
	}
	if rest, ok := strings.CutPrefix(message, method+" "); ok {
		return "it " + rest
	}
	return message
}

// listFault reports whether an error is about one list: the server answered it
// with an error or with nonsense, or not at all.
func listFault(err error) bool {
	switch fault.As(err).Code {
	case fault.UpstreamError, fault.UpstreamBadMessage, fault.UpstreamTooLarge, fault.CallTimeout:
		return true
	}
	return false
}

func (u *Upstream) page(ctx context.Context, kind ListKind, cursor []byte) ([]byte, error) {
	var params []byte
	if cursor != nil {
		params = mcp.SetMember(nil, "cursor", cursor)
	}
	reply, err := u.Ask(ctx, kind.Method, params)
	if err != nil {
		return nil, err
	}
	if reply.Error == nil {
		return reply.Result, nil
	}
	var e struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	}
	_ = mcp.Decode(reply.Error, &e)
	if e.Code == mcp.CodeMethodNotFound {
		return []byte("{}"), nil // it said it could; an empty list it is
	}
	return nil, fault.In(u.opts.Name, fault.New(fault.UpstreamError, "%s: %s (%d)", kind.Method, e.Message, e.Code))
}

// unfinished reads what a server says of a list that is not complete. One that
// says what makes no sense is not waited for.
func unfinished(result []byte) *Unfinished {
	raw := mcp.Member(result, "_meta", unfinishedMeta)
	if len(raw) == 0 || raw[0] != '{' {
		return nil
	}
	var u Unfinished
	if mcp.Decode(raw, &u) != nil || u.Known < 0 || u.Total < u.Known || u.Total > listItems {
		return &Unfinished{Ended: true}
	}
	return &u
}

func ttl(result []byte) time.Duration {
	var ms int64
	if mcp.Decode(mcp.Member(result, "ttlMs"), &ms) != nil || ms <= 0 {
		return 0
	}
	return min(time.Duration(ms)*time.Millisecond, 24*time.Hour)
}
