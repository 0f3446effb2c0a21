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
package trust
