//go:build !race

package schema

const slow = 1
