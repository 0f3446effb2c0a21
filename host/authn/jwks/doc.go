// Package jwks keeps the public keys with which an issuer signs tokens.
//
// A [Set] reads them from a file, from a URL, or from the URL that the issuer's
// metadata names (OpenID Connect Discovery 1.0 and RFC 8414). It reads them when they
// are first needed, again when they are old, and when a token names a key that is not
// among them. If the issuer cannot be reached, the keys that are known stay valid for
// a day. A [Pool] keeps the sets across reloads of the configuration.
//
// Package host has a Pool for the gateway and one for the console, and closes them; package
// authn looks for keys with Find, on the goroutine of the request. Pool and Set may be used
// concurrently. set.go has a set and its refreshes, fetch.go and parse.go read the keys,
// pool.go keeps the sets, and health.go tells operators.
package jwks
