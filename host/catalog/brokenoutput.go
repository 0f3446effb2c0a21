package catalog

import (
	"bytes"
	"sync"
	"time"

	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/shape"
)

// maxBroken bounds the tools of a server whose output schemas are remembered as broken.
const maxBroken = 1000

// A Removal is an output schema that was removed from the lists of clients, because a result
// did not fit it. Clients that have not listed the tools since then still compare results
// with it. It is immutable.
type Removal struct {
	Schema []byte
	At     time.Time
	Number uint64 // counts the removals of a catalog, from 1
}

// LegacyKnew reports whether legacy clients were shown the schema.
func (r *Removal) LegacyKnew() bool {
	tool := shape.LegacyTool(mcp.SetMember([]byte("{}"), "outputSchema", r.Schema))
	return mcp.Member(tool, "outputSchema") != nil
}

// brokenOutputs are the output schemas that a server promised and did not keep. Clients
// compare each result with the schema in their list, and drop a result that does not fit.
// Its methods may be called concurrently. A Server has one; a server that replaces another one
// with the same upstream takes it over.
type brokenOutputs struct {
	mu       sync.Mutex
	removals map[string]*Removal // guarded by mu; by the server's name of the tool
}

// add remembers the schema of a tool. It reports whether it is new.
func (b *brokenOutputs) add(tool string, schema []byte, number uint64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	was := b.removals[tool]
	if was != nil && bytes.Equal(was.Schema, schema) || was == nil && len(b.removals) == maxBroken {
		return false
	}
	if b.removals == nil {
		b.removals = map[string]*Removal{}
	}
	b.removals[tool] = &Removal{Schema: bytes.Clone(schema), At: time.Now(), Number: number}
	return true
}

// of returns the removal of this schema of the tool, or nil. Another schema of the same tool
// is a new promise.
func (b *brokenOutputs) of(tool string, schema []byte) *Removal {
	if b == nil { // of no catalog
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if was := b.removals[tool]; was != nil && bytes.Equal(was.Schema, schema) {
		return was
	}
	return nil
}

// withoutBroken removes an output schema that results of the tool do not fit. The reason
// names no part of a result, because all principals see it.
func (s *Server) withoutBroken(tool string, raw []byte, r *Refused) ([]byte, *Removal) {
	if r.Output != "" {
		return raw, nil
	}
	removed := s.broken.of(tool, mcp.Member(raw, "outputSchema"))
	if removed == nil {
		return raw, nil
	}
	r.Output = "a result did not fit it"
	return mcp.SetPath(mcp.DeleteMember(raw, "outputSchema"), []string{"_meta", metaOutput},
		mcp.AppendText(nil, "removed: "+r.Output)), removed
}

// countRemovals sets Removals after the tools were added.
func (s *Snapshot) countRemovals() {
	for _, t := range s.Tools {
		if t.Removed != nil {
			s.Removals = max(s.Removals, t.Removed.Number)
		}
	}
}
