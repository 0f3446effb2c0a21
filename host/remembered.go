package host

import (
	"github.com/junctor-mcp/junctor/host/cache"
	"github.com/junctor-mcp/junctor/host/mcp"
)

// remembered is an upstream's memory, in the cache.
type remembered struct {
	dir  cache.Dir
	name string
}

func (r remembered) Revision() mcp.Revision {
	text, _ := r.dir.Read(r.name)
	if v := mcp.Revision(text); v.Known() {
		return v
	}
	return ""
}

func (r remembered) Remember(v mcp.Revision) {
	if r.Revision() != v {
		r.dir.Write(r.name, []byte(v))
	}
}
