// Package http1 refuses HTTP/1 requests that two programs could read
// differently, before net/http sees them.
//
// Behind a proxy such a request can smuggle a second one past the rules of the
// proxy. net/http accepts some of them: requests with both Content-Length and
// Transfer-Encoding, repeated lengths, line ends without CR, and folded
// headers. RFC 9112 allows a server to refuse all of these.
package http1
