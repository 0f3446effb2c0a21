// Package question decides which questions of servers a client gets, and keeps those that wait
// for an answer.
//
// A server may ask its client for its roots, for a message of a model, and for input of the user,
// also on a page. The package knows nothing of requests and sessions: package gateway asks the
// client.
//
// pending.go and pages.go have the state of a session, which closes with it: the questions
// without an answer and the pages that its user was sent to. filter.go decides about a question
// with check.go (capabilities) and pageaddress.go (addresses); these three keep no state and may be
// used concurrently.
//
// Files, from the top: pending.go, pages.go, filter.go, check.go, pageaddress.go.
package question
