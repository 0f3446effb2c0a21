// Package run turns a tool and its arguments into an argument list, runs the
// program with it, and shapes what it printed into a result.
//
// [Argv] is where a model's wishes become a command, so it takes nothing from
// them but values: which options there are, how they are spelled and where they
// stand comes from the [tool.Tool] alone. Every value stays within one element
// of the list, no shell ever sees it, and one that begins with a dash is joined
// to its option, stands behind "--", or is refused.
//
// [Run] starts the program in a process group of its own, keeps the beginning
// and the end of what it prints, and leaves nothing of it behind.
package run
