package help

// alternativeLayouts are usages with alternatives and arguments in unusual
// forms.
var alternativeLayouts = []layout{
	{name: "a file or a directory or a process", about: About{Program: "scan"},
		text: `Usage: scan [OPTION]... [NAMESPACE:]RULES_FILE... FILE | DIR | PID

  -c,  --count   print only number of matches
`, want: `
--count -c bool
<rules_file> path required many
<file> string required
runnable`},

	{name: "alternatives with several arguments", about: About{Program: "count"},
		text: `Usage: count [options] <file(s)/dir(s)> | <set 1> <set 2> | <report files>
`, want: `
<file/dir> string required many
runnable`},

	{name: "alternatives without white space", about: About{Program: "types"}, text: `Synopsis

  $ types [--lang LANG] [--out FILE] FILE|URL ...
`, want: `
--lang string LANG
--out path FILE
<file> string required many
runnable`},

	{name: "paths only", about: About{Program: "p"}, text: "Usage: p FILE | DIR\n", want: `
<file> path required
runnable`},

	{name: "an argument or an option", about: About{Program: "p"}, text: "Usage: p FILE | --list\n", want: `
--list bool
<file> path
runnable`},

	{name: "the value of an option before a bar", about: About{Program: "p"},
		text: "Usage: p [-v] --type rsa | dsa\n", want: `
-v bool
--type string rsa required
<dsa> string required
runnable`},

	{name: "alternatives in brackets", about: About{Program: "p"}, text: "Usage: p (FILE | DIR) [NAME | ID]\n", want: `
<file> path required
<name> string
runnable`},

	{name: "an alias of a command", about: About{Program: "spell", Path: []string{"suggestions"}},
		text: "Usage: spell suggestions|sug [options] [words...]\n", want: `
<words> string many
runnable`},

	{name: "an alias of a nested command", about: About{Program: "spell", Path: []string{"link", "list"}},
		text: "Usage: spell link list|ls [options]\n", want: `
runnable`},

	{name: "words that are no alias", about: About{Program: "unit"}, text: "Usage: unit start|stop NAME\n", want: `
<choice> enum required
<name> string required
runnable`},

	{name: "names in camel case", about: About{Program: "pdf", Path: []string{"merge"}},
		text: `Concatenate files into outFile.

Usage:
  pdf merge outFile inFile... [flags]

Flags:
  -s, --sort   sort them
`, want: `
--sort -s bool
<outfile> path required
<infile> path required many
runnable`},

	{name: "a choice of names in camel case", about: About{Program: "pdf", Path: []string{"split"}}, text: `Usage:
  pdf split inFile outDir [ span | pageNr... ] [flags]
`, want: `
<infile> path required
<outdir> string required
<span> string many
runnable`},

	{name: "plain words before flags", about: About{Program: "pdf", Path: []string{"stamp", "add"}}, text: `Usage:
  pdf stamp add string | file description inFile [ outFile ] [flags]
`, want: `
<string> string required
<description> string required
<infile> path required
<outfile> path
runnable`},

	{name: "a sentence below the heading", about: About{Program: "p"}, text: `Usage:
  run p with the name of a file

  -v  say more
`, want: `
-v bool
runnable`},

	{name: "options of a package of Go below the usage", about: About{Program: "conform"},
		text: `Usage: conform [OPTION]... [FILE OR FOLDER]...
  -cache string
    	cache schemas downloaded via HTTP to this folder
  -debug
    	print debug information
  -h	show help information
  -skip string
    	comma-separated list of kinds or GVKs to ignore
  -strict
    	disallow additional properties not in schema
  -v	show version information
`, want: `
-cache string string
-debug bool
-h bool
-skip string string
-strict bool
-v bool
<file> path many
runnable`},

	{name: "options that belong to the usage", about: About{Program: "p"}, text: `usage: p [-a]
  -b NAME
  [-c] FILE
`, want: `
-a bool
-b string NAME required
-c bool
<file> path required
runnable`},
}

// fileLayouts are usages with names of files as placeholders.
var fileLayouts = []layout{
	{name: "endings of files", about: About{Program: "sam"},
		text: "Usage: sam [options] <in.bam>|<in.sam> [out.sam.gz]\n", want: `
<in.bam> path required
<out.sam.gz> path
runnable`},
	{name: "a file with or without compression", about: About{Program: "sam"},
		text: "Usage: sam <file.fa|file.fa.gz> [region ...]\n", want: `
<file.fa|file.fa.gz> string required
<region> string many
runnable`},
	{name: "words with dots that are values", about: About{Program: "p"},
		text: "Usage: p {v1.2|v1.3|inner.part} [FILE]\n", want: `
<choice> enum required
<file> path
runnable`},
}

// valueLayouts are options whose values are in unusual forms.
var valueLayouts = []layout{
	{name: "blanks between spellings", about: About{Program: "fmt"}, text: `Printer options:

  -i,  --indent uint       0 for tabs (default), >0 for number of spaces
  -bn, --binary-next-line  operators may start a line
  -p,  --posix             shorthand for the language
`, want: `
--indent -i integer uint
--binary-next-line -bn bool
--posix -p bool
runnable`},

	{name: "the content of a file", about: About{Program: "geo"},
		text: "Usage: geo [-where restricted_where|@filename] [-mode read|write] FILE\n", want: `
-where string restricted_where|@filename
-mode enum read|write {read,write}
<file> path required
runnable`},

	{name: "several of the listed values", about: About{Program: "check"}, text: `Options:
    --enable=<id>        Enable additional checks. The available values are:
                          * all
                                  Enable all checks.
                          * style
                                  Enable all coding style checks.
                         Several ids can be given if you separate them with
                         commas. See also --std
    --std=<id>           Set the standard. The available values are:
                          * c89
                                  C code is C89 compatible
                          * c99
                                  C code is C99 compatible
`, want: `
--enable string id eq
--std enum id {c89,c99} eq
runnable`},
}
