package telemetry

import "sync"

const (
	maxTools   = 256
	maxTenants = 256
	maxPairs   = 4096 // of a tenant and a tool

	// others is the label of tenants and tools beyond the bounds, and of tools that do not
	// exist. No tenant can have this name: see authn.CheckTenant.
	others = "(other)"
	// other is the label of methods that the specification does not have.
	other = "other"
)

// labels bounds the values of the labels tenant and tool. The first values that are used
// keep their own time series; the others share one. A Telemetry has one. It may be used
// concurrently.
type labels struct {
	hide func(string) string // masks secrets in a name that a server chose

	mu      sync.Mutex
	tools   map[string]bool    // guarded by mu
	tenants map[string]bool    // guarded by mu
	pairs   map[[2]string]bool // guarded by mu
}

func newLabels(hide func(string) string) *labels {
	return &labels{hide: hide, tools: map[string]bool{}, tenants: map[string]bool{}, pairs: map[[2]string]bool{}}
}

// of returns the labels of a tenant and a tool.
func (l *labels) of(tenant, tool string) (string, string) {
	tool = l.hide(tool)
	l.mu.Lock()
	defer l.mu.Unlock()
	pair := [2]string{bounded(l.tenants, tenant, maxTenants), bounded(l.tools, tool, maxTools)}
	if !l.pairs[pair] {
		if len(l.pairs) >= maxPairs {
			return others, others
		}
		l.pairs[pair] = true
	}
	return pair[0], pair[1]
}

// tenant returns the label of a tenant.
func (l *labels) tenant(tenant string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return bounded(l.tenants, tenant, maxTenants)
}

// bounded returns a value that is known or becomes known, and otherwise others. The empty
// value, of what has no tenant or is no call of a tool, does not count.
func bounded(known map[string]bool, value string, most int) string {
	switch {
	case value == "" || known[value]:
		return value
	case len(known) >= most:
		return others
	}
	known[value] = true
	return value
}
