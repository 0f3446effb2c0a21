package upstream

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/mcp"
)

// A refusedVersion is the error of a server that does not support the requested revision. It
// does not change. The functions of this file but initializeAgain are pure.
type refusedVersion struct {
	message   string
	supported []string // the revisions that the error lists; may be empty
}

const (
	maxListed   = 10 // revisions of a server that an error names
	maxRevision = 32 // bytes of the name of a revision
)

var revisionText = regexp.MustCompile(`\b20\d\d-\d\d-\d\d\b`)

// refusedVersionOf reads an error of initialize. It returns nil if the error is about
// something else. The specification lists the supported revisions in data.supported. Some
// servers name them only in the text.
func refusedVersionOf(rpcError []byte, requested mcp.Revision) *refusedVersion {
	var e struct {
		Message string `json:"message"`
	}
	_ = mcp.Decode(rpcError, &e)
	v := &refusedVersion{message: e.Message}
	for _, name := range []string{"supported", "supportedVersions", "supportedProtocolVersions"} {
		var list []string
		if mcp.Decode(mcp.Member(rpcError, "data", name), &list) == nil {
			v.supported = append(v.supported,
				slices.DeleteFunc(list, func(r string) bool { return len(r) > maxRevision })...)
		}
	}
	if len(v.supported) == 0 && strings.Contains(strings.ToLower(e.Message), "version") {
		for _, r := range revisionText.FindAllString(e.Message, maxListed) {
			if r != string(requested) {
				v.supported = append(v.supported, r)
			}
		}
	}
	if len(v.supported) == 0 {
		return nil
	}
	return v
}

// other returns the newest legacy revision, except the requested one, that Junctor and the
// server support, or "".
func (v *refusedVersion) other(requested mcp.Revision) mcp.Revision {
	for _, r := range mcp.Revisions {
		if !r.Modern() && r != requested && slices.Contains(v.supported, string(r)) {
			return r
		}
	}
	return ""
}

// fault returns the error for a server with no revision that Junctor may use. other is a
// revision that only the configuration excludes, or "".
func (v *refusedVersion) fault(requested, other mcp.Revision) error {
	theirs := v.supported[:min(len(v.supported), maxListed)]
	f := &fault.Error{Code: fault.UpstreamProtocol, Err: errRefused, Message: fmt.Sprintf(
		"the server rejected initialize with revision %s: %s: the server supports %s, junctor supports %s",
		requested, v.message, strings.Join(theirs, ", "), mcp.RevisionNames())}
	if other != "" {
		return f.WithHint("write protocol = %q in its block, or remove protocol", string(other))
	}
	return f.WithHint("update the server; protocol in its block sets the revision that junctor requests")
}

// initializeAgain sends initialize with another revision, after the server has rejected
// the first one. It does so once.
func (h *handshake) initializeAgain(ctx context.Context, r mcp.Revision) error {
	reply, err := h.conn.do(ctx, &pending{method: mcp.MethodInitialize}, h.initializeParams(r))
	if err != nil && ctx.Err() != nil {
		return noAnswer(mcp.MethodInitialize)
	}
	return h.applyInitialize(ctx, answer{reply: reply, err: err}, r)
}
