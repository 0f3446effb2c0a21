//go:build race

package plugin

// racing says that everything takes ten times as long.
const racing = true
