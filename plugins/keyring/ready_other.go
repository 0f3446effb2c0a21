//go:build !linux

package main

// ready does nothing: only Linux has a Secret Service.
func ready(string, string) error { return nil }
