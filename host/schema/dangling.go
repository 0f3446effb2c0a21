package schema

import "slices"

// cutDangling deletes the references that have no target in the document, so that their
// schemas accept more. It fails if the whole schema may then accept less. It changes the
// document of the porting. Portable and Repair call it, on a document of their own.
func (p *porting) cutDangling() error {
	for _, ref := range p.dangling {
		s, key := ref.from, ref.keyword
		switch {
		case s.node.get(key) == nil: // it is the sibling of another one
		case key != "$ref" && p.dialect < draft2019:
			p.remove(s, key) // it is no keyword there
		case p.unevaluated:
			return ref.missing
		case !s.strict:
			p.leave(s, key)
			if p.dialect < draft2019 {
				p.removeIgnored(s)
			}
		default:
			for s.strict && s.above != nil {
				s, key = s.above, s.under
			}
			if s.strict || !applicators[key].strict {
				return ref.missing
			}
			if s.node.get(key) != nil {
				p.leave(s, key)
			}
		}
	}
	return nil
}

// removeIgnored deletes the keywords that had no effect beside a $ref in draft-07 and
// before. Without the $ref they would have one.
func (p *porting) removeIgnored(s *subschema) {
	for _, key := range slices.Clone(s.node.keys) {
		switch {
		case annotations[key], key == "default", key == "$defs", key == "definitions":
		case s == p.root && (key == "$schema" || key == "type"): // MCP demands the type
		default:
			p.remove(s, key)
		}
	}
}
