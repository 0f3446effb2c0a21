package gateway

import (
	"crypto/rand"

	"github.com/junctor-mcp/junctor/host/mcp"
)

// metaContext is the name in _meta under which servers learn about the client of a request. A client cannot set
// it. Servers read the object under this name: the name and its members are documented and must stay.
const metaContext = "junctor/context"

// withClientContext returns the params of a request with what its server is told about the client. It removes
// what the client itself wrote there. It is pure but for the random label of the session. newCall uses it.
func withClientContext(u *use, params []byte) []byte {
	told := u.generation.Servers[u.item.Server].Context
	if len(told) == 0 {
		meta := mcp.Member(params, "_meta")
		if mcp.Member(meta, metaContext) == nil {
			return params
		}
		return mcp.SetMember(params, "_meta", mcp.DeleteMember(meta, metaContext))
	}
	object := []byte("{}")
	for _, part := range told {
		if text := u.contextPart(part); text != "" {
			object = mcp.SetMember(object, part, mcp.AppendText(nil, text))
		}
	}
	return mcp.SetPath(params, []string{"_meta", metaContext}, object)
}

// contextPart returns one part of the context, or "" if it is not known.
func (r *pendingRequest) contextPart(part string) string {
	switch part {
	case "subject":
		return r.principal.Subject
	case "tenant":
		return r.principal.Tenant
	case "issuer":
		return r.principal.Issuer
	case "method":
		return r.principal.Method
	case "session":
		if r.session != nil && !r.session.stateless {
			return r.session.contextLabel()
		}
	case "client":
		return r.client.program()
	}
	return ""
}

// contextLabel returns a random name of the session. It is not the id that a client proves its session with.
func (s *Session) contextLabel() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.label == "" {
		s.label = rand.Text()
	}
	return s.label
}
