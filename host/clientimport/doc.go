// Package clientimport writes the servers of a client's file as blocks of a configuration.
//
// [Convert] takes servers as package clientconfig reads them. References to variables
// become env(), and values that may be secrets become keyring(): no text that it returns
// contains one. What Junctor does not have is told in notes. Convert is pure.
//
// convert.go begins; block.go, blocktext.go, name.go, address.go, argument.go and auth.go write the
// block of a server. reference.go, template.go, environment.go, find.go and secret.go replace
// references and secrets in texts: find.go decides what is a secret, secret.go writes the expression
// in its place. needs.go lists what a user must provide. policy.go,
// policyblock.go, ordered.go and toolmatch.go make a policy of rights. literal.go is for a server
// on the command line.
//
// The verbs import, init, export and add use the package, and package host for text of a client that
// was pasted into a configuration; package invocation uses Literal. The converters
// belong to one call. Two rules must stay: no text has a secret, except that of Literal, and the
// policy allows nothing that the file did not.
package clientimport
