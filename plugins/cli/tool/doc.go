// Package tool makes MCP tools of what a program can be asked to do: one for
// each command that was discovered, and one for each tool block that somebody
// wrote by hand.
//
// A [Tool] holds everything that package run needs to build an argument list:
// the words of the command and the exact spelling of every option. Nothing is
// ever derived from the tool's name.
//
// # Names
//
// A tool is called by the words of its command, joined with "_": "git remote
// add" is remote_add. A program without sub-commands is one tool that has the
// program's name. Where two would have the same name, both get a short hash.
//
// A property is called as the long option without its dashes, spelled as the
// program spells it ("max-count", "dry_run"); an option that has only a letter
// is opt_x; a positional has its name in the usage line. Where a positional or
// an option would take the name of another one it becomes arg_NAME or
// opt_NAME.
package tool
