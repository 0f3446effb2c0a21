// Package interoptest is the proof that Junctor joins programs it does not
// know: the tests in it run the real binary between real servers and real
// clients of four SDKs. It has no code besides them.
//
// What happens first: TestMain builds junctor, its plugins and a server made
// with the Go SDK into a temporary directory. Servers and clients from
// npm and PyPI are installed by the first test that needs them, into
// .cache/interop of the repository, from the lock files in testdata/interop.
// Where node or python3 is missing such a test is skipped, and "make test" ends
// with a line that says so; with JUNCTOR_REQUIRE_INTEROP=1 it fails instead.
//
// The pieces the tests are made of: a site is a configuration and a home
// directory of its own (site_test.go), a peer is one end of a conversation in
// JSON-RPC, as bytes (peer_test.go), and a dialect is how a client of one
// revision speaks (dialect_test.go). A server is started by Junctor, or by the
// test, which then lets it listen on loopback (web_test.go). A vendor wants
// credentials and counts what comes (vendor_test.go); a screen is a terminal for
// somebody who logs in (terminal_test.go). A session of the Go SDK stands beside
// the peer as a client that we did not write (session_test.go).
package interoptest
