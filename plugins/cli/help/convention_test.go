package help

// conventionLayouts are usages and lists as libraries for command lines and
// their users write them.
var conventionLayouts = []layout{
	{name: "a summary behind the usage of GLib", about: About{Program: "app"}, text: `Usage:
  app [OPTION…] - App Metadata Tool.

App Metadata Tool

Subcommands:
  search TERM          - Search the database.
  get COMPONENT-ID     - Get one component.
`, want: `
cmd search <term>: Search the database.
cmd get <component-id>: Get one component.
runnable`},

	{name: "a summary behind arguments", about: About{Program: "conv"},
		text: "Usage: conv [-v] IN OUT - converts one format to another\n", want: `
-v bool
<in> string required
<out> string required
runnable`},

	{name: "a dash for standard input", about: About{Program: "conv"}, text: "Usage: conv [-v] [FILE | -]\n", want: `
-v bool
<file> string
runnable`},

	{name: "the usage of AutoOpts", about: About{Program: "dane"}, text: `dane - a tool
Usage:  dane [ -<flag> [<val>] | --<name>[{=| }<val>] ]... [FILE]

   -d, --debug=num            Enable debugging
`, want: `
--debug -d integer num eq
<file> path
runnable`},

	{name: "descriptions behind a dash below the usage", about: About{Program: "acyclic"},
		text: `Usage: acyclic [-nv?] [-o outfile] <file>
  -o <file> - put output in <file>
  -n        - do not output graph
  -v        - verbose
  -?        - print usage
`, want: `
-o path file
-n bool
-v bool
-? bool
<file> path required
runnable`},

	{name: "words about the unit of a value", about: About{Program: "frag"},
		text: "usage: frag [-c chunksize in kb] [-h] device\n", want: `
-c string chunksize in kb
-h bool
<device> string required
runnable`},

	{name: "options with several values", about: About{Program: "geo"},
		text: `Usage: geo [-of format] [-tr xres yres] [-win xoff yoff xsize ysize]
       [-gcp pixel line [elevation]]* SRC DST
`, want: `
-of string format
-tr string xres yres x2
-win string xoff yoff xsize ysize x4
-gcp string pixel line x2
<src> string required
<dst> string required
runnable`},

	{name: "a list of commands of kingpin", about: About{Program: "prom"},
		text: `usage: prom [<flags>] <command> [<args> ...]

A tool.

Flags:
  -h, --help  Show help.

Commands:
help [<command>...]
    Show help.

check service <config-file> <job>
    Check a service.

    examples:

    $ cat metrics.prom | prom check metrics

check metrics
    Pass metrics over stdin.

query series --match=MATCH [<flags>] <server>
    Run a query.

query labels [<flags>] <server> <name>
    Run a labels query.
`, want: `
--help -h bool
cmd help <command>: Show help.
cmd check
  cmd service <config-file> <job>: Check a service.
  cmd metrics: Pass metrics over stdin.
cmd query
  cmd series <server>: Run a query.
  cmd labels <server> <name>: Run a labels query.
`},

	{name: "a list of sub-commands of kingpin", about: About{Program: "prom", Path: []string{"check"}},
		text: `usage: prom check [<flags>] <command> [<args> ...]

Check.

Subcommands:
check config [<flags>] <config-files>...
    Check files.

check metrics
    Check metrics.
`, want: `
cmd config <config-files>: Check files.
cmd metrics: Check metrics.
`},

	{name: "values that may be left out", about: About{Program: "geo"},
		text: "Usage: geo [-scale[_bn] [src_min src_max [dst_min dst_max]]]* [-v] SRC DST\n", want: `
-scale bool
-v bool
<src> string required
<dst> string required
runnable`},

	{name: "commands below a summary", about: About{Program: "csv"}, text: `csv is a tool for CSV files.

Summary:
  csv [-options] command [command-args] input.csv [input2.csv [...]]

Commands:
  col <column-spec>
    Return one or more columns.

      Example: csv col 1-3,6 input.csv > output.csv

  width
    Print the maximum width of the CSV file (number of columns in the
    widest row).

  head rows
  take rows
    'head n' and 'take n' take the first 'n' rows.

  cat
    This concatenates the input files together.
`, want: `
cmd col <column-spec>: Return one or more columns.
cmd width: Print the maximum width of the CSV file (number of columns in the widest row).
cmd head <rows>
cmd take <rows>: 'head n' and 'take n' take the first 'n' rows.
cmd cat: This concatenates the input files together.
`},

	{name: "modes of which one is called list", about: About{Program: "jmod"},
		text: "Usage: jmod (create|extract|list) <OPTIONS> <jmod-file>\n", want: `
<choice> enum required
<jmod-file> path required
runnable`},

	{name: "modes in angle brackets", about: About{Program: "jimage"},
		text: "Usage: jimage <extract | info | list | verify> <options> jimage...\n", want: `
<choice> enum required
<jimage> string required many
runnable`},

	{name: "kinds of values", about: About{Program: "p"}, text: "Usage: p (name|id|all) [level|number]\n", want: `
<name> string required
<level> string
runnable`},

	{name: "a remark that nothing is required", about: About{Program: "p"}, text: `Usage: p [OPTION]... NAME...

  -I, --plain      Use plain lists, no interaction required.
  -c, --config F   Additional file. N.B. the cfg format is required.
  -k, --key KEY    The key to use. This option is required.
  -u, --user NAME  (required) the user
`, want: `
--plain -I bool
--config -c string F
--key -k string KEY required
--user -u string NAME required
<name> string required many
runnable`},

	{name: "a call for help", about: About{Program: "p"}, text: `Usage:
    p -h | --help
        Print this help message.
    p [-n] ACTION
        Do the action.
`, want: `
-h bool
--help bool
-n bool
<action> string
runnable`},

	{name: "several files in a word", about: About{Program: "nm"},
		text: "USAGE: nm [options] <input object files>\n", want: `
<input-object-files> string required many
runnable`},

	{name: "numbered names", about: About{Program: "tidy"},
		text: "Usage: tidy [ options ] file1 file2 file3 ...\n", want: `
<file> path required many
runnable`},

	{name: "numbered names in brackets", about: About{Program: "tidy"},
		text: "Usage: tidy [-v] FILE1 [FILE2 [...]]\n", want: `
-v bool
<file> path required many
runnable`},

	{name: "two numbered names", about: About{Program: "cmp"}, text: "Usage: cmp [-v] FILE1 FILE2\n", want: `
-v bool
<file1> string required
<file2> string required
runnable`},

	{name: "dots in brackets", about: About{Program: "badger"}, text: "Usage: badger [options] logfile [...]\n", want: `
<logfile> string required many
runnable`},

	{name: "words in brackets that say what there may be", about: About{Program: "sqcat"},
		text: "SYNTAX: sqcat [OPTIONS] FILESYSTEM [list of files to cat to stdout]\n", want: `
<filesystem> string required
<files> string many
runnable`},

	{name: "brackets within angle brackets", about: About{Program: "calc"},
		text: "Usage: calc [OPTIONS]... <[ADDRESS]... [INTERFACE]... | [-]>\n", want: `
<address> string required many
runnable`},

	{name: "the options of Boost", about: About{Program: "heap"}, text: `Options:
  -f [ --file ] arg                          The file to print.
  -t [ --shorten ] [=arg(=1)] (=1)           Shorten the names.
  -m [ --max ] arg (=10)                     Print so many.
  -q [ --quiet ]                             Print less.
  --cost arg                                 The cost.
`, want: `
--file -f string arg
--shorten -t string arg =1 eq opt
--max -m string arg =10
--quiet -q bool
--cost string arg
runnable`},

	{name: "the options of Subversion", about: About{Program: "svn", Path: []string{"log"}},
		text: `log: Show the log messages.
usage: 1. log [PATH][@REV]...
       2. log URL[@REV] [PATH...]

  1. Print the log messages for the local PATHs.

Valid options:
  -r [--revision] ARG      : ARG (some commands also take ARG1:ARG2 range)
  -q [--quiet]             : do not print unrelated information
  --with-all-revprops      : retrieve all revision properties
  -l [--limit] ARG         : maximum number of log entries
`, want: `
--revision -r string ARG
--quiet -q bool
--with-all-revprops bool
--limit -l string ARG
<path> path many
runnable`},

	{name: "letters that stand for a command", about: About{Program: "par"}, text: `Usage:
  par -h  : show this help
  par c(reate) [options] <PAR2 file> [files] : Create PAR2 files
  par v(erify) [options] <PAR2 file> [files] : Verify files using PAR2 file
`, want: `
-h bool
cmd create <par2-file> <files>
cmd verify <par2-file> <files>
runnable`},

	{name: "commands that the usage and a list name", about: About{Program: "cov"},
		text: `Usage: cov {export|gcov|report|show} [OPTION]...

Subcommands:
  export: Export to structured format.
  gcov:   Work with the gcov format.
  report: Summarize.
  show:   Annotate source files.
`, want: `
cmd export: Export to structured format.
cmd gcov: Work with the gcov format.
cmd report: Summarize.
cmd show: Annotate source files.
`},

	{name: "arguments in a list of commands", about: About{Program: "tool"},
		text: `Usage: tool [OPTION]... SUB_COMMAND [OPTION]...

  -v, --version                         Print version number
  merge [options] <dir1> <dir2>         Merge contents
    -o, --output <dir>                  Output directory
  rewrite [options] <dir>               Rewrite contents
    -n, --normalize <int>               Normalize
`, want: `
--version -v bool
--output -o path dir
--normalize -n integer int
cmd merge <dir1> <dir2>: Merge contents
cmd rewrite <dir>: Rewrite contents
`},

	{name: "another program in the synopsis", about: About{Program: "gxl2gv"}, man: true, text: `NAME
       gxl2gv, gv2gxl - GXL-GV converters

SYNOPSIS
       gxl2gv [-g] [-o outfile] [files]
       gv2gxl [-g] [-d] [files]

OPTIONS
       -g     Convert the graph to the other format.
`, want: `
-g bool
-o path outfile
<files> string many
runnable`},

	{name: "a template far below the head", about: About{Program: "chk"}, text: `Chk v1 - Copyright.
Compiled with a library.
It comes with ABSOLUTELY NO WARRANTY.
Type "Chk -h" for help.
Author: one.
Bug reports: two.
Press Ctrl-D to terminate.

      Template
      ~~~~~~~~
chk [-hiq] [-v[0-...]] [-l <rcfile>] [-o <outfile>]
       file1 file2 ...

    -l  --localrc   : Read local formatted file.
    -o  --output    : Specify output file.
`, want: `
--localrc -l string rcfile
--output -o path outfile
-h bool
-i bool
-q bool
-v string 0- opt glued many
<file> path required many
runnable`},

	{name: "choices of arguments in the plural", about: About{Program: "lint"},
		text: "Usage: lint [options] [files|directories|globs...]\n", want: `
<files> string many
runnable`},

	{name: "several choices", about: About{Program: "tk"},
		text: "Usage: tk FILE [ compress | uncompress ] [ keep | drop ]\n", want: `
<file> path required
<choice> enum
<choice2> enum
runnable`},

	{name: "the commands of argparse below a placeholder", about: About{Program: "cdx"},
		text: `usage: cdx [-h] [--version] <command> ...

positional arguments:
  <command>
    environment (env, venv)
                        Build from an environment
    requirements        Build from requirements

options:
  -h, --help            show this help message and exit
`, want: `
--help -h bool
--version bool
cmd environment (env,venv): Build from an environment
cmd requirements: Build from requirements
`},

	{name: "the same value behind two spellings", about: About{Program: "sol"}, text: `Usage: sol [options...] filename

General options:
   --mps             read the problem in fixed format
   -o filename, --output filename
                     write solution to filename in printable format
   --seed value      initialize the generator with the seed
`, want: `
--mps bool
--output -o path filename
--seed string value
<filename> path required
runnable`},

	{name: "choices of yargs", about: About{Program: "doc"}, text: `Usage: doc [options]

Options:
      --format    The format of the output.
                         [choices: "stylish", "json", "summary"] [default: "stylish"]
      --quiet     Say less.                                                 [boolean]
  -x, --exclude   A name to leave out.                                       [string]
`, want: `
--format enum {stylish,json,summary} =stylish
--quiet bool
--exclude -x string
runnable`},

	{name: "a count of click", about: About{Program: "bump"}, text: `Usage: bump [OPTIONS]

Options:
  -v, --verbose INTEGER RANGE  Print verbose logging to stderr. Can specify
                               several times for more verbosity.
  -n, --number INTEGER RANGE   How many.
`, want: `
--verbose -v count many
--number -n integer INTEGER RANGE
runnable`},

	{name: "a remark about the default", about: About{Program: "vm"}, text: `Usage: vm [options] FILE

  -q, --quiet           Say less.
  --no-quiet (default)  Say more.
  --strategy arg (=complete) The strategy.
`, want: `
--quiet -q /--no-quiet bool
--strategy string arg =complete
<file> path required
runnable`},

	{name: "a synopsis in parts", about: About{Program: "crop"}, man: true, text: `NAME
       crop - crop an image

SYNOPSIS
       crop

       [-white |-black]

       [-left]

       [pnmfile]

       Minimum unique abbreviation of option is acceptable.

DESCRIPTION
       This program crops.
`, want: `
-white bool
-black bool
-left bool
<pnmfile> string
conflict -white -black
runnable`},
}
