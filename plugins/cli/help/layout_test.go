package help

// A layout is a text in one of the ways in which programs print their help,
// with the expected result. The programs do not exist.
type layout struct {
	name  string
	about About
	man   bool
	text  string
	want  string
}

var layouts = []layout{
	{name: "gnu", about: About{Program: "pack"}, text: `Usage: pack [OPTION]... [FILE]...
  or:  pack -x ARCHIVE
Put each FILE into an archive.

Mandatory arguments to long options are mandatory for short options too.
  -a, --all                  take hidden files as well
  -b, --block-size=SIZE      write blocks of SIZE bytes
      --color[=WHEN]         colour the names; WHEN can be 'always',
                               'auto' or 'never'
  -j, --jobs=N               start N at once (default 4)
  -i[SUFFIX], --in-place[=SUFFIX]
                             change the file itself, and keep the old one if
                               --color is not given
  -W, --what-if=FILE, --new-file=FILE
                             think that FILE is new
  -v                         say more
      --help        display this help and exit
`, want: `
--all -a bool
--block-size -b string SIZE eq
--color string WHEN eq opt
--jobs -j integer N =4 eq
--in-place -i string SUFFIX eq opt
--what-if -W --new-file path FILE eq
-v bool
--help bool
-x string ARCHIVE
<file> path many
runnable`},

	{name: "a notice behind usage", about: About{Program: "notice"},
		text: `usage: Note: version 2 of this tool is now stable. See https://example.com
usage: notice [options] <file>

  -v    say more
`, want: `
-v bool
<file> path required
unparsed usage: Note: version 2 of this tool is now stable. See https://example.com
runnable`},

	{name: "a notice without a label", about: About{Program: "p"},
		text: `Usage: p is now part of the other package, please use it

  -v    say more
`, want: `
-v bool
unparsed usage: p is now part of the other package
runnable`},

	{name: "a group of flags", about: About{Program: "p"}, text: `Usage: p <--build|--clear> [FILE]

  -v    say more
`, want: `
-v bool
--build bool
--clear bool
<file> path
conflict --build --clear
runnable`},

	{name: "rules around headings", about: About{Program: "walk"}, text: `usage: walk [-acd] [-L level] [--charset X]
	[--help] [--] [directory ...]
  ------- Listing options -------
  -a            All files are listed.
  -d            List directories only.
  ------- File options -------
  -c            Colour them.
`, want: `
-a bool
-d bool
-c bool
-L string level
--charset string X
--help bool
<directory> path many after
terminator
runnable`},

	{name: "a heading without a colon", about: About{Program: "p"}, text: `Usage: p [options] FILE
         Listing options
  -a    All of them
`, want: `
-a bool
<file> path required
runnable`},

	{name: "an example below the usage", about: About{Program: "p"}, text: `Usage: p [options] FILE
         Example: p -a notes.txt
  -a    All of them
`, want: `
-a bool
<file> path required
runnable`},

	{name: "a pipeline", about: About{Program: "soak"}, man: true, text: `NAME
       soak - soak up standard input

SYNOPSIS
       sed '...' file | grep '...' | soak [-a] file

OPTIONS
       -a
           Append.
`, want: `
-a bool
<file> path required
runnable`},

	{name: "an explanation behind the call", about: About{Program: "soak"},
		text: `soak [-a] <file>: soak up all input and write it to <file>
`, want: `
-a bool
<file> path required
runnable`},

	{name: "no placeholders", about: About{Program: "p"}, text: `usage: p 'quoted words' 2 https://example.org FILE

  -v    say more
`, want: `
-v bool
<file> path required
unparsed usage: 'quoted words'
unparsed usage: 2
unparsed usage: https://example.org
runnable`},

	{name: "choices of a value", about: About{Program: "k", Path: []string{"explain"}}, text: `Usage:
  k explain TYPE [--recursive=FALSE|TRUE] [-o|--output=plain|fancy] [options]
`, want: `
--recursive enum FALSE|TRUE {FALSE,TRUE} eq
--output -o enum plain|fancy {plain,fancy} eq
<type> string required
runnable`},

	{name: "git", about: About{Program: "vc", Path: []string{"save"}},
		text: `usage: vc save [<options>] [--] <pathspec>...
   or: vc save [-q | --quiet] [--[no-]sign] (--all | --none)

    -q, --quiet           say nothing
    -m, --message <text>  the message
    --cleanup <mode>      how to strip
    --[no-]verify         run the hooks
    -S, --sign[=<key-id>]
                          sign it

Contents options
    --reuse-the-message <revision>
                          take it from there
    --[no-]chmod (+|-)x   override the executable bit
`, want: `
--quiet -q bool
--message -m string text
--cleanup string mode
--verify /--no-verify bool
--sign -S /--no-sign string key-id eq opt
--reuse-the-message string revision
--chmod /--no-chmod string (+|-)x
--all bool
--none bool
<pathspec> string many after
conflict --all --none
terminator
runnable`},

	{name: "table under the usage", about: About{Program: "fetch"}, text: `Usage: fetch [options...] <url>
 -d, --data <data>          HTTP POST data
 -f, --fail                 Fail fast with no output on HTTP errors
 -o, --output <file>        Write to file instead of stdout
`, want: `
--data -d string data
--fail -f bool
--output -o path file
<url> string required
runnable`},

	{name: "words to replace", about: About{Program: "fleet", Path: []string{"exec"}}, text: `Usage:
  fleet exec (SHIP | TYPE/NAME) [-c CABIN] (on|off) -- COMMAND [args...]

Options:
  -c, --cabin='': Where
`, want: `
--cabin -c string eq
<ship> string required
<choice> enum required
<command> string required after
<args> string many after
terminator
runnable`},

	{name: "an option for an argument", about: About{Program: "seek"}, text: `Usage: seek [OPTION]... PATTERNS [FILE]...
   or: seek [OPTION]... {script-only-if-no-other-script} [input-file]...
  -e, --regexp=PATTERNS     use PATTERNS for matching
`, want: `
--regexp -e string PATTERNS eq
<patterns> string
<file> path many
runnable`},

	{name: "numbers", about: About{Program: "seek"}, text: `Usage: seek [OPTION]... PATTERNS [FILE]...
  -1                        one a line
  -C, -NUM, --context=NUM   print NUM lines around each
  -NUM                      same as --context=NUM
  -123                      identical to --pid 123
  -1d:20110101              since yesterday
`, want: `
-1 bool
--context -C integer NUM eq
<patterns> string required
<file> path many
unparsed -NUM                      same as --context=NUM
unparsed -123                      identical to --pid 123
unparsed -1d:20110101              since yesterday
runnable`},

	{name: "git commands", about: About{Program: "vc"},
		text: `usage: vc [-v | --version] [-C <path>] [-c <name>=<value>]
          [--exec-path[=<path>]] [-p | --paginate | -P | --no-pager]
          <command> [<args>]

These are common commands used in various situations:

start a working area (see also: vc help tutorial)
   clone     Copy a repository
   init      Make a repository

look at history and state
   log       Show what was
   a-very-long-name Show more of what was

'vc help -a' lists all.
`, want: `
--version -v bool
-C path path
-c map <name>=<value> many
--exec-path path path eq opt
--paginate -p bool
--no-pager -P bool
conflict --paginate --no-pager
cmd clone: Copy a repository
cmd init: Make a repository
cmd log: Show what was
cmd a-very-long-name: Show more of what was`},

	{name: "cobra", about: About{Program: "fleet", Path: []string{"get"}}, text: `Show ships.

Usage:
  fleet get [flags]
  fleet get [command]

Aliases:
  get, g, show

Examples:
  fleet get --harbour=oslo

Available Commands:
  crew        Show the crew
  cargo       Show the cargo

Flags:
  -h, --help                  help for get
      --interval duration     how often (default 30s)
  -l, --label stringToString  labels (default [])
      --limit int             at most so many (default 10)
  -o, --output string         one of: json, yaml, table (default "table")
      --tag strings           only these
      --wait                  wait for it (default true)

Global Flags:
      --config string   config file [$FLEET_CONFIG]

Use "fleet get [command] --help" for more information about a command.
`, want: `
--help -h bool
--interval duration duration =30s
--label -l map stringToString =[] many
--limit integer int =10
--output -o enum string {json,yaml,table} =table
--tag list strings many
--wait bool =true
--config string string env:FLEET_CONFIG inherited
alias g
alias show
cmd crew: Show the crew
cmd cargo: Show the cargo
runnable`},

	{name: "kubectl", about: About{Program: "fleet", Path: []string{"show"}},
		text: "Show ships.\n\nOptions:\n    -A, --all=false:\n\tAll harbours. Not with --one.\n\n    --chunk-size=500:\n\tHow many at once.\n\n    -f, --filename=[]:\n\tFiles.\n\n    -o, --output='':\n\tFormat. One of: (json, yaml).\n\n    --timeout=0s:\n\tHow long.\n\nUsage:\n  fleet show [(-o|--output=)json|yaml] (TYPE[.VERSION] [NAME | -l label] | TYPE/NAME ...) [flags] [options]\n",
		want: `
--all -A bool =false eq
--chunk-size integer =500 eq
--filename -f list eq many
--output -o enum {json,yaml} eq
--timeout duration =0s eq
-l string label
<type> string many
<name> string
runnable`},

	{name: "clap", about: About{Program: "look"}, text: `look 2.1
Look for things.

Usage: look [OPTIONS] <PATTERN> [PATH]... [COMMAND]

Commands:
  index, i  Make an index
  help      Print this message

Arguments:
  <PATTERN>
          What to look for

  [PATH]...
          Where to look

Options:
  -e, --regexp <PATTERN>
          A pattern.

          It may begin with a dash:
          -foo is one.

      --color <WHEN>
          When to colour

          Possible values:
          - auto:   when a person looks
          - always: in any case
          
          [default: auto]

  -v, --verbose...
          Say more

  -j, --threads <N>
          How many [env: LOOK_THREADS=] [default: 0]

  -h, --help
          Print help (see a summary with '-h')
`, want: `
--regexp -e string PATTERN
--color enum WHEN {auto,always} =auto
--verbose -v count many
--threads -j integer N =0 env:LOOK_THREADS
--help -h bool
<pattern> string
<path> path many
cmd index (i): Make an index
cmd help: Print this message
runnable`},

	{name: "argparse", about: About{Program: "till"},
		text: `usage: till [-h] [--level {low,high}] [-o OUT [OUT ...]] [--dry-run | --force]
            [--opt [VAL]] --name NAME
            {add,rm} ...

A till.

positional arguments:
  {add,rm}              what to do
    add                 put in
    rm                  take out

options:
  -h, --help            show this help message and exit
  --level {low,high}, -l {low,high}
                        how much (default: low)
  -o OUT [OUT ...], --output OUT [OUT ...]
                        where to
  --dry-run             say it only
  --force               do it in any case
  --opt [VAL]           may have a value
  --name NAME           whose
`, want: `
--help -h bool
--level -l enum low,high {low,high} =low
--output -o string OUT many
--dry-run bool
--force bool
--opt string VAL opt
--name string NAME required
conflict --dry-run --force
cmd add: put in
cmd rm: take out`},

	{name: "click", about: About{Program: "press"}, text: `Usage: press [OPTIONS] SRC... DST

  Press SRC into DST.

Options:
  -l, --line-length INTEGER RANGE  How long.  [default: 88; x>=1]
  --shout / --no-shout             Loud.  [default: no-shout]
  --hash-type [md5|sha1]           Which one.
  -q, --quiet                      Less. Can be repeated.
  --config FILE                    From here.  [required]
  --x INTEGER                      [default: 3]
  --help                           Show this message and exit.
`, want: `
--line-length -l integer INTEGER RANGE =88; x>=1
--shout /--no-shout bool
--hash-type enum md5|sha1 {md5,sha1}
--quiet -q count many
--config path FILE required
--x integer INTEGER =3
--help bool
<src> string required many
<dst> string required
runnable`},

	{name: "go flag", about: About{Program: "tidy"}, text: "Usage of tidy:\n  -cpuprofile string\n    \twrite a profile to this file\n  -d\tshow differences\n  -n int\n    \thow many (default 3)\n  -race\n    \tlook for races\n",
		want: `
-cpuprofile string string
-d bool
-n integer int =3
-race bool
runnable`},

	{name: "go tool", about: About{Program: "forge"}, text: "Forge is a tool.\n\nUsage:\n\n\tforge <command> [arguments]\n\nThe commands are:\n\n\tbuild       compile\n\tvet         report mistakes\n\nUse \"forge help <command>\" for more.\n\nAdditional help topics:\n\n\tcache           where it is\n\tbuildconstraint which files\n",
		want: `
cmd build: compile
cmd vet: report mistakes`},

	{name: "apt", about: About{Program: "fetch"}, text: `fetch 1.0
Usage: fetch [options] command
       fetch [options] install|remove pkg1 [pkg2 ...]

Most used commands:
  update - Read the lists
  dist-upgrade - Everything, see fetch(8)

See fetch(8) for more information about the available commands.
                                        This is a joke.
`, want: `
cmd update: Read the lists
cmd dist-upgrade: Everything, see fetch(8)`},

	{name: "systemctl", about: About{Program: "unit"}, text: `unit [OPTIONS...] COMMAND ...

Control units.

Unit Commands:
  list [PATTERN...]                   List units
  show [PATTERN...|JOB...]            Show properties of one or more
                                      units
  set-property UNIT PROPERTY=VALUE... Set properties
  daemon-reload                       Read again

Options:
  -h --help              Show this help
  -H --host=[USER@]HOST  Work there
     --no-pager          No pager

See the unit(1) man page for details.
`, want: `
--help -h bool
--host -H string [USER@]HOST eq
--no-pager bool
cmd list <pattern>: List units
cmd show <pattern>: Show properties of one or more units
cmd set-property <unit> <property=value>: Set properties
cmd daemon-reload: Read again`},

	{name: "npm", about: About{Program: "crate"}, text: `crate <command>

Usage:

crate install        install everything
crate install <foo>  add the <foo> dependency
crate <command> -h   quick help on <command>

All commands:

    access, adduser, audit, bugs,
    help-search, init, install-test,
    whoami

Specify configs in the file:
    ~/.craterc
`, want: `
-h bool
cmd access
cmd adduser
cmd audit
cmd bugs
cmd help-search
cmd init
cmd install-test
cmd whoami`},

	{name: "npm command", about: About{Program: "crate", Path: []string{"install"}}, text: `Install a package

Usage:
crate install [<package-spec> ...]

Options:
[-S|--save|--no-save|--save-dev] [-g|--global]
[--omit <dev|optional> [--omit <dev|optional> ...]] [--no-audit]
[-w|--workspace <workspace-name> [-w|--workspace <workspace-name> ...]]

  -S|--save
    Save it as a dependency.

  -g|--global
    In "global" mode, so that

  --omit
    What to leave out.

  --audit
    Send a report.

  -w|--workspace
    Only there.

aliases: add, i

Run "crate help install" for more info
`, want: `
--save -S /--no-save bool
--global -g bool
--omit enum dev|optional {dev,optional} many
--audit /--no-audit bool
--workspace -w string workspace-name many
--save-dev bool
<package-spec> string many
alias add
alias i
conflict --save --save-dev
runnable`},

	{name: "openssl", about: About{Program: "seal"}, text: `help:

Standard commands
asn1parse         ca                ciphers           cmp
x509

Message Digest commands (see the ` + "`dgst'" + ` command for more details)
blake2b512        md5               sha3-224

`, want: `
cmd asn1parse
cmd ca
cmd ciphers
cmd cmp
cmd x509
cmd blake2b512
cmd md5
cmd sha3-224`},

	{name: "openssl options", about: About{Program: "seal", Path: []string{"req"}}, text: `Usage: req [options]

General options:
 -help                 Display this summary
 -in infile            Request (default stdin)
 -inform PEM|DER       Format
 -days +int            How long
 -keygen_engine val    Which engine

Output options:
 -*                    Any supported digest
`, want: `
-help bool
-in path infile =stdin
-inform enum PEM|DER {PEM,DER}
-days integer +int
-keygen_engine string val
unparsed -*                    Any supported digest
runnable`},

	{name: "commander", about: About{Program: "brew"}, text: `Usage: brew [options] [command]

Options:
  -V, --version             output the version number
  -p, --port <number>       port (default: 3000)
  --size <s>                size (choices: "small", "large", default: "small")
  --drink [kind]            with a drink
  -h, --help                display help for command

Commands:
  install|i [options] <n>   install one
  serve [options]           serve
  help [command]            display help for command
`, want: `
--version -V bool
--port -p integer number =3000
--size enum s {small,large} =small
--drink string kind opt
--help -h bool
cmd install (i) <i> <n>: install one
cmd serve: serve
cmd help <command>: display help for command`},

	{name: "yargs", about: About{Program: "knit"}, text: `knit <command>

Commands:
  knit init <path>     start here                              [aliases: i, new]
  knit inspect [spec]  look                                            [default]

Options:
      --help     Show help                                             [boolean]
  -c, --config   Path to config                      [string] [default: "k.json"]
  -l, --list     Many                                                    [array]
      --mode     How                      [choices: "fast", "slow"] [string]
  -n, --number   How many                                    [number] [required]
`, want: `
--help bool
--config -c string =k.json
--list -l list many
--mode enum {fast,slow}
--number -n number required
cmd init (i,new) <path>: start here
cmd inspect <spec>: look [default]`},

	{name: "boxes", about: About{Program: "art"}, text: `
 Usage: art [OPTIONS] COMMAND [ARGS]...

 Draw.

╭─ Options ────────────────────────────────────────────────────╮
│ --count    -c      INTEGER  How often [default: 1]           │
│ --name             TEXT     Whose [required]                 │
│ --help                      Show this message and exit.      │
╰──────────────────────────────────────────────────────────────╯
╭─ Commands ───────────────────────────────────────────────────╮
│ paint   Paint it.                                            │
│ frame   Put it into a frame, and hang it on the wall where   │
│         it is seen.                                          │
╰──────────────────────────────────────────────────────────────╯
`, want: `
--count -c integer INTEGER =1
--name string TEXT required
--help bool
cmd paint: Paint it.
cmd frame: Put it into a frame, and hang it on the wall where it is seen.`},

	{name: "bsd", about: About{Program: "shellx"}, text: `unknown option -- h
usage: shellx [-46AaCfGgKkMNnqsTtVvXxYy] [-B bind_interface]
              [-p port] [-t rsa | dsa] [-O option] ... destination
              [command [argument ...]]
`, want: `
-4 bool
-6 bool
-A bool
-a bool
-C bool
-f bool
-G bool
-g bool
-K bool
-k bool
-M bool
-N bool
-n bool
-q bool
-s bool
-T bool
-t enum rsa|dsa {rsa,dsa}
-V bool
-v bool
-X bool
-x bool
-Y bool
-y bool
-B string bind_interface
-p integer port
-O string option many
<destination> string required
<command> string
<argument> string many
runnable`},

	{name: "side by side", about: About{Program: "zipper"}, text: `zipper 3.0. Usage:
zipper [-options] [-b path] [zipfile list]
  -f   freshen: only changed  -u   update: only changed or new
  -d   delete entries         -m   move into it
  -r   into directories       -j   junk the names
  -F   fix it (-FF try more!) -D   no directory entries
  -h2  show more help
`, want: `
-f bool
-d bool
-r bool
-F bool
-u bool
-m bool
-j bool
-D bool
-h2 bool
-b path path
<zipfile> string
<list> list
runnable`},

	{name: "terraform", about: About{Program: "terra", Path: []string{"plan"}},
		text: `Usage: terra [global options] plan [options]

  Makes a plan.

Plan Customization Options:

  -destroy            Plan the end.

  -refresh=false      Do not look.

  -var 'foo=bar'      Set a variable. Use this option more than once to
                      set more than one.

  -lock-timeout=0s    How long.

  -parallelism=n      At most so many. Defaults to 10.
`, want: `
-destroy bool
-refresh bool =true eq
-var string foo=bar many
-lock-timeout duration =0s eq
-parallelism integer n =10 eq
runnable`},

	{name: "groups of words", about: About{Program: "verse"}, text: `Verse (version 2)

Usage:
  command [options] [arguments]

Options:
  -v|vv|vvv, --verbose  Increase the verbosity of messages: 1 for normal

Available commands:
  about          Shows information.

 cache
  cache clear    Clears it.
  cache list     Lists it.

 db
  db:migrate     Moves it.
`, want: `
--verbose -v count many
cmd about: Shows information.
cmd cache
  cmd clear: Clears it.
  cmd list: Lists it.
cmd db:migrate: Moves it.
runnable`},

	{name: "spelled in usage", about: About{Program: "vc", Path: []string{"stash"}},
		text: `usage: vc stash list [<log-options>]
   or: vc stash show [-u | --include-untracked] [<stash>]
   or: vc stash [push [-k | --[no-]keep-index]
                [(-m | --message) <message>]
                [--] [<pathspec>...]]
   or: vc stash set [ mtu MTU ] [ name NAME ] [ up ]
   or: vc stash clear
`, want: `
--keep-index -k /--no-keep-index bool
--message -m string message
cmd list
cmd show --include-untracked <stash>
cmd set <args>
cmd clear
cmd push --keep-index --message <pathspec>
terminator
runnable`},

	{name: "dots", about: About{Program: "page"}, text: `  -?  ........  --help
                  Display help.
  -b [N]  ....  --buffers=[N]
                  Number of buffers.
  -F  ........  --quit
                  Go.
                --mouse
                  Mouse.
`, want: `
--help -? bool
--buffers -b integer N eq
--quit -F bool
--mouse bool
runnable`},

	{name: "man", man: true, about: About{Program: "vc"}, text: "VC(1)                 Manual                 VC(1)\n\n\x1b[1mNAME\x1b[0m\n       vc - keep versions\n\nS\bSY\bYN\bNO\bOP\bPS\bSI\bIS\bS\n       vc [-v] [--level=_\bN] <command> [<args>]\n\nO\bOP\bPT\bTI\bIO\bON\bNS\bS\n       -v, --version\n           Prints the version,  as the  --help  command\n           --version would.\n\n       --level=N\n           How deep.\n\n           Example:\n\n               vc --depth=3\n\n       --[no-]pager\n           Pages.\n\nCOMMANDS\n   Main porcelain commands\n       vc-add(1)\n           Add  file  contents.\n\n       apply PATCH...\n           Apply some.\n\nENVIRONMENT\n       --not-an-option\n           Nothing.\n",
		want: `
--version -v bool
--level integer N eq
--pager /--no-pager bool
cmd add: Add file contents.
cmd apply <patch>: Apply some.`},

	{name: "bullets", about: About{Program: "cloud"}, text: "AVAILABLE SERVICES\n       o accessanalyzer\n\n       +\bo acm-pca\n\n       o s3\n\nSEE ALSO\n       o help\n",
		want: `
cmd accessanalyzer
cmd acm-pca
cmd s3`},

	{name: "joined", about: About{Program: "cc"}, text: `Usage: cc [options] file...
Options:
  -Wl,<options>            Pass comma-separated <options> on to the linker.
  -print-file-name=<lib>   Display the full path to library <lib>.
  -print-multi-os-directory Display the relative path to OS libraries.
  -L<dir>                  Look there.
  -agentlib:<libname>[=<options>]
                           Load it.
  -o <file>                Place the output into <file>.
  --define:K=V             Replace K.
`, want: `
-Wl, string options glued
-print-file-name string lib eq
-print-multi-os-directory bool
-L path dir glued
-agentlib: string <libname>[=<options>] glued
-o path file
--define: map K=V glued many
<file> path required many
runnable`},

	{name: "rows", about: About{Program: "seek"}, text: `Usage: seek [path...] [expression]

normal options (always true, before others):
      -depth -files0-from FILE -maxdepth LEVELS
      -mount -noleaf -xdev
`, want: `
-depth bool
-files0-from path FILE
-maxdepth string LEVELS
-mount bool
-noleaf bool
-xdev bool
<path> path many
<expression> string
runnable`},

	{name: "definitions", about: About{Program: "wire"}, text: `Usage: wire [ OPTIONS ] OBJECT { COMMAND | help }
       wire [ -force ] -batch filename
where  OBJECT := { address | link |
                   route }
       OPTIONS := { -V[ersion] | -f[amily] { inet | link } |
                    -4 | -n[etns] name }
`, want: `
-V -Version bool
-f -family enum inet|link {inet,link}
-4 bool
-n -netns string name
-force bool
-batch path filename
cmd address
cmd link
cmd route
runnable`},

	{name: "between bars", man: true, about: About{Program: "stock"}, text: `NAME
       stock - look at the stock

SYNOPSIS
       stock [-agins] [-o=config_string] {names | show item... | dump | {-v | --version}}

       stock {hold | free} item...

       stock can show the stock in many other ways as well.

OPTIONS
       -o, --option
           Set it. It can be used multiple times.

       --merge=first, --merge=1, --first
           How to merge.

       ○   --seq / -s:

           In sequence.

       --merges=last

           --nested-one, --cc
               Described within.
`, want: `
--option -o string config_string eq many
--merge string 1 eq
--first bool
--seq -s bool
--merges string last eq
--nested-one --cc bool
-a bool
-g bool
-i bool
-n bool
--version -v bool
cmd names
cmd show
cmd dump
cmd hold
cmd free`},

	{name: "a word for commands", about: About{Program: "galaxy"}, text: `usage: galaxy [-h] [-v] TYPE ...

positional arguments:
  TYPE
    collection  Manage collections.
    role        Manage roles.

options:
  -h, --help    show this help message and exit
  -v, --verbose VERBOSE
                more
`, want: `
--help -h bool
--verbose -v string VERBOSE
cmd collection: Manage collections.
cmd role: Manage roles.`},

	{name: "parts of a list", about: About{Program: "oci", Path: []string{"raw"}}, text: `NAME:
   oci raw - advanced tooling

USAGE:
   oci raw command [command options] raw <command> [<args>...]

COMMANDS:

   image:
     add-layer               add a layer
     runtime-config, config  make a configuration

   Environment Commands:
     show-environment        show it

OPTIONS:
   --help, -h   show help
   --flag BOOL  on or off
   --           the end
`, want: `
--help -h bool
--flag enum BOOL {true,false}
cmd add-layer: add a layer
cmd runtime-config (config): make a configuration
cmd show-environment: show it
terminator`},

	{name: "sentences", about: About{Program: "forge", Path: []string{"list"}},
		text: `usage: forge list [-f format] [packages]

List lists.

The -f flag specifies a format.

The -deps flag causes more
to be listed.

The -reuse=old.json flag accepts a file.

With the -find flag, the -test flag cannot be used.
`, want: `
-f string format
-deps bool
-reuse string old.json eq
<packages> string many
runnable`},

	{name: "no values shown", about: About{Program: "spec"}, text: `Options:
  --extension        File extension(s) to load
  --file             Specify what to load first
  --bail, -b         Abort after the first
  --colors           Force colour
  --list-reporters   List the reporters & exit
  --jobs, -j         Number of jobs
  --config           Path to the configuration
  --grep, -g         Only those matching this string
  --slow             Threshold (in milliseconds)
  --dry-run          Only say it
`, want: `
--extension string
--file string
--bail -b bool
--colors bool
--list-reporters bool
--jobs -j string
--config string
--grep -g string
--slow string
--dry-run bool
runnable`},

	{name: "aliases of commands", about: About{Program: "box"}, text: `Installed Commands:
    b                    alias: build
    build                Compile it
    miri
    run (r)              Run it
`, want: `
cmd build (b): Compile it
cmd miri
cmd run (r): Run it`},

	{name: "one value twice", about: About{Program: "odd"}, text: `usage: odd [--when now|later|now] (up|up)

Options:
  --how HOW   either of:
              - fast
              - fast
`, want: `
--how string HOW
--when enum now|later|now {now,later}
<up> string required
runnable`},

	{name: "letters of another alphabet in a row", about: About{Program: "odd"},
		text: "usage: odd [-\u212a\u212a] [-\u0130a]\n", want: "-\u212a\u212a bool\n-\u0130a bool\nrunnable"},

	{name: "an ending in a row of letters", about: About{Program: "odd"},
		text: "usage: odd [-Aabcdefghijkl(s)]\n", want: `
-Aabcdefghijkl string s glued
runnable`},

	{name: "a spelling again, joined to a value", about: About{Program: "odd"},
		text: "Options:\n  -a, -b, -a:<x>  first\n  --c=N, --d=N, --c  second\n", want: `
-a: -b string x glued
--c --d integer N eq
runnable`},

	{name: "white space in names", about: About{Program: "odd"},
		text: "usage: odd <a\tb> <c\u3000d> <e  f> -g\u2003H\n", want: `
-g string H required
<a-b> string required
<c-d> string required
<e-f> string required
runnable`},

	{name: "what only looks like an ending that may be left out", about: About{Program: "odd"},
		text: "usage: odd -col...[u]r -b,...[o]x -ta[ i]l -f[u]ll\n", want: `
-col string [u]r many required
-b string [o]x many required
-ta string [ i]l opt glued required
-full bool required
runnable`},

	{name: "pages, and what is none", about: About{Program: "odd"}, text: `Commands:
  odd-add(1), odd-put(1)   Adds
  odd-get(1):              Gets
  odd-cut(1)ting           Cuts
  odd-rm(1)                Removes
`, want: `
cmd add: Adds
cmd get: Gets
cmd rm: Removes
unparsed odd-cut(1)ting           Cuts`},

	{name: "dots that leave something out", about: About{Program: "odd"},
		text: "usage: odd {a\u2026b,c.d} ...\nusage: odd e\u2026f\nusage: odd g.h\nusage: odd FILE\u2026\n", want: `
<file> path many
cmd c.d
runnable`},
}

// refused are texts with lines that look like options or commands but are not.
var refused = []layout{
	{name: "nothing", text: ""},
	{name: "prose", text: "This program prints words. The commands: none.\nIt was written long ago, and the options are few.\n"},
	{name: "a value that is negative",
		text: "It returns\n-1 where nothing was found, and\n-2 when there was an error.\n"},
	{name: "a sentence that wraps", text: "Use it with the options that were\n--given to you before, or leave them\n-out of it for now.\n"},
	{name: "bullets", text: "Notes\n- one thing\n- another thing\n-- and a dash\n"},
	{name: "examples", text: "Examples:\n  prog --all          does all\n  prog --none file    does none\n  --like-this         is not one either\n"},
	{name: "environment", text: "Environment variables:\n  HOME      where you live\n  -X        not an option here\n  editor    what you write with\n"},
	{name: "topics", text: "Additional help topics:\n  cache       where it is\n  modules     what they are\n"},
	{name: "exit codes", text: "Exit status:\n  0  all is well\n  1  it is not\n"},
	{name: "rules", text: "-----------------\n------  -------\n=================\n"},
	{name: "a table", text: "name      size   date\nalpha     12     today\nbeta      14     yesterday\n"},
	{name: "mail headers", text: "From: someone@example.org\nSubject: options\n\nHello there.\n"},
	{name: "an error", text: "prog: unrecognized option '--help'\nTry again.\n"},
	{name: "diff", text: "--- a/file\n+++ b/file\n@@ -1,2 +1,2 @@\n-old line of text here\n+new line\n"},
	{name: "plus", text: "Options:\n  +x      executable\n  +lnum   start there\n"},
	{name: "concepts", text: "usage: prog <command>\n\nFile formats and other interfaces\n   attributes   per path\n   hooks        what runs\n"},
	{name: "alternatives without a name", text: "usage: prog (- | x.y)\n"},
	{name: "licence", text: "THIS SOFTWARE IS PROVIDED \"AS IS\":\n  without warranty  of any kind\n  and so on         and so forth\n"},
}
