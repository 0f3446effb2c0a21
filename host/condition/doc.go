// Package condition evaluates the conditions of policy rules: the expression of when.
//
// A condition sees the principal, the server, the item, the arguments of a call and
// the request; see [Roots]. Its only loops are quantifiers over lists, and it calls nothing
// outside of this package. [MaxWork] bounds what it looks at, and with that its time.
//
// A condition is true, false, or fails. It fails if an operand has the wrong type, if a
// text that it looks at is not in Unicode normal form C, or if two members of an object
// differ in case only: servers may see another text, or another member, than the
// condition does. The caller decides what a failure means: a rule that allows does not
// match, and one that denies does.
//
// An absent member is null, and so is every member of null. Null is equal to null only.
//
// A list is decided before there are arguments. A condition is [Unknown] then, unless
// the rest of it decides.
//
// expression.go, value.go and types.go are the condition; evaluate.go, arithmetic.go, functions.go,
// quantifier.go, pattern.go and date.go evaluate it. uri.go is for package policy, which compares
// URIs with the globs of a rule as conditions compare texts with patterns. check.go, never.go and narrow.go say
// what a condition can come to, and describe.go why.
//
// Package config builds conditions from HCL, package policy evaluates them for each request. A
// [Condition] is immutable: any number of goroutines evaluate it at once. A change of a result
// changes what users are allowed.
package condition
