//go:build !unix

package httpserver

// withPrivateUmask calls do. On this system the directory decides who may use a
// file.
func withPrivateUmask(do func()) { do() }
