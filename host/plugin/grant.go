package plugin

import "github.com/junctor-mcp/junctor/sdk"

// Grant says what the holder of a capability may ask the host for. A capability
// is the secret name of one connection or authorizer, and counts only when it
// comes from the process that it was given to.
func (l *link) Grant(capability string) (sdk.Host, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	h, ok := l.grants[capability]
	return h, ok
}

// grant makes a capability valid until it is revoked or the process has ended.
func (l *link) grant(capability string, h sdk.Host) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.grants != nil {
		l.grants[capability] = h
	}
}

func (l *link) revoke(capability string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.grants, capability)
}

// revokeAll ends what was granted, now and later: there is nobody left.
func (l *link) revokeAll() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.grants = nil
}
