package schema

import (
	"encoding/json"
	"maps"
	"slices"
)

// Unlisted reports top-level arguments that are valid only because the schema allows
// additional properties. They may be typing mistakes. If the schema allows others
// explicitly, Unlisted reports only names near a listed one. It reports none if the
// schema lists no properties or has a [VetError]. The command line calls it; it is pure.
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
			problems = append(problems,
				Problem{Path: shorten(name, 64), Message: "is not among the tool's listed arguments" + near})
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
