// Package era converts messages between the two eras of the protocol: the legacy
// revisions up to 2025-11-25, with sessions and server requests, and the modern
// ones from 2026-07-28 on, with multi-round-trip requests.
//
// Its functions are pure: from the bytes of one era to those of the other. era.go tells the
// eras apart, and convert.go converts. Only package gateway converts: where a reply leaves for
// a client, and where a client answers.
//
// The results, errors and questions are part of the protocol: what a client of an era gets may
// change with the specification only.
package era

import "github.com/junctor-mcp/junctor/host/mcp"

// An Era is what a client can read: the messages of one era, or of both. It is a value.
// httpserver decides it for a request with a header, and the gateway for any other.
type Era int

// The eras.
const (
	Both Era = iota // the command line shows results of both as the server made them
	Legacy
	Modern
)

// Of returns the era of a message. A message is modern if its _meta or the version in a header says
// so; header is empty without one. But initialize always begins a legacy session.
func Of(m *mcp.Message, header mcp.Revision) Era {
	if m.Method == mcp.MethodInitialize && mcp.Member(m.Params, "protocolVersion") != nil {
		return Legacy
	}
	if header.Modern() {
		return Modern
	}
	if said := mcp.Member(m.Params, "_meta", mcp.MetaVersion); len(said) > 0 && said[0] == '"' {
		return Modern
	}
	return Legacy
}
