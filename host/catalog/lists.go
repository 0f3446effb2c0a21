package catalog

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"time"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/truncate"
	"github.com/junctor-mcp/junctor/host/upstream"
)

// lists holds all lists of one server. A refresh, or the disk, makes it; it is immutable from
// the time it is published, but for parsed.
type lists struct {
	Tools, Resources, Templates, Prompts upstream.Listing

	fetched    time.Time
	fresh      bool // fetched by this process
	connection int  // number of the upstream's connection, if fresh
	modern     bool // the server is modern
	offer      offer
	borrowed   bool // from disk, of another offer
	missing    missing
	said       Said

	parsed parsed // see parse
}

// An offer is the client capabilities that legacy servers receive. Their lists may
// depend on it: for example, a tool may need answers from the user.
type offer struct {
	number       int    // sequence number in this process
	capabilities string // a JSON object, or "" for an empty one
}

// suffix distinguishes the files of a server's lists by offer.
func (o offer) suffix() string {
	if o.capabilities == "" || o.capabilities == "{}" {
		return ""
	}
	sum := sha256.Sum256([]byte(o.capabilities))
	return "-" + hex.EncodeToString(sum[:])[:hashDigits]
}

// The kinds of lists that functions of this package need.
var (
	toolKinds     = []upstream.ListKind{upstream.Tools}
	resourceKinds = []upstream.ListKind{upstream.Resources, upstream.Templates}
)

// kinds lists all kinds of lists, with their names on disk.
var kinds = []struct {
	name string
	kind upstream.ListKind
	of   func(*lists) *upstream.Listing
}{
	{"tools", upstream.Tools, func(l *lists) *upstream.Listing { return &l.Tools }},
	{"resources", upstream.Resources, func(l *lists) *upstream.Listing { return &l.Resources }},
	{"templates", upstream.Templates, func(l *lists) *upstream.Listing { return &l.Templates }},
	{"prompts", upstream.Prompts, func(l *lists) *upstream.Listing { return &l.Prompts }},
}

const (
	// diskTTL is the lifetime of a list on disk without a TTL.
	diskTTL = 24 * time.Hour
	// minTTL is the minimum time between refreshes, whatever the server says.
	minTTL = 10 * time.Second
)

// stale reports whether the lists need a refresh.
func (l *lists) stale() bool {
	age := time.Since(l.fetched)
	if l.borrowed || !l.fresh && (age > diskTTL || age < 0) {
		return true
	}
	for _, k := range kinds {
		list := k.of(l)
		if list.Unfinished != nil && (!l.fresh || age > minTTL) {
			return true
		}
		if (list.TTL > 0 || list.Failed != nil) && age > max(list.TTL, minTTL) {
			return true
		}
	}
	return false
}

// empty reports whether the server is still discovering its items and has none yet.
func (l *lists) empty() bool {
	return l.Tools.Unfinished != nil &&
		len(l.Tools.Items)+len(l.Resources.Items)+len(l.Templates.Items)+len(l.Prompts.Items) == 0
}

// changes returns the kinds of lists that differ from before.
func (l *lists) changes(before *lists) []upstream.ListKind {
	if before == nil {
		before = &lists{}
	}
	var changed []upstream.ListKind
	for _, k := range kinds {
		if !slices.EqualFunc(k.of(before).Items, k.of(l).Items, bytes.Equal) {
			changed = append(changed, k.kind)
		}
	}
	return changed
}

// degraded returns the reason why each list is incomplete, or "".
func (l *lists) degraded() (all [4]string) {
	for i, k := range kinds {
		all[i] = k.of(l).Degraded
	}
	return all
}

// errUnanswered is the error of a list that has not arrived yet.
var errUnanswered = fault.New(fault.CallTimeout, "the server has not answered yet")

// missing says which lists have not arrived, in the order of kinds.
type missing [4]bool

// lacks reports whether one of the lists of the given kinds is missing. nil means all kinds.
func (m missing) lacks(need []upstream.ListKind) bool {
	for i, k := range kinds {
		if m[i] && (need == nil || slices.Contains(need, k.kind)) {
			return true
		}
	}
	return false
}

// lacks reports whether one of the lists of the given kinds has not arrived yet.
func (l *lists) lacks(need []upstream.ListKind) bool { return l.missing.lacks(need) }

// from records which connection the lists are from.
func (l *lists) from(connected upstream.Status) {
	l.connection = connected.Connects
	l.said = Said{
		Instructions: truncate.Bytes(connected.Instructions, MaxInstructions),
		Extensions:   mcp.Member(connected.Capabilities, "extensions"),
		Modern:       connected.Revision.Modern(),
	}
	if l.modern = connected.Revision.Modern(); !l.modern {
		l.offer.capabilities = string(connected.Offered)
	}
}

// unparsed returns the same lists without parsed items.
func (l *lists) unparsed() *lists {
	return &lists{
		Tools:      l.Tools,
		Resources:  l.Resources,
		Templates:  l.Templates,
		Prompts:    l.Prompts,
		fetched:    l.fetched,
		fresh:      l.fresh,
		connection: l.connection,
		modern:     l.modern,
		offer:      l.offer,
		borrowed:   l.borrowed,
		missing:    l.missing,
		said:       l.said,
	}
}

// keepFailed replaces failed lists by the previous ones. It returns an error if the server
// returned no items at all.
func (l *lists) keepFailed(before *lists) error {
	var failed error
	items := 0
	for _, k := range kinds {
		now := k.of(l)
		items += len(now.Items)
		if now.Failed == nil {
			continue
		}
		failed = now.Failed
		if before != nil && len(k.of(before).Items) > len(now.Items) {
			now.Items = k.of(before).Items
		}
	}
	if items == 0 {
		return failed
	}
	return nil
}

// heldChanged reports whether other tools are held back than in later lists with the same items.
func (l *lists) heldChanged(later *lists, s *Server) bool {
	if l == nil || s.Pins == nil {
		return false
	}
	same := func(a, b Held) bool { return a.Tool == b.Tool && a.Digest == b.Digest }
	return !slices.EqualFunc(l.parse(s).held, later.parse(s).held, same)
}
