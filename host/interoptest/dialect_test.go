package interoptest

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/testdata/eventually"
)

// Revisions of MCP.
const (
	latestLegacy = "2025-11-25"
	modern       = "2026-07-28"
)

// Names in _meta that the protocol defines.
const (
	metaVersion      = "io.modelcontextprotocol/protocolVersion"
	metaClientInfo   = "io.modelcontextprotocol/clientInfo"
	metaClientCaps   = "io.modelcontextprotocol/clientCapabilities"
	metaLogLevel     = "io.modelcontextprotocol/logLevel"
	metaSubscription = "io.modelcontextprotocol/subscriptionId"
)

// A dialect is the form in which a client of one revision sends requests.
type dialect struct {
	revision string
	caps     object // capabilities of the client; nil: none
	level    string // log level of each modern request
}

// The dialects of most tests.
var (
	oldDialect = dialect{revision: latestLegacy}
	newDialect = dialect{revision: modern}
)

// eras are both dialects, for tests of both eras.
var eras = map[string]dialect{"legacy": oldDialect, "modern": newDialect}

func (d dialect) modern() bool { return d.revision >= modern }

// withCapabilities returns the dialect with more capabilities of the client.
func (d dialect) withCapabilities(caps object) dialect {
	d.caps = caps
	return d
}

// complete adds the members that the dialect requires in the params of each
// request.
func (d dialect) complete(params object) object {
	if !d.modern() {
		if params == nil {
			return object{}
		}
		return params
	}
	caps := d.caps
	if caps == nil {
		caps = object{}
	}
	meta := object{metaVersion: d.revision, metaClientCaps: caps,
		metaClientInfo: object{"name": "interoptest", "version": "1"}}
	if d.level != "" {
		meta[metaLogLevel] = d.level
	}
	if own, ok := params["_meta"].(object); ok {
		maps.Copy(meta, own)
	}
	params = maps.Clone(params)
	if params == nil {
		params = object{}
	}
	params["_meta"] = meta
	return params
}

// initialize begins the conversation and returns what the server said about
// itself.
func (p *peer) initialize() message {
	p.t.Helper()
	if p.dialect.modern() {
		return p.call("server/discover", nil)
	}
	caps := p.dialect.caps
	if caps == nil {
		caps = object{}
	}
	m := p.call("initialize", object{
		"protocolVersion": p.dialect.revision, "capabilities": caps,
		"clientInfo": object{"name": "interoptest", "version": "1"},
	})
	p.notify("notifications/initialized", object{})
	return m
}

// list returns the items of all pages of a list, unchanged.
func (p *peer) list(method, member string) []json.RawMessage {
	p.t.Helper()
	var items []json.RawMessage
	params := object{}
	for {
		var page map[string]json.RawMessage
		p.call(method, params).into(p.t, &page)
		var some []json.RawMessage
		decode(p.t, page[member], &some)
		items = append(items, some...)
		if page["nextCursor"] == nil {
			return items
		}
		params = object{"cursor": page["nextCursor"]}
	}
}

// waitForTools waits until a server's tools are listed. A server that is slow
// to start is added later.
func (p *peer) waitForTools(server string) {
	p.t.Helper()
	eventually.True(p.t, "the tools of "+server+" are listed", func() bool {
		listed := names(p.t, p.list("tools/list", "tools"), "name")
		return slices.ContainsFunc(listed, func(name string) bool { return strings.HasPrefix(name, server+"__") })
	})
}

// names returns one member of each item.
func names(t testing.TB, items []json.RawMessage, member string) []string {
	t.Helper()
	var all []string
	for _, raw := range items {
		var item map[string]any
		decode(t, raw, &item)
		name, _ := item[member].(string)
		all = append(all, name)
	}
	return all
}
