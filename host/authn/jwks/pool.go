package jwks

import (
	"slices"
	"sync"

	"github.com/hashicorp/go-hclog"
)

// A Pool keeps one set for each source, so that a reload of the configuration keeps the
// keys that are known. Its methods may be called concurrently. Its maker calls Close.
type Pool struct {
	log hclog.Logger

	mu   sync.Mutex
	sets map[Source]*Set // guarded by mu
}

// NewPool returns a pool without sets.
func NewPool(log hclog.Logger) *Pool { return &Pool{log: log, sets: map[Source]*Set{}} }

// Set returns the set of a source.
func (p *Pool) Set(s Source) *Set {
	p.mu.Lock()
	defer p.mu.Unlock()
	set := p.sets[s]
	if set == nil {
		set = newSet(s, p.log)
		p.sets[s] = set
	}
	return set
}

// Keep closes the sets of all other sources. It is called after a reload; requests in progress
// with a set that is closed get errors.
func (p *Pool) Keep(sources []Source) {
	var dropped []*Set
	p.mu.Lock()
	for source, set := range p.sets {
		if !slices.Contains(sources, source) {
			dropped = append(dropped, set)
			delete(p.sets, source)
		}
	}
	p.mu.Unlock()
	for _, set := range dropped {
		set.close()
	}
}

// Close closes all sets.
func (p *Pool) Close() { p.Keep(nil) }
