package upstream

import (
	"context"
	"strings"
	"time"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/mcp"
)

// listTime limits the time for all pages of a list.
const listTime = 30 * time.Second

// A Listing is a complete list of a server, with verbatim items. The caller owns it.
type Listing struct {
	Items [][]byte
	TTL   time.Duration // validity according to the server; 0 if unknown
	// Degraded explains why the list may be incomplete. It is empty otherwise.
	Degraded string
	Failed   error // the error of a failed page, or nil
	// Unfinished is the progress of a server that is still discovering its items.
	// It is nil if the list is final.
	Unfinished *Unfinished
}

// Unfinished is the progress of a list that is still growing. A list_changed
// notification follows.
type Unfinished struct {
	Known int  `json:"known"`           // items examined so far, out of Total
	Total int  `json:"total"`           // 0 if unknown
	Ended bool `json:"ended,omitempty"` // the server continues at its next start
}

// unfinishedMeta is the member of a list's _meta that holds Unfinished.
const unfinishedMeta = "junctor/unfinished"

// A ListKind identifies one of the lists of MCP. The four values below are all; they are
// compared with ==.
type ListKind struct {
	Method     string // the list method
	Member     string // the member of the result with the items
	Capability string // the server capability for the list
	Changed    string // the list_changed notification
}

// The lists of MCP.
var (
	Tools     = ListKind{mcp.MethodListTools, "tools", "tools", mcp.NoteToolsChanged}
	Resources = ListKind{mcp.MethodListRes, "resources", "resources", mcp.NoteResChanged}
	Templates = ListKind{mcp.MethodListTempl, "resourceTemplates", "resources", mcp.NoteResChanged}
	Prompts   = ListKind{mcp.MethodListPrompts, "prompts", "prompts", mcp.NotePromptsChanged}
)

// List requests all pages of a list and connects first if necessary. It returns an
// empty list if the server lacks the capability, and a degraded list if a page is
// faulty. It returns an error only if the connection fails. It blocks. The catalog calls it.
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
	r := pageReader{}
	for {
		result, err := kind.page(ctx, u, r.cursor)
		switch {
		case err == nil:
		case listFault(err):
			r.Failed, r.Degraded = err, "the request failed: "+withoutMethod(kind.Method, fault.As(err).Message)
			return r.Listing, nil
		default:
			return Listing{}, err
		}
		if !r.add(result, kind.Member) {
			return r.Listing, nil
		}
	}
}

// withoutMethod removes the method from an error message, so that equal failures of
// several lists have equal messages.
func withoutMethod(method, message string) string {
	if rest, ok := strings.CutPrefix(message, method+": "); ok {
		return rest
	}
	if rest, ok := strings.CutPrefix(message, method+" "); ok {
		return "it " + rest
	}
	return message
}

// listFault reports whether an error concerns only one list: an error response, also with
// an HTTP status, an invalid response or a timeout.
func listFault(err error) bool {
	switch fault.As(err).Code {
	case fault.UpstreamError, fault.UpstreamStatus, fault.UpstreamBadMessage, fault.UpstreamTooLarge, fault.CallTimeout:
		return true
	}
	return false
}

// page requests one page of a list.
func (kind ListKind) page(ctx context.Context, u *Upstream, cursor []byte) ([]byte, error) {
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
		return []byte("{}"), nil // treat a missing method as an empty list
	}
	if path, ok := mcp.TextMember(reply.Error, "data", settingMember); ok && u.opts.Place != nil &&
		len(path) <= settingLen {
		f := fault.New(fault.UpstreamError, "%s: %s", kind.Method, e.Message).
			WithHint("correct the setting; until then the server offers no %s", kind.Member)
		f.At = u.opts.Place(path)
		return nil, fault.In(u.opts.Name, f)
	}
	return nil, fault.In(u.opts.Name, fault.New(fault.UpstreamError, "%s: %s (%d)", kind.Method, e.Message, e.Code).
		WithHint("read the log of the server; other lists and calls of the server are not affected"))
}

// settingMember is the member of an error's data with the path of the setting that
// caused the error, as the transport cli sends it.
const (
	settingMember = "junctor/setting"
	settingLen    = 300
)

// unfinished returns the progress in a list's _meta, or nil. Invalid progress counts
// as ended, so that nothing waits for it.
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

// ttl returns the validity of a list result, at most 24 hours.
func ttl(result []byte) time.Duration {
	var ms int64
	if mcp.Decode(mcp.Member(result, "ttlMs"), &ms) != nil || ms <= 0 {
		return 0
	}
	return min(time.Duration(ms)*time.Millisecond, 24*time.Hour)
}
