package process

import "strings"

// CarriesMark reports whether an environment shows that its process, or one that it descends
// from, was started by this package, by whichever host. Released processes belong to the user
// and have no such mark. A process that executes with another environment loses the mark;
// [IsDescendant] does not depend on it.
func CarriesMark(environ []string) bool {
	for _, v := range environ {
		name, value, _ := strings.Cut(v, "=")
		if name == RunVariable || name == MarkVariable && value != releasedMark {
			return true
		}
	}
	return false
}
