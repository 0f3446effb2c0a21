// Package hcltext parses the text of HCL files. No other package calls the parser of HCL.
//
// The parser recurses without a limit, and a stack overflow ends the process: a file of
// 100 KB is enough. Some texts take quadratic time. [Scan] therefore checks the size and
// the nesting of a text, and [Scanned.Parse] parses only a text that passed. Both run for
// text of strangers: a review parses a configuration that the user has not trusted, and
// editing or formatting parses the file as it is.
//
// The package evaluates nothing. All functions are pure.
//
// scan.go has the limits, and parse.go the only call of the parser. Packages source, lockfile,
// configedit and languageserver use it; a Scanned is for one goroutine.
package hcltext
