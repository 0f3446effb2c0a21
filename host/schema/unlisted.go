package schema

import (
	"encoding/json"
	"maps"
	"slices"
)

// Unlisted reports top-level arguments that fit a schema only because it does
// not close itself: it lists arguments, and not these. They may be typing
// mistakes. Where the schema says expressly that others are allowed, only those
// are reported that are near a listed one. A schema that lists none, or that does
// not pass [Vet], has nothing to compare with.
func Unlisted(inputSchema, args []byte) []Problem {
	d, err := vet(inputSchema)
	if err != nil {
		return nil
	}
	listed := d.names(d.root)
	var given map[string]json.RawMessage
	if len(listed) == 0 || json.Unmarshal(args, &given) != nil {
		return nil
	}
	var problems []Problem
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if slices.Contains(listed, name) || d.patterned(d.root, name) {
			continue
		}
		p, open := d.property(d.root, name)
		near := didYouMean(name, listed)
		if open && (p == nil || near != "") && len(problems) < maxFound {
			problems = append(problems, Problem{Path: short(name, 64), Message: "is no argument that the tool lists" + near})
		}
	}
	return problems
}

// patterned reports whether patternProperties describe a name.
func (d *document) patterned(s *subschema, name string) bool {
	for _, f := range d.forms(s, true) {
		if d.matching(f, name) != nil {
			return true
		}
	}
	return false
}
