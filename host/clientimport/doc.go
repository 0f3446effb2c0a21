// Package clientimport writes the servers of a client's file as blocks of a configuration.
//
// [Convert] takes servers as package clientconfig reads them. References to variables
// become env(), and values that may be secrets become keyring(): no text that it returns
// contains one. What Junctor does not have is told in notes. Convert is pure.
package clientimport
