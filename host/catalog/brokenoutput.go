package catalog

import (
	"bytes"
	"sync"

	"github.com/junctor-mcp/junctor/host/mcp"
)

// maxBroken bounds the tools of a server whose output schemas are remembered as broken.
const maxBroken = 1000

// brokenOutputs are the output schemas that a server promised and did not keep. Clients
// compare each result with the schema in their list, and drop a result that does not fit.
// Its methods may be called concurrently.
type brokenOutputs struct {
	mu      sync.Mutex
	schemas map[string][]byte // guarded by mu; by the server's name of the tool
}

// add remembers the schema of a tool. It reports whether it is new.
func (b *brokenOutputs) add(tool string, schema []byte) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	was, known := b.schemas[tool]
	if known && bytes.Equal(was, schema) || !known && len(b.schemas) == maxBroken {
		return false
	}
	if b.schemas == nil {
		b.schemas = map[string][]byte{}
	}
	b.schemas[tool] = bytes.Clone(schema)
	return true
}

// has reports whether the tool has this schema and does not keep it. Another schema of the
// same tool is a new promise.
func (b *brokenOutputs) has(tool string, schema []byte) bool {
	if b == nil { // of no catalog
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	was, known := b.schemas[tool]
	return known && bytes.Equal(was, schema)
}

// withoutBroken removes an output schema that results of the tool do not fit. The reason
// names no part of a result, because all principals see it.
func (s *Server) withoutBroken(tool string, raw []byte, r *Refused) []byte {
	if r.Output != "" || !s.broken.has(tool, mcp.Member(raw, "outputSchema")) {
		return raw
	}
	r.Output = "a result did not fit it"
	return mcp.SetPath(mcp.DeleteMember(raw, "outputSchema"), []string{"_meta", metaOutput}, mcp.AppendText(nil, "removed: "+r.Output))
}

// RemoveOutputSchema removes the output schema of a tool from the lists of clients, because
// a result did not fit it. The tool keeps its digest. A changed schema, and the next start of
// Junctor or of its configuration, is offered again.
func (c *Catalog) RemoveOutputSchema(t *Tool) {
	c.mu.Lock()
	s := c.server(t.Server)
	c.mu.Unlock()
	if s != nil && s.broken.add(t.Name, t.Output) {
		c.rebuild(t.Server)
	}
}
