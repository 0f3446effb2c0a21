// Package command finds the files on this machine that a command line runs or reads: programs,
// scripts, modules and the directories of their packages.
//
// [Line.Files] returns the files that decide what a command line runs, so that no wrapped program may
// change them. [LoadsCode] returns the directories in which a program looks for code that its
// command line does not name. Both know the usual interpreters, package runners and shells. They
// read the file system and start nothing.
//
// Files, from the top: loads.go, files.go, shell.go, packagefile.go, lookup.go, searchpath.go, line.go,
// programs.go.
//
// files.go, shell.go and packagefile.go find the files, and loads.go the directories; lookup.go and
// searchpath.go find a program. programs.go has what is known of programs: a new interpreter or
// runner is a line there.
//
// Package config asks for the files of servers, and package review names them to the user. A
// missing file is one that a wrapped program may change: when in doubt, return it. The functions
// keep no state and are safe for concurrent use.
package command
