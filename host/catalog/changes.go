package catalog

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/host/mcp"
)

// A Change is a tool that a server added, removed or defined in another way. It is immutable,
// as is all that has it.
type Change struct {
	At   time.Time // when Junctor learned of it
	Tool string    // its name on the server
	// Members are the parts of the definition that differ, those first that models read. They
	// are empty for an added or a removed tool.
	Members []MemberChange
	Added   bool
	Removed bool
}

// A MemberChange is a member of a tool's definition, such as "description", before and after
// a change. A member that is absent is nil.
type MemberChange struct {
	Name          string
	Before, After []byte // JSON, or a part of it
	Cut           bool   // Before or After is the part around the first difference only
}

// The limits of what is remembered of a server. The oldest changes are forgotten.
const (
	maxChanges       = 50
	maxChangeBytes   = 512 << 10 // of all changes
	maxMemberChanges = 16        // of a tool
	maxMemberBytes   = 8 << 10   // of a member, before or after
	maxHeldBytes     = 64 << 10  // the same for a tool that is held back: a person decides about it
)

// A ToolsChange has the names of the tools that a server added, removed or changed, and of those
// that are held back since then.
type ToolsChange struct {
	Server                        string
	Added, Removed, Changed, Held []string
}

// changes remember how the tools of servers changed, and tell it. A Catalog has one. It may be
// used concurrently; told is set before the first use.
type changes struct {
	log hclog.Logger
	// told may be nil; see Catalog.OnToolsChanged.
	told func(ToolsChange)

	mu  sync.Mutex
	all map[string][]Change // guarded by mu; by server, the newest last
}

// of returns the changes of a server's tools, the newest first.
func (c *changes) of(server string) []Change {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := slices.Clone(c.all[server])
	slices.Reverse(all)
	return all
}

// add remembers how the tools of a server differ from those before.
func (c *changes) add(change ToolsChange, was, is map[string][]byte) {
	now := time.Now()
	var all []Change
	for _, name := range tail(change.Added) {
		all = append(all, Change{At: now, Tool: name, Added: true})
	}
	for _, name := range tail(change.Removed) {
		all = append(all, Change{At: now, Tool: name, Removed: true})
	}
	for _, name := range tail(change.Changed) {
		parts, _ := compare(was[name], is[name], maxMemberBytes)
		all = append(all, Change{At: now, Tool: name, Members: parts})
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all[change.Server] = newest(append(c.all[change.Server], all...))
}

// logDrift logs which tools of a server have changed, and which are held back now. A tool that
// changes after the user allowed it deserves attention. before is nil for the first lists, and
// wasHeld and held are the tools that were held back then and are now.
func (c *changes) logDrift(s *Server, before, now *lists, wasHeld, held []Held) {
	change := ToolsChange{Server: s.Name}
	if before != nil {
		change.Added, change.Removed, change.Changed = drift(before.Tools.Items, now.Tools.Items)
	}
	if len(change.Added)+len(change.Removed)+len(change.Changed) > 0 {
		c.log.Info("the tools of a server changed", "server", s.Name,
			"added", shortenList(change.Added), "removed", shortenList(change.Removed),
			"changed", shortenList(change.Changed))
		c.add(change, byName(before.Tools.Items), byName(now.Tools.Items))
	}
	if !s.preliminary(&now.Tools) {
		change.Held = newlyHeld(wasHeld, held)
	}
	if len(change.Added)+len(change.Removed)+len(change.Changed)+len(change.Held) > 0 {
		c.tell(change)
	}
}

// tell reports a change of the tools of a server, and logs which are held back.
func (c *changes) tell(change ToolsChange) {
	if len(change.Held) > 0 {
		c.log.Warn("tools of a server are held back, because their definitions were not accepted",
			"server", change.Server, "tools", shortenList(change.Held),
			"hint", "run `junctor diff "+change.Server+"`")
	}
	if c.told != nil {
		c.told(change)
	}
}

// newest returns the last changes, within the limits.
func newest(all []Change) []Change {
	all = tail(all)
	size := 0
	for i, change := range slices.Backward(all) {
		if size += change.size(); size > maxChangeBytes {
			all = all[i+1:]
			break
		}
	}
	return slices.Clone(all)
}

func (c Change) size() (n int) {
	n = len(c.Tool)
	for _, m := range c.Members {
		n += len(m.Name) + len(m.Before) + len(m.After)
	}
	return n
}

// tail returns the last elements that are remembered.
func tail[T any](all []T) []T { return all[max(0, len(all)-maxChanges):] }

// CompareDefinitions compares two definitions of a tool, of which before may be nil. It returns
// at most 16 members with at most 64 KiB of each, and how many more members differ. White space
// and the order of members are no differences, so that a server cannot hide one among them.
func CompareDefinitions(before, after []byte) (all []MemberChange, more int) {
	return compare(mcp.Canonical(before), mcp.Canonical(after), maxHeldBytes)
}

// compare compares two definitions. It returns at most most bytes of each member.
func compare(before, after []byte, most int) (all []MemberChange, more int) {
	was, is := members(before), members(after)
	names := map[string]bool{}
	for name := range was {
		names[name] = true
	}
	for name := range is {
		names[name] = true
	}
	for _, name := range slices.SortedFunc(maps.Keys(names), inReadingOrder) {
		switch b, a := was[name], is[name]; {
		case bytes.Equal(b, a):
		case len(all) == maxMemberChanges:
			more++
		default:
			from := 0
			if max(len(a), len(b)) > most {
				from = firstDifference(b, a)
			}
			all = append(all, MemberChange{Name: name, Before: part(b, from, most), After: part(a, from, most),
				Cut: max(len(a), len(b)) > most})
		}
	}
	return all, more
}

// readFirst are the members of a definition that decide how models use the tool. They come
// first, so that a server cannot hide a change of them behind invented members.
var readFirst = []string{"name", "title", "description", "inputSchema", "outputSchema", "annotations"}

// inReadingOrder compares the names of two members.
func inReadingOrder(a, b string) int {
	rank := func(name string) int {
		if i := slices.Index(readFirst, name); i >= 0 {
			return i
		}
		return len(readFirst)
	}
	return cmp.Or(cmp.Compare(rank(a), rank(b)), strings.Compare(a, b))
}

func members(object []byte) map[string][]byte {
	all := map[string][]byte{}
	for name, value := range mcp.Members(object) {
		all[name] = value
	}
	return all
}

// contextBytes is the number of equal bytes that are shown before the first difference of values
// that are too long.
const contextBytes = 256

// firstDifference returns where to begin with two long values, so that a server cannot hide a
// difference behind a long text.
func firstDifference(a, b []byte) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	for n = max(0, n-contextBytes); n > 0 && n < len(a) && !utf8.RuneStart(a[n]); n-- {
	}
	return n
}

// part returns a copy of a part of a value. It is nil for a member that is absent.
func part(value []byte, from, most int) []byte {
	if value == nil {
		return nil
	}
	return append([]byte{}, value[min(from, len(value)):min(from+most, len(value))]...)
}
