package schema

import "fmt"

// bound rejects endless cycles, and schemas that are too expensive to apply to one value. It is
// a step of vet.
func (w *walker) bound() error {
	for _, s := range w.all {
		if err := s.measure(0); err != nil {
			return err
		}
	}
	return nil
}

// measure sets s.cost: the number of schemas that are applied to a value together with
// s, counted once per path. It is the size of the document with all references
// inlined. 22 lines of doubled allOf have a cost of four million.
func (s *subschema) measure(depth int) error {
	switch {
	case s.cost > 0:
		return nil
	case s.pending:
		return &VetError{Reason: "cycle", Path: s.at,
			Message: "refers to itself without descending into a property or an item"}
	case depth > maxChain:
		return s.tooLong()
	}
	s.pending = true
	cost, height := 1, 1
	for _, e := range s.edges {
		if !e.inPlace {
			continue
		}
		if err := e.to.measure(depth + 1); err != nil {
			return err
		}
		cost += e.to.cost // no overflow: both are at most maxCost
		height = max(height, e.to.height+1)
		if cost > maxCost {
			return &VetError{Reason: "cost", Path: s.at,
				Message: fmt.Sprintf("applies more than %d schemas to one value", maxCost)}
		}
	}
	if height > maxChain {
		return s.tooLong()
	}
	s.pending = false
	s.cost, s.height = cost, height
	return nil
}

func (s *subschema) tooLong() error {
	return &VetError{Reason: "cost", Path: s.at,
		Message: fmt.Sprintf("is part of a chain of more than %d schemas that apply to one value", maxChain)}
}

// markStrict marks the schemas below keywords that invert acceptance. No part of
// these schemas may be ignored. The functions of this file change only the document that is
// being vetted.
func (w *walker) markStrict() {
	var todo []*subschema
	mark := func(s *subschema) {
		if !s.strict {
			s.strict = true
			todo = append(todo, s)
		}
	}
	for _, s := range w.all {
		for _, e := range s.edges {
			if e.strict {
				mark(e.to)
			}
		}
	}
	for len(todo) > 0 {
		s := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, e := range s.edges {
			mark(e.to)
		}
	}
}
