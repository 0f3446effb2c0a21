// Package credential caches the credentials for one server and decides when to
// ask its auth provider for others.
//
// Transports call [Broker.Authorize] for every request. The broker answers from
// memory until the credential expires. Then one query to the provider serves all
// concurrent callers, and a lock file keeps other processes from asking too.
//
// The broker passes each 401 to the provider once. After three refusals in a row it
// presents nothing more to the server until the provider has other credentials.
// After NeedsLogin it asks the provider again only when stored secrets change.
//
// Refresh tokens and other inputs of the provider never reach this package.
//
// Package host has one Pool for a process and closes it; the transports' calls to the host come
// in through Credentials. Broker and Pool may be used concurrently. Everything of a broker but
// its queries is guarded by the broker's mu, and no provider is called while it is held.
//
// broker.go is what callers use; query.go asks the provider. cachedcredential.go,
// failurestate.go, rejections.go and scopechallenges.go are what a broker remembers. pool.go
// makes and closes brokers.
package credential
