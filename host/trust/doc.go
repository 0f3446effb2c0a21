// Package trust remembers which configurations a person has trusted.
//
// A configuration that is found in the current directory may come from another
// person, and it names programs to run. The host loads it only if a person has
// trusted its digest, after a review of the programs, files and hosts that it uses.
// [Read] makes a [Review] without evaluating the configuration. A [Store] keeps a
// [Record] of each trusted configuration, and a [Change] lists what is new since
// then.
//
// The package neither prompts nor prints.
//
// review.go makes and compares reviews, store.go keeps records, and added.go says what an edit of a
// file would add. Package invocation and the verbs that change configurations use it. A [Store] is
// safe for concurrent use; a [Review] is for one goroutine. The JSON of a [Record] outlives the
// version: read what older ones wrote, or users must trust all again.
package trust
