package help

// commandLayouts are lists of commands in unusual forms.
var commandLayouts = []layout{
	{name: "names behind their heading", about: About{Program: "rrd"}, text: `RRD 1.7.2  Copyright by Someone

Usage: rrd [options] command command_options
Valid commands: create, update, graph,  dump,
		last, first, flush

RRD is distributed under the Terms of the Licence.
`, want: `
cmd create
cmd update
cmd graph
cmd dump
cmd last
cmd first
cmd flush`},

	{name: "a list of a program without commands", about: About{Program: "p"}, text: `Usage: p FILE
Valid commands: create, update, dump
`, want: `
<file> path required
runnable`},

	{name: "a sentence behind the heading", about: About{Program: "p"}, text: `Usage: p [options] command
Valid commands: see the manual, or the page of the program, for details
`, want: `
<command> string required
runnable`},

	{name: "a usage for each command", about: About{Program: "img"}, text: `img version 7.2
usage: img [standard options] command [command options]
disk image utility

Command syntax:
  amend [--object objectdef] [-p] [-f fmt] -o options filename
  convert [-c] [-O output_fmt] [-W] filename [filename2 [...]] output_filename
  snapshot [-l | -a snapshot] filename

Command parameters:
  'filename' is a disk image filename
`, want: `
cmd amend --object -p -f -o <filename>
cmd convert -c -O -W <filename> <output_filename>
cmd snapshot -l -a <filename>`},

	{name: "an explanation below the heading for usages", about: About{Program: "p"}, text: `usage: p [options] command

Command syntax:
  "quoted" words, and no commands
  -x of them
`, want: `
<command> string required
unparsed -x of them
runnable`},

	{name: "groups behind two dashes", about: About{Program: "sam"}, text: `Program: sam (Tools for alignments)

Usage:   sam <command> [options]

Commands:
  -- Indexing
     dict           create a sequence dictionary file
     faidx          index/extract FASTA

  -- File operations
     cat            concatenate files
     help [cmd]     display this help message or help for [cmd]
`, want: `
cmd dict: create a sequence dictionary file
cmd faidx: index/extract FASTA
cmd cat: concatenate files
cmd help <cmd>: display this help message or help for [cmd]`},

	{name: "an option below two dashes", about: About{Program: "p"}, text: `Usage: p <command> [options]

Commands:
  add            adds
  --all FILE
     with          the description of an option
  rm             removes
`, want: `
--all path FILE
cmd add: adds
cmd rm: removes`},
}
