package main

import (
	"slices"
)

// answer handles a request and returns the response, or nil if there is none.
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

// result returns what the method of a request returns: a struct, a map or
// encoded JSON.
func (s *server) result(r *request) (any, *rpcError) {
	if v, said := r.params.members("_meta").text(metaVersion); said && v != modern {
		return nil, &rpcError{Code: unsupportedVersion,
			Message: "the only stateless protocol revision of this server is " + modern, Data: map[string]any{
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
