// Package help reads what a program printed about itself, a help text or a
// rendered man page, and makes a model.Command of it.
//
// It goes by layout and not by one pattern a line. The text is cleaned of
// control sequences and cut into lines; headings and indentation make sections;
// in a section the entries share a column in which their descriptions begin,
// and what stands in that column or beyond belongs to the entry above. Only
// then is the head of an entry read, with a small grammar for "-o, --output
// FILE" and another for "usage: prog [-v] <file>...".
//
// Nothing here knows a program by its name, runs anything or reads a file.
// What looks like an option or a command and was not understood is kept in
// Unparsed, so that a person can see what is missing.
package help
