package jwks

import (
	"cmp"
	"context"
	"slices"
	"time"
)

// A Health says whether the keys of a source can verify tokens. It is a copy.
type Health struct {
	Source string
	Read   time.Time // when the keys that are known were read; zero: no keys are known
	Usable bool      // tokens can be verified
	Err    error     // of the latest attempt to read the keys; nil: it succeeded, or none has ended
}

// Health returns the state of the set. It begins to read keys that are missing or old, so
// that a set recovers although no client sends a token. The status of the process calls it; it
// does not wait.
func (s *Set) Health() Health {
	h := Health{Source: s.source.String()}
	if s.current.Load() == nil {
		s.begin()
	}
	h.Usable = s.usable() != nil
	if now := s.current.Load(); now != nil {
		h.Read = now.at
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	h.Err = s.failure
	return h
}

// Health returns the states of all sets, sorted by source.
func (p *Pool) Health() (all []Health) {
	p.mu.Lock()
	sets := make([]*Set, 0, len(p.sets))
	for _, set := range p.sets {
		sets = append(sets, set)
	}
	p.mu.Unlock()
	for _, set := range sets {
		all = append(all, set.Health())
	}
	slices.SortFunc(all, func(a, b Health) int { return cmp.Compare(a.Source, b.Source) })
	return all
}

// Check reads the keys of a source once, and returns why they cannot be used.
func (s Source) Check(ctx context.Context) error {
	_, err := s.fetch(ctx)
	return err
}
