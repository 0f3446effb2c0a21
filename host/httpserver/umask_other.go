//go:build !unix

package httpserver

// withPrivateUmask calls do. On this system the directory decides who may use a
// file. Listen calls it for a unix socket. It keeps no state.
func withPrivateUmask(do func()) { do() }
