// Package secretname tells by its name whether a value may be a secret.
package secretname

import (
	"slices"
	"strings"
)

// parts lists parts of names of secrets.
var parts = []string{"token", "secret", "password", "passwd", "key", "auth", "credential", "cookie", "bearer"}

// Sounds reports whether a name contains the name of a kind of secret.
func Sounds(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(name, part) })
}
