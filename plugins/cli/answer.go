package main

import (
	"encoding/json"
	"slices"
)

// The revisions of the protocol.
const (
	modern       = "2026-07-28"
	latestLegacy = "2025-11-25"
)

var legacy = []string{latestLegacy, "2025-06-18", "2025-03-26", "2024-11-05"}

// Names in _meta that the protocol defines.
const (
	metaVersion      = "io.modelcontextprotocol/protocolVersion"
	metaServerInfo   = "io.modelcontextprotocol/serverInfo"
	metaSubscription = "io.modelcontextprotocol/subscriptionId"
)

// How long what this server says of itself may be kept, in milliseconds.
const (
	discoverTTL = 3_600_000
	listTTL     = 300_000
)

// answer does what a request asks for and returns the message that answers it,
// nil when there is none.
func (s *server) answer(r *request) []byte {
	result, failed := s.result(r)
	if failed != nil {
		return failureOf(r.id, failed)
	}
	if result == nil {
		return nil
	}
	return success(r.id, render(result))
}

// result is what the methods return: a struct or an object that is written
// already.
func (s *server) result(r *request) (any, *rpcError) {
	if v, said := r.params.members("_meta").text(metaVersion); said && v != modern {
		return nil, &rpcError{Code: unsupportedVersion, Message: "this server does not speak " + modern + " otherwise", Data: map[string]any{
			"supported": []string{modern}, "requested": v,
		}}
	}
	switch r.method {
	case "server/discover":
		return s.discovered(), nil
	case "initialize":
		return s.initialized(r.params), nil
	case "ping":
		return object{}, nil
	case "tools/list":
		return s.list(r)
	case "tools/call":
		return s.call(r)
	case "subscriptions/listen":
		return s.listen(r)
	}
	return nil, &rpcError{Code: methodNotFound, Message: "method not found: " + r.method}
}

type object map[string]any

func (s *server) capabilities() object {
	if s.set.discovers() {
		return object{"tools": object{"listChanged": true}}
	}
	return object{"tools": object{}}
}

func (s *server) info() object { return object{"name": s.name, "version": version} }

func (s *server) discovered() object {
	return object{
		"resultType": "complete", "supportedVersions": []string{modern}, "capabilities": s.capabilities(),
		"ttlMs": discoverTTL, "cacheScope": "private", "_meta": object{metaServerInfo: s.info()},
	}
}

func (s *server) initialized(params members) object {
	v, _ := params.text("protocolVersion")
	if !slices.Contains(legacy, v) {
		v = latestLegacy
	}
	s.mu.Lock()
	s.legacy = true
	s.mu.Unlock()
	return object{"protocolVersion": v, "capabilities": s.capabilities(), "serverInfo": s.info()}
}

// modernResult adds to an object what a modern answer says of itself.
func modernResult(r *request, result json.RawMessage, more string) json.RawMessage {
	if _, modern := r.params.members("_meta").text(metaVersion); !modern {
		return result
	}
	head := `{"resultType":"complete"` + more
	if len(result) > len("{}") {
		head += ","
	}
	return append([]byte(head), result[1:]...)
}
