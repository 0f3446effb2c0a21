package discover

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/sdk"
)

func TestDiscoverNestedCommands(t *testing.T) {
	f := newFake(t, nested)
	p := f.run()
	wantNames(t, names(p), "image", "image list", "image store", "status")
	if p.Name != "prog" || p.Version != "prog 1.2.3" || len(p.Digest) != 64 || len(p.Incomplete) > 0 {
		t.Errorf("%q, %q, %q, %q", p.Name, p.Version, p.Digest, p.Incomplete)
	}
	for path, option := range map[string]string{"image": "--all", "image list": "--quiet",
		"image store": "--force", "status": "--json"} {
		if c := command(t, p, path); !has(c, option) || c.Summary == "" {
			t.Errorf("%s: %+v", path, c)
		}
	}
	if f.acted() != "" {
		t.Errorf("the program did %q", f.acted())
	}
}

// TestForms discovers programs that each understand only one form of question.
func TestForms(t *testing.T) {
	for _, c := range []struct{ name, script, root string }{
		{"only -h", `case "$*" in
			-h) printf 'usage: prog [-h] [-x] command\n\nCommands:\n  one  First\n  two  Second\n\nOptions:\n  -x, --extra  More\n' ;;
			"one -h"|"two -h") printf 'usage: prog %s [-y]\n\nOptions:\n  -y, --why  Reason for %s\n' "$1" "$1" ;;
			*) echo "prog: unknown option $1" >&2; exit 2 ;;
			esac`, "--extra"},
		{"only help", `case "$*" in
			help) printf 'Usage: prog COMMAND\n\nCommands:\n  help  Show help for a command\n  one   First\n  two   Second\n\nOptions:\n  -x, --extra  More\n' ;;
			"help one"|"help two") printf 'usage: prog %s [-y]\n\nOptions:\n  -y, --why  Reason for %s\n' "$2" "$2" ;;
			*) echo "prog: unknown command $1; type 'prog help' for usage" >&2; exit 2 ;;
			esac`, "--extra"},
		{"help behind", `case "$*" in
			--help) printf 'Usage: prog <command>\n\nTo see more: prog <command> help\n\nCommands:\n  one  First\n  two  Second\n\nOptions:\n  -x, --extra  More\n' ;;
			"one help"|"two help") printf 'usage: prog %s [-y]\n\nOptions:\n  -y, --why  Reason for %s\n' "$1" "$1" ;;
			*) echo "prog: invalid argument $2" >&2; exit 2 ;;
			esac`, "--extra"},
		{"on standard error, status 1", `exec >&2
			case "$*" in
			--help) printf 'Usage: prog COMMAND\n\nCommands:\n  one  First\n  two  Second\n\nOptions:\n  -x, --extra  More\n' ;;
			"one --help"|"two --help") printf 'usage: prog %s [-y]\n\nOptions:\n  -y, --why  Reason for %s\n' "$1" "$1" ;;
			esac
			exit 1`, "--extra"},
		{"with colours", `e=$(printf '\033')
			case "$*" in
			--help) echo "$e[1mUsage:$e[0m prog COMMAND"; echo; echo "$e[1mCommands:$e[0m"; echo "  $e[32mone$e[0m  First"; echo "  $e[32mtwo$e[0m  Second"; echo; echo "Options:"; echo "  $e[36m-x$e[0m, $e[36m--extra$e[0m  More" ;;
			"one --help"|"two --help") printf 'usage: prog %s [-y]\n\nOptions:\n  -y, --why  Reason for %s\n' "$1" "$1" ;;
			esac`, "--extra"},
	} {
		t.Run(c.name, func(t *testing.T) {
			// Before parallel tests fork: a program whose file is open for writing cannot be started.
			f := newFake(t, c.script)
			t.Parallel()
			p := f.run()
			got := slices.DeleteFunc(names(p), func(n string) bool { return n == "help" })
			wantNames(t, got, "one", "two")
			if !has(p.Root, c.root) || !has(command(t, p, "one"), "--why") || !has(command(t, p, "two"), "--why") {
				t.Errorf("options are missing; the program was asked %q", f.calls())
			}
		})
	}
}

// TestSameHelpEverywhere discovers a program that prints one text for every
// command. It must not be asked about each of them.
func TestSameHelpEverywhere(t *testing.T) {
	f := newFake(t, `cat <<EOF
Usage: prog COMMAND [ARG...]

Commands:
  aa ARG...  First
  bb         Second
  cc         Third
  dd         Fourth
  ee         Fifth
  ff         Sixth
  gg         Seventh
  hh         Eighth

Options:
  -q, --quiet   Say less
EOF`)
	p := f.run()
	wantNames(t, names(p), "aa", "bb", "cc", "dd", "ee", "ff", "gg", "hh")
	if n := len(f.calls()); n > 1+2*sampled {
		t.Errorf("the program was asked %d times: %q", n, f.calls())
	}
	c := command(t, p, "hh")
	if !c.Runnable || c.Confidence > assumed || len(c.Positionals) != 1 {
		t.Errorf("%+v", c)
	}
}

// TestCycle discovers a command that lists the commands of the program again.
func TestCycle(t *testing.T) {
	f := newFake(t, `echo "Usage: prog $1 COMMAND"
printf 'called with %s\n\nCommands:\n  aa  First\n  bb  Second\n\nOptions:\n  -q, --quiet  Say less\n' "$*"`)
	wantNames(t, names(f.run()), "aa", "bb")
}

func TestDepth(t *testing.T) {
	f := newFake(t, `n=$#
printf 'Usage: prog %s COMMAND\n\nCommands:\n  a%s  First\n  b%s  Second\n\nOptions:\n  -q, --quiet-%s  Say less\n' "$*" $n $n $n`)
	p := f.run(func(o *Options) { o.Depth = 2 })
	wantNames(t, names(p), "a1", "a1 a2", "a1 b2", "b1", "b1 a2", "b1 b2")
	if len(p.Incomplete) != 1 || !strings.Contains(p.Incomplete[0], "b1 b2") {
		t.Errorf("%q", p.Incomplete)
	}
}

// TestTooManyCommands checks that the limit cuts off deep commands, and that
// Incomplete says so.
func TestTooManyCommands(t *testing.T) {
	f := newFake(t, `case "$*" in
--help) printf 'Usage: prog COMMAND\n\nCommands:\n'; i=0; while [ $i -lt 2500 ]; do echo "  cmd$i  The command $i"; i=$((i+1)); done ;;
*) exit 1 ;;
esac`)
	p := f.run()
	if n := len(names(p)); n != 1999 {
		t.Errorf("%d commands", n)
	}
	if len(p.Incomplete) == 0 ||
		!strings.Contains(strings.Join(p.Incomplete, " "), "2000 commands; left out: cmd1999") {
		t.Errorf("%.300q", p.Incomplete)
	}
}

// TestProgramThatCannotRun checks that the error names the attribute.
func TestProgramThatCannotRun(t *testing.T) {
	plain := filepath.Join(t.TempDir(), "plain")
	if err := os.WriteFile(plain, []byte("no program"), 0o600); err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(script, []byte("#!/no/such/interpreter\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, command := range map[string][]string{
		"no interpreter": {script}, "nothing": nil, "empty": {""}, "absent": {"no-such-program-anywhere"},
		"absent path": {"./no/such"}, "not executable": {plain}, "directory": {"/"},
	} {
		_, err := Run(context.Background(), Options{Command: command, Env: os.Environ()})
		e, ok := errors.AsType[*sdk.Error](err)
		if !ok || e.Path != "command" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestProgramWithoutHelp checks that a program without help can still be
// called.
func TestProgramWithoutHelp(t *testing.T) {
	f := newFake(t, `exit 0`)
	p := f.run()
	if !p.Root.Runnable || len(p.Incomplete) != 1 || len(p.Root.Commands) > 0 {
		t.Errorf("%+v, %q", p.Root, p.Incomplete)
	}
	wantNames(t, f.calls(), "--help")
}

func TestCancelEndsTheDiscovery(t *testing.T) {
	f := newFake(t, `sleep 1000`)
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	begun := time.Now()
	_, err := Run(ctx, f.options())
	if !errors.Is(err, context.DeadlineExceeded) || time.Since(begun) > patience/4 {
		t.Errorf("%v after %s", err, time.Since(begun))
	}
}

// TestFailureOf checks that the message quotes a program that fails instead of
// printing help.
func TestFailureOf(t *testing.T) {
	for want, a := range map[string]answer{
		"": {status: 0, stderr: "x"},
		"the program failed when it was asked for help (exit status 3): a b c": {status: 3,
			stderr: "a\n\n b\nc\nd\n", stdout: "out"},
		"the program failed when it was asked for help (exit status 1): out":                {status: 1, stdout: "out"},
		"the program failed when it was asked for help (exit status 1) and printed nothing": {status: 1},
		"the program was killed when it was asked for help and printed nothing":             {status: -1},
	} {
		if got := failureOf(a); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := failureOf(answer{status: 1, stderr: strings.Repeat("x", 5000)}); len(got) > 600 {
		t.Errorf("%d bytes", len(got))
	}
}
