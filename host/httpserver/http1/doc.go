// Package http1 refuses HTTP/1 requests that two programs could read
// differently, before net/http sees them.
//
// Behind a proxy such a request can smuggle a second one past the rules of the
// proxy. net/http accepts some of them: requests with both Content-Length and
// Transfer-Encoding, repeated lengths, line ends without CR, and folded
// headers. RFC 9112 allows a server to refuse all of these. The only user is package httpconn,
// with one Reader for each connection. reader.go finds the requests in the bytes, head.go
// checks heads and chunks.go the framing of bodies. Which requests are refused must stay:
// net/http gets only those that pass.
package http1
