//go:build !race

package plugin

const racing = false
