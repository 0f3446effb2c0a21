//go:build !darwin || !cgo

package main

// keychain reports whether the keychain is in this build.
const keychain = false
