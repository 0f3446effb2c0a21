package main

// takeModern answers what a server of one era only answers in its own way.
func (s *server) takeModern(m message) bool {
	switch m.Method {
	case "server/discover":
		s.result(m, `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"ttlMs":0,"cacheScope":"private"}`)
	case "initialize", "ping":
		s.line(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"Method not found"}}`, m.ID)
	default:
		return false
	}
	return true
}

// complete is a result as it is in the server's era.
func (s *server) complete(result string) string {
	if !s.modern {
		return result
	}
	return `{"resultType":"complete",` + result[1:]
}
