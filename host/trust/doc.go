// Package trust remembers which configurations a person has trusted.
//
// A configuration that is found in the current directory may have been written
// by somebody else, and it names programs to run. It is used only when its
// digest is the one that a person agreed to, after having seen what it would
// run, read and contact. [Review] reads a configuration without evaluating it,
// [Store] keeps what was agreed to, and [Change] says what is new.
//
// The package asks nobody and prints nothing.
package trust
