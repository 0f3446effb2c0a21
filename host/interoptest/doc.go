// Package interoptest contains the interoperability tests of Junctor. They run
// the real binary between real servers and real clients of four SDKs. The
// package has no other code.
//
// TestMain builds junctor, its plugins and a server with the Go SDK into a
// temporary directory. The first test that needs them installs servers and
// clients from npm and PyPI into .cache/interop of the repository, from the
// lock files in testdata/interop. Without node or python3 such a test is
// skipped, and "make test" ends with a line that says so. With
// JUNCTOR_REQUIRE_INTEROP=1 it fails instead.
//
// The main types are:
//
//	workspace   a configuration and a home directory (workspace_test.go)
//	server      a server block; Junctor or the test starts the server
//	            (workspace_test.go, webserver_test.go)
//	peer        one end of a JSON-RPC conversation, as bytes (peer_test.go)
//	dialect     the form in which a client of one revision sends requests
//	            (dialect_test.go)
//	session     a client of the Go SDK (session_test.go)
//	authServer  a server that requires credentials and counts requests
//	            (authserver_test.go)
//	identityProvider
//	            an identity provider whose tokens a gateway accepts
//	            (identityprovider_test.go)
//	loginClient a program with the client of an SDK that logs in there
//	            (identityprovider_test.go)
//	tenantClient
//	            one of several principals of a gateway, as bytes over HTTP
//	            (isolation_fixture_test.go)
//	terminal    a terminal in which a user logs in (terminal_test.go)
package interoptest
