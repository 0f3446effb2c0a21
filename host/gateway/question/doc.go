// Package question decides which questions of servers a client gets, and keeps those that wait
// for an answer.
//
// A server may ask its client for its roots, for a message of a model, and for input of the user,
// also on a page. The package knows nothing of requests and sessions: package gateway asks the
// client.
//
// Files, from the top: pending.go, visits.go, filter.go, check.go, page.go.
package question
