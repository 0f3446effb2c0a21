// Package danger knows which options and commands of programs do more than a
// person expects who offers the program to a model: they run other programs,
// reach files anywhere, or load configuration.
//
// table.txt lists them for the programs that are wrapped most, with evidence.
// For everything else [Rules.Option] looks at how an option is called. What is
// dangerous is left out of discovered tools unless the configuration names it.
package danger

// An Effect says what a dangerous option or command does.
type Effect string

// The effects.
const (
	Runs     Effect = "runs"
	Reads    Effect = "reads"
	Writes   Effect = "writes"
	Loads    Effect = "loads"
	Connects Effect = "connects"
	Ordered  Effect = "ordered"

	safe  Effect = "safe"
	quirk Effect = "quirk"
)

// texts describe the effects to a person.
var texts = map[Effect]string{
	Runs:     "runs a program",
	Reads:    "reads files outside the directory",
	Writes:   "writes files",
	Loads:    "loads configuration or code",
	Connects: "connects to sockets of this machine",
	Ordered:  "its arguments act in the order in which they are written",
	safe:     "", quirk: "",
}

// String describes the effect to a person, such as "runs a program".
func (e Effect) String() string { return texts[e] }

// A Finding is one dangerous option or command.
type Finding struct {
	// Names are the spellings of an option; empty for a command.
	Names []string
	// Command is the path of a command, or the program's name for the program itself.
	Command []string
	Words   int // how many words of the command the table names
	Effect  Effect
	// Evidence is where that is documented; empty when the name alone gave it away.
	Evidence string
}
