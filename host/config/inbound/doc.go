// Package inbound has the kinds of auth blocks of the gateway, one in a file: what a block holds,
// what it lets its issuer say about clients, and what authenticates them.
//
// To add a kind, write a file like certificate.go and a line in kinds.
//
// Files, from the top: authentication.go, statictoken.go, jwt.go, certificate.go, forwarded.go,
// names.go, vouch.go.
package inbound
