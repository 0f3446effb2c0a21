// Package inbound has the kinds of auth blocks of the gateway, one in a file: what a block holds,
// what it lets its issuer say about clients, and what authenticates them.
//
// To add a kind, write a file like certificate.go and a line in kinds.
//
// Files, from the top: authentication.go, statictoken.go, jwt.go, certificate.go, forwarded.go,
// credential.go, names.go, vouch.go, clientauth.go.
//
// authentication.go has the table of kinds, clientauth.go what each kind implements, credential.go
// the rules of tokens, secrets and names that other blocks share, names.go and vouch.go the names
// that an issuer may give. Package config reads the blocks during a load; package host then calls
// Authenticator once for a listener and a generation. Values do not change after the load, and any
// goroutine may read them.
package inbound
