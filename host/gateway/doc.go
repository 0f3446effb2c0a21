// Package gateway is the MCP server that clients see: one server that has everything the upstreams have.
//
// A request (request.go) is what a client sent; it does not change. Until it is answered it is a
// pendingRequest (pendingrequest.go). The stages make a use of it (use.go): which item, with which
// arguments and which permit. While the server of the item works, there is a call (call.go).
//
// Every request, over HTTP, over standard input or from the command line, passes the stages in
// stages.go: it is recorded, resolved to an item of a server, authorized, validated, confirmed,
// counted and limited, and then served by its route (routes.go). A login that is missing is offered
// on the way (loginpage.go). A request that continues a suspended call goes on with that call
// (suspendedcall.go). A stage or a route knows nothing of the transport.
//
// A client (client.go) is a legacy session, a modern exchange or the terminal. Both eras of the
// protocol may be used on one connection. A request with a protocol version in _meta is modern and
// stateless; initialize begins a legacy session, whose state is a [Session].
//
// Relaying begins in relay.go. If the server asks the client something, answers.go and the package
// question decide who answers. The gateway is also the peer of every upstream (serverpeer.go). It
// relays the notifications and requests of a server to the client that they belong to, and refuses
// requests for which there is no such client (notify.go, serverrequests.go).
//
// The connections that not all clients share are in a pool of package connpool. What a
// client subscribed to is in a set of package subscription.
//
// To follow one call, read in this order: exchange.go, session.go, runrequest.go, stages.go,
// tools.go, authorize.go, relay.go, call.go, answers.go.
//
// A process has one Gateway: package host makes it, applies generations of the configuration to
// it and stops it. httpserver, stdioserver and the command line (CallLocally) give it requests;
// package upstream calls it as the peer of servers.
//
// A request has one goroutine, which passes all stages and may wait: a worker of its session, the goroutine of
// its HTTP request, or that of the command. A use and a pendingRequest are its own. Other goroutines come in at
// three places: the reader of a server's connection brings notifications and must not wait, each question of a
// server has a goroutine, and so has each suspended call. Types with a field mu may be used concurrently; mu
// guards the fields that say so, and the others are set before the value is shared. Functions without a
// receiver keep no state.
//
// Clients and servers act on the codes and reasons of errors, on names in _meta and on the keys
// of questions; tokens and states of sessions are read by later releases. These must stay.
//
// gateway.go, generation.go, policychange.go and status.go are the life of the gateway. session*.go,
// exchange.go, handshake.go, initializeresult.go, inflight.go, workers.go, modernclient.go, terminal.go and
// commandline.go are the clients. stages.go, authorize.go, approve.go, loginpage.go, requeststate.go,
// requesttimeout.go, limiterror.go and membernames.go are the way of a request; record.go, unfinishedcalls.go,
// trace.go, tracecontext.go, observer.go and callevents.go record it. tools.go, toolvalidator.go,
// outputschema.go, paramheaders.go, prompts.go, resource.go, resourcelinks.go, locate.go, finder.go,
// disconnected.go, completion.go, list.go, task.go, listen.go and subscriptions.go serve the methods. relay.go,
// answers.go, suspendedcalls.go, fitresult.go, serverwords.go, clientcontext.go, progress.go and starting.go
// are a call; connection.go, callers.go, exclusivepeer.go, notify.go, serverrequests.go, clientwaits.go,
// pendingurls.go, listchanged.go and loglevel.go the way back from servers. faults.go, rpcerror.go and
// warnings.go word errors.
//
// Files, from the top: approve.go, runrequest.go, handshake.go, listen.go, modernclient.go, suspendedcall.go,
// completion.go, relay.go, commandline.go, list.go, sessionstate.go, policychange.go, status.go, gateway.go,
// subscriptions.go, loginpage.go, exclusivepeer.go, notify.go, routes.go, stages.go, callevents.go, trace.go,
// fitresult.go, serverwords.go, tools.go, task.go, connection.go, record.go, resource.go, unfinishedcalls.go,
// pendingurls.go, serverpeer.go, membernames.go, outputschema.go, listchanged.go, suspendedcalls.go,
// requeststate.go, serverrequests.go, answers.go, call.go, clientcontext.go, prompts.go, starting.go,
// locate.go, finder.go, faults.go, inflight.go, initializeresult.go, request.go, sessionevents.go,
// authorize.go, client.go, generation.go, paramheaders.go, resourcelinks.go, disconnected.go, limiterror.go,
// pendingrequest.go, loglevel.go, callers.go, progress.go, requesttimeout.go, sessionclient.go, session.go,
// exchange.go, rpcerror.go, toolvalidator.go, tracecontext.go, clientwaits.go, observer.go, principallru.go,
// sessionregistry.go, terminal.go, use.go, warnings.go, workers.go.
package gateway
