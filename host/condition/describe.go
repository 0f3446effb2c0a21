package condition

import (
	"strconv"
	"strings"
)

// describe says in words what a part of a condition came to: args.x is null. It states no
// value of the arguments, which may be a secret. It is pure.
func describe(x Expression, v Value) string {
	switch v.kind {
	case boolean, number, text, list, array, object, null:
		return nameOf(x) + " is " + kindNames[v.kind]
	}
	return nameOf(x) + " is not known"
}

// nameOf names a part of a condition in an explanation.
func nameOf(x Expression) string {
	switch x := x.(type) {
	case *Reference:
		return x.Root + written(x.Path)
	case *Variable:
		return x.Name + written(x.Path)
	case *Call:
		return x.Name + "(…)"
	case *Constant:
		return "a value of the condition"
	}
	return "a part of the condition"
}

// written returns a path as a configuration has it.
func written(path []Step) string {
	var b strings.Builder
	for _, s := range path {
		switch {
		case s.Name == "":
			b.WriteString("[" + strconv.Itoa(s.Index) + "]")
		case strings.ContainsFunc(s.Name, func(r rune) bool { return !isNameRune(r) }):
			b.WriteString("[" + strconv.Quote(s.Name) + "]")
		default:
			b.WriteString("." + s.Name)
		}
	}
	return b.String()
}

func isNameRune(r rune) bool {
	return r == '_' || r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}
