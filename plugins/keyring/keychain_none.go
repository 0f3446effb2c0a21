//go:build !darwin || !cgo

package main

// keychain reports whether this build supports the macOS keychain.
const keychain = false
