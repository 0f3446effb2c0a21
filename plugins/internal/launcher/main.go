// Command junctor-sandbox restricts itself as a plan says and executes a program.
// Only package sdk/sandbox/launch starts it.
//
//	junctor-sandbox PLAN… -- PROGRAM ARGV0 ARGUMENT…
//
// PLAN is the words of a launchplan.Plan, and [launchplan.ReportFD] receives the
// report. The program delays the start of each wrapped program, so it imports
// nothing that takes time to initialise.
package main

import "os"

// failed is the exit status if the program was not executed.
const failed = 126

func main() {
	launch(os.Args[1:])
	os.Exit(failed)
}
