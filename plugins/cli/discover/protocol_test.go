package discover

import (
	"cmp"
	"strings"
	"testing"
)

// TestCobraCompletion checks that completion adds commands, but not the
// arguments that it offers.
func TestCobraCompletion(t *testing.T) {
	script := `# __completeNoDesc
case "$*" in
--help) printf 'Does things.\n\nUsage:\n  prog [command]\n\nAvailable Commands:\n  image   Handle images\n  status  Show how things are\n\nFlags:\n  -v, --verbose   Say more\n\nUse "prog [command] --help" for more information about a command.\n' ;;
"__complete ") printf 'image\tHandle images\nplugin\tHandle plugins\nstatus\tShow how things are\n_activeHelp_ say something\n:4\n'; echo "Completion ended with directive: ShellCompDirectiveNoFileComp" >&2 ;;
"image --help") printf 'Usage:\n  prog image [command]\n\nAvailable Commands:\n  list   List images\n  load   Load an image\n\nFlags:\n  -a, --all   Of everybody\n' ;;
"__complete image ") printf 'web\tsome name\ndb\tanother\ncache\ta third\n:4\n' ;;
*" --help") printf 'Usage:\n  prog %s [flags]\n\nFlags:\n  -q, --quiet   Say less\n' "$1" ;;
*) echo "$*" >>"$here/acted" ;;
esac`
	f := newFake(t, script)
	p := f.run()
	wantNames(t, names(p), "image", "image list", "image load", "status", "plugin")
	if p.Root.Source != "cobra" || f.acted() != "" || !has(command(t, p, "plugin"), "--quiet") {
		t.Errorf("source %s, the program did %q", p.Root.Source, f.acted())
	}
	for _, never := range []string{"__complete status ", "__complete image list "} {
		if f.called(never) {
			t.Errorf("the program was asked to complete arguments: %q", never)
		}
	}
}

// TestNoCompletionWithFixedArguments checks that the words of the protocol
// never follow fixed arguments.
func TestNoCompletionWithFixedArguments(t *testing.T) {
	f := newFake(t, "# __completeNoDesc\nshift\n"+nested)
	f.run(func(o *Options) { o.Command = append(o.Command, "--") })
	for _, call := range f.calls() {
		if strings.Contains(call, "__complete") {
			t.Errorf("the program was asked %q", call)
		}
	}
}

// TestProgramsThatOnlyResembleCobra checks that such programs are not asked for
// completions, and that malformed completions are ignored.
func TestProgramsThatOnlyResembleCobra(t *testing.T) {
	looks := `case "$*" in
--help) printf 'Usage:\n  prog [command]\n\nAvailable Commands:\n  image   Handle images\n  status  Show things\n\nUse "prog [command] --help" for more information about a command.\n' ;;
*" --help") printf 'Usage:\n  prog %s [flags]\n\nFlags:\n  -q, --quiet   Say less\n' "$1" ;;
*) printf 'image\timages\nplugin\tplugins\nstatus\tthings\n'; echo "$*" >>"$here/acted" ;;
esac`
	f := newFake(t, looks)
	f.run()
	if f.acted() != "" {
		t.Errorf("the program did %q", f.acted())
	}
	f = newFake(t, "# __completeNoDesc\n"+looks)
	p := f.run()
	wantNames(t, names(p), "image", "status")
	wantNames(t, strings.Split(strings.TrimSpace(f.acted()), "\n"), "__complete")
}

// TestClickCompletion checks that the question is a question for help if the
// program ignores the variable.
func TestClickCompletion(t *testing.T) {
	script := `case "$_PROG_COMPLETE" in
zsh_source) echo '#compdef prog'; echo '_PROG_COMPLETE=zsh_complete prog'; exit ;;
zsh_complete) echo "$COMP_WORDS/$COMP_CWORD" >>"$here/completed"
	case "$COMP_WORDS" in
	"prog ") printf 'plain\nimage\nHandle images\nplain\nstatus\nShow things\nplain\nhidden\nNot in the list\n' ;;
	*) printf 'file\n-\n_\n' ;;
	esac; exit ;;
esac
case "$*" in
--help) printf 'Usage: prog [OPTIONS] COMMAND [ARGS]...\n\nOptions:\n  --help  Show this message and exit.\n\nCommands:\n  image   Handle images\n  status  Show things\n' ;;
*" --help") printf 'Usage: prog %s [OPTIONS]\n\nOptions:\n  -q, --quiet   Say less\n  --help        Show this message and exit.\n' "$1" ;;
*) echo "$*" >>"$here/acted" ;;
esac`
	f := newFake(t, script)
	p := f.run()
	wantNames(t, names(p), "image", "status", "hidden")
	if p.Root.Source != "click" || f.acted() != "" {
		t.Errorf("source %s, the program did %q", p.Root.Source, f.acted())
	}
	// The same without the protocol.
	f = newFake(t, script[strings.Index(script, "esac\ncase")+5:])
	p = f.run()
	wantNames(t, names(p), "image", "status")
	if p.Root.Source != "help" || f.acted() != "" {
		t.Errorf("source %s, the program did %q", p.Root.Source, f.acted())
	}
}

func TestClapCompletion(t *testing.T) {
	f := newFake(t, `# _CLAP_COMPLETE_INDEX
if [ "$COMPLETE" = fish ]; then
	case "$*" in
	"-- $here/prog ") printf 'image\tHandle images\nextra\tNot in the list\nstatus\tShow things\n' ;;
	--help) echo 'complete --command prog --arguments "(COMPLETE=fish prog -- (commandline))"' ;;
	esac; exit
fi
case "$*" in
--help) printf 'Does things\n\nUsage: prog <COMMAND>\n\nCommands:\n  image   Handle images\n  status  Show things\n\nOptions:\n  -h, --help  Print help\n' ;;
*" --help") printf 'Usage: prog %s [OPTIONS]\n\nOptions:\n  -q, --quiet  Say less\n  -h, --help   Print help\n' "$1" ;;
*) echo "$*" >>"$here/acted" ;;
esac`)
	p := f.run()
	wantNames(t, names(p), "image", "status", "extra")
	if p.Root.Source != "clap" || f.acted() != "" {
		t.Errorf("source %s, the program did %q", p.Root.Source, f.acted())
	}
}

// TestHints checks which suggestions in a text become questions.
func TestHints(t *testing.T) {
	const program = "prog"
	for _, c := range []struct {
		text string
		path string
		want string // joined with "|"
	}{
		{`Run "prog help -a" to see all commands.`, "", "help -a"},
		{`'prog help -a' and 'prog help -g' list available subcommands`, "", "help -a"},
		{`See all commands with --list`, "", "--list"},
		{`    --list    List installed commands`, "", "--list"},
		{`For all options use the manual or "--help all".`, "", "--help all"},
		{`    -h full -- print all options`, "", "-h full"},
		{`Use "prog options" for a list of global options.`, "", "options"},
		{`Try 'prog -help' for more information.`, "", "-help"},
		{`Run 'prog help build' for details.`, "build", "help build"},
		{"Type `prog help' for usage.", "", "help"},

		{"Try 'prog --help <simple|list|all>'", "", "--help all"},
		{"  --help={all|none}  Display it", "", "--help=all"},

		{"  --all          Show all compiler options.", "", "--help --all"},
		{"  -a, --all-opts  Print the full help", "sub", "sub --help --all-opts"},

		{"  --all          Show all files.", "", ""},
		{"  --delete       Remove what all options name", "", ""},
		{"  prog --help --all", "", "--help --all"},
		{"All options are documented under: prog --help options", "", "--help options"},
		{"Try 'prog --help <simple|list>'", "", ""},
		{"Try 'prog --help <all|/etc/passwd>'", "", ""},
		{`    --list    List the files of an archive`, "", ""},
		{`Run "prog delete -a" to remove all commands.`, "", ""},
		{`Run "other help -a" to see all commands.`, "", ""},
		{`Run "my-prog help -a" to see all commands.`, "", ""},
		{`With "prog options" it goes on.`, "", ""},
		{`The options are listed below, help is needed`, "", ""},
		{`Run "prog help -attack" for more`, "", ""},
		{`Use "--help=all;rm" for more`, "", ""},
		{`Run "prog help build" for details.`, "test", ""},
		{`commands  List the commands`, "", ""},
		{`Runs builtin commands. Type "prog" to list available commands.`, "", "(alone)"},
		{`Type "prog" to list the commands.`, "build", ""},
		{`Type "prog" to delete all commands.`, "", ""},
		{`Type "other" to list available commands.`, "", ""},
		{`Type prog to list available commands.`, "", ""},
		{`Run "prog -x" to list available commands.`, "", ""},
	} {
		var got []string
		for _, h := range hints(c.text, program, strings.Fields(c.path)) {
			got = append(got, cmp.Or(spell(h.args), "(alone)"))
		}
		if strings.Join(got, "|") != c.want {
			t.Errorf("%s: %q", c.text, got)
		}
	}
}

// TestListsAlone: a program runs without arguments only if its help says that
// this lists its commands.
func TestListsAlone(t *testing.T) {
	for text, want := range map[string]string{
		`Runs commands. Type "prog" to list available commands.`: "add print",
		`Runs commands. Type "prog" to start.`:                   "",
	} {
		f := newFake(t, `case "$*" in
--help) printf 'prog [CMD] [OPTIONS]\n  `+text+`\n\nFlags:\n  -f --file=FILE   read this file\n' ;;
"") echo alone >>"$here/acted"; printf 'prog 1.25\nUsage: prog COMMAND [OPTIONS]\nCommands:\n\n add     add entries\n print   show entries\n' ;;
*" --help") printf 'Usage: prog %s\n\nOptions:\n  -q, --quiet  Say less\n' "$1" ;;
esac`)
		p := f.run()
		if got := strings.Join(names(p), " "); got != want {
			t.Errorf("%s: commands %q, want %q", text, got, want)
		}
		if ran := f.acted() != ""; ran != (want != "") {
			t.Errorf("%s: run without arguments: %t", text, ran)
		}
	}
}

// TestFollow checks that the answers to hints are merged.
func TestFollow(t *testing.T) {
	f := newFake(t, `case "$*" in
--help) printf 'Usage: prog COMMAND\n\nCommon commands:\n  build   Build it\n  test    Test it\n\nRun "prog help -a" to see all commands.\nUse "prog options" for a list of global options, for all commands.\nRun "prog COMMAND --help" for more.\n' ;;
"help -a") printf 'Usage: prog COMMAND\n\nCommands:\n  build    Build it\n  deploy   Bring it out\n  test     Test it\n' ;;
options) printf 'The following options can be passed to any command:\n\nOptions:\n  --cluster string   Where\n  --user string      Who\n' ;;
*" --help") printf 'Usage: prog %s\n\nOptions:\n  -q, --quiet  Say less\n' "$1" ;;
*) echo "$*" >>"$here/acted" ;;
esac`)
	p := f.run()
	wantNames(t, names(p), "build", "test", "deploy")
	for _, name := range []string{"build", "test", "deploy"} {
		o := findOption(command(t, p, name), []string{"--cluster"})
		if o == nil || !o.Inherited || !has(command(t, p, name), "--quiet") {
			t.Errorf("%s: %+v", name, o)
		}
	}
	if f.acted() != "" {
		t.Errorf("the program did %q", f.acted())
	}
}
