// Package gateway is the MCP server that clients see: one server that has
// everything the upstreams have.
//
// Every request, over HTTP, over standard input or from the command line, passes
// the stages in stages.go: it is recorded, resolved to an item of a server,
// authorized, validated, confirmed, limited and counted, and then served by its route
// (routes.go). A login that is missing is offered on the way (loginpage.go). A stage or a route knows nothing of the transport.
//
// Both eras of the protocol may be used on one connection. A request with a
// protocol version in _meta is modern and stateless; initialize begins a legacy
// session, whose state is a [Session].
//
// The gateway is also the peer of every upstream (serverpeer.go). It relays the
// notifications and requests of a server to the client that they belong to, and refuses
// requests for which there is no such client (notify.go, serverrequests.go).
//
// The connections that not all clients share are in a pool of package connpool. What a
// client subscribed to is in a set of package subscription.
package gateway
