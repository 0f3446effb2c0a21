package discover

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/testdata/eventually"
)

// listing is the help of a program with six commands.
const listing = `printf 'Usage: prog COMMAND\n\nCommands:\n  apply   First\n  delete  Second\n  list    Third\n  move    Fourth\n  reboot  Fifth\n  show    Sixth\n\nOptions:\n  -q, --quiet  Say less\n'`

// TestProgramThatIgnoresHelp discovers a program whose commands take --help for
// an argument and act. Only two harmless ones may be asked.
func TestProgramThatIgnoresHelp(t *testing.T) {
	f := newFake(t, `case "$*" in
--help) `+listing+` ;;
*) echo "$*" >>"$here/acted"; echo done ;;
esac`)
	p := f.run()
	wantNames(t, f.calls(), "--help", "list --help", "show --help")
	if !strings.Contains(strings.Join(p.Incomplete, " "), "apply, delete, move and reboot") {
		t.Errorf("%q", p.Incomplete)
	}
	wantNames(t, names(p), "apply", "delete", "list", "move", "reboot", "show")
}

// TestSlowCommandIsNotAskedAgain checks that a command which did not answer in
// time is asked again only in a safe form, because it may have acted.
func TestSlowCommandIsNotAskedAgain(t *testing.T) {
	f := newFake(t, `case "$*" in
--help) `+listing+` ;;
*) echo "$*" >>"$here/acted"; sleep 100 ;;
esac`)
	f.run(func(o *Options) { o.ProbeTime = 2 * time.Second })
	wantNames(t, f.calls(), "--help", "list --help", "show --help")
}

// TestOneCommandIgnoresHelp discovers a program in which one command acts when
// it is asked. It is not asked in another form.
func TestOneCommandIgnoresHelp(t *testing.T) {
	f := newFake(t, `case "$*" in
--help) `+listing+` ;;
"apply --help") echo "$*" >>"$here/acted"; echo "applied 3 things" ;;
*" --help") printf 'Usage: prog %s [-x]\n\nOptions:\n  -x, --extra-%s  More\n' "$1" "$1" ;;
*) echo "$*" >>"$here/acted" ;;
esac`)
	p := f.run()
	for _, never := range []string{"apply -h", "apply help", "help apply", "delete --help",
		"reboot --help", "reboot -h"} {
		if f.called(never) {
			t.Errorf("the program was asked %q", never)
		}
	}
	if f.acted() != "apply --help\n" || !has(command(t, p, "move"), "--extra-move") {
		t.Errorf("the program did %q; calls %q", f.acted(), f.calls())
	}
	if c := command(t, p, "apply"); c.Confidence > assumed || !c.Runnable {
		t.Errorf("%+v", c)
	}
}

// TestDocumentedFormIsUsedForAllCommands discovers a program that documents a
// form for every command.
func TestDocumentedFormIsUsedForAllCommands(t *testing.T) {
	for _, says := range []string{"Run 'prog COMMAND --help' for more.",
		`Use "prog [command] --help" for more information about a command.`,
		"  -h, --help  Show this message and exit."} {
		f := newFake(t, `case "$*" in
--help) `+listing+`; cat <<'EOF'
`+says+`
EOF
;;
*" --help") printf 'Usage: prog %s [-x]\n\nOptions:\n  -x, --extra-%s  More\n' "$1" "$1" ;;
*) echo "$*" >>"$here/acted" ;;
esac`)
		p := f.run()
		if !has(command(t, p, "reboot"), "--extra-reboot") || f.acted() != "" || len(p.Incomplete) > 0 {
			t.Errorf("%s: %q, %q", says, f.calls(), p.Incomplete)
		}
	}
}

// TestOddNamesAreNeverPassed checks that names which could be mistaken for
// something else are never passed to the program.
func TestOddNamesAreNeverPassed(t *testing.T) {
	f := newFake(t, `case "$*" in
--help) printf 'Usage: prog COMMAND\n\nCommands:\n  good          First\n  ../up         Up\n  /bin/sh       A shell\n  $HOME         A variable\n  -rf           An option\n  a;b           Two\n  fine          Second\n' ;;
"good --help"|"fine --help") printf 'Usage: prog %s [-x]\n\nOptions:\n  -x, --extra-%s  More\n' "$1" "$1" ;;
esac`)
	f.run()
	for _, call := range f.calls() {
		if strings.ContainsAny(call, "/$;") || strings.Contains(call, "-rf") {
			t.Errorf("the program was asked %q", call)
		}
	}
}

// TestProbeEnvironment checks that a probe has its own home and working
// directory, and no access to a display, an agent or a terminal.
func TestProbeEnvironment(t *testing.T) {
	f := newFake(t, `env >"$here/env"; pwd >"$here/pwd"; echo left >"$HOME/left"; echo left >left; cat >"$here/stdin"
printf 'Usage: prog\n\nOptions:\n  -x, --extra  More\n'`)
	f.run(func(o *Options) {
		o.Env = append(o.Env, "DISPLAY=:0", "SSH_AUTH_SOCK=/tmp/agent", "FORCE_COLOR=3", "LESS=-R", "LC_TIME=de_DE",
			"PAGER=less", "KEPT=yes")
	})
	text, err := os.ReadFile(filepath.Join(filepath.Dir(f.path), "env"))
	if err != nil {
		t.Fatal(err)
	}
	env := strings.Split(string(text), "\n")
	for _, want := range []string{"KEPT=yes", "PAGER=cat", "LC_ALL=C.UTF-8", "COLUMNS=400", "TERM=dumb", "NO_COLOR=1",
		"GIT_TERMINAL_PROMPT=0", "EDITOR=false", "CI=1"} {
		if !slices.Contains(env, want) {
			t.Errorf("the probe lacks %s", want)
		}
	}
	home := ""
	for _, kv := range env {
		name, value, _ := strings.Cut(kv, "=")
		if slices.Contains([]string{"DISPLAY", "SSH_AUTH_SOCK", "FORCE_COLOR", "LESS", "LC_TIME"}, name) {
			t.Errorf("the probe got %s", kv)
		}
		if name == "HOME" {
			home = value
		}
	}
	if home == os.Getenv("HOME") || home == "" {
		t.Errorf("the home of the probe is %q", home)
	}
	if _, err := os.Stat(filepath.Dir(home)); err == nil {
		t.Error("the home of the probe was not removed")
	}
	if in, err := os.ReadFile(filepath.Join(filepath.Dir(f.path), "stdin")); err != nil || len(in) > 0 {
		t.Errorf("the probe read %q, %v", in, err)
	}
}

// TestProgramThatNeedsTheHomeDirectory checks that a program which fails
// without the user's home directory is asked again with it.
func TestProgramThatNeedsTheHomeDirectory(t *testing.T) {
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, "here"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	f := newFake(t, `[ -e "$HOME/here" ] || { echo "error: nothing is configured" >&2; exit 1; }
printf 'Usage: prog\n\nOptions:\n  -x, --extra  More\n'`)
	p := f.run(func(o *Options) { o.Env = append(o.Env[:1], "HOME="+home) })
	if !has(p.Root, "--extra") {
		t.Errorf("%q", p.Incomplete)
	}
}

// TestFixedArguments checks that they precede every question, and that relative
// file names in them work.
func TestFixedArguments(t *testing.T) {
	f := newFake(t, `[ "$1" = script.x ] || exit 9
[ -e script.x ] || exit 8
shift
`+nested)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "script.x"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	p := f.run(func(o *Options) { o.Command, o.Dir = append(o.Command, "script.x"), dir })
	wantNames(t, names(p), "image", "image list", "image store", "status")
	if p.Name != "script.x" {
		t.Errorf("the name of the program is %q", p.Name)
	}
}

// TestFixedCommand discovers only the part of a program below a fixed command.
func TestFixedCommand(t *testing.T) {
	f := newFake(t, nested)
	p := f.run(func(o *Options) { o.Command = append(o.Command, "image") })
	wantNames(t, names(p), "list", "store")
	if !has(command(t, p, "store"), "--force") || p.Name != "prog" {
		t.Errorf("%+v", p)
	}
	wantNames(t, f.calls(), "image --help", "image list --help", "image store --help")
}

// TestHostileProgramsAreBounded runs programs that do not end or print too
// much.
func TestHostileProgramsAreBounded(t *testing.T) {
	for _, c := range []struct{ name, script string }{
		{"sleeps", `sleep 1000`},
		{"ignores TERM", `trap '' TERM INT HUP; sleep 1000; sleep 1000`},
		{"prints for ever", `yes 'Usage: prog --option'`},
		{"prints zeros for ever", `cat /dev/zero`},
		{"leaves children", `setsid sleep 1000 >/dev/null 2>&1 & sleep 1000 & (sleep 1000 &) ; printf 'Usage: prog\n\nOptions:\n  -x, --extra  More\n'`},
		{"leaves children that hold the pipe",
			`setsid sh -c 'sleep 1000; echo late' & printf 'Usage: prog\n\nOptions:\n  -x, --extra  More\n'`},
		{"waits for input", `read -r answer; printf 'Usage: prog\n\nOptions:\n  -x, --extra  More\n'`},
		{"takes its permissions away", `mkdir "$HOME/a" && echo x >"$HOME/a/b" && chmod 0 "$HOME/a"; printf 'Usage: prog\n\nOptions:\n  -x, --extra  More\n'`},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFake(t, c.script)
			tmp := t.TempDir()
			t.Setenv("TMPDIR", tmp)
			begun := time.Now()
			mark := fmt.Sprintf("DISCOVER_TEST=%d %s", os.Getpid(), c.name)
			f.run(func(o *Options) {
				o.ProbeTime, o.ProbeOutput, o.Env = 500*time.Millisecond, 100_000, append(o.Env, mark)
			})
			if took := time.Since(begun); took > patience/2 {
				t.Errorf("the discovery took %s", took)
			}
			eventually.NoError(t, func() error { // a killed process needs a moment to end
				if pids := living(mark); len(pids) > 0 {
					return fmt.Errorf("processes still run: %q", pids)
				}
				return nil
			})
			if left, _ := os.ReadDir(tmp); len(left) > 0 {
				t.Errorf("files are left: %v", left)
			}
		})
	}
}

// living returns the processes that have a text in their environment.
func living(variable string) []string {
	var pids []string
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range files {
		env, err := os.ReadFile(file)
		if err == nil && bytes.Contains(env, []byte(variable+"\x00")) {
			pids = append(pids, file)
		}
	}
	return pids
}

// TestSlowCommandIsAskedOnceMore checks that a command without an answer in
// time is asked once more, in the same form.
func TestSlowCommandIsAskedOnceMore(t *testing.T) {
	f := newFake(t, `case "$*" in
--help) `+listing+`; echo "Run 'prog COMMAND --help' for more." ;;
"move --help") [ -e "$here/warm" ] || { touch "$here/warm"; sleep 100; }; printf 'Usage: prog move [-x]\n\nOptions:\n  -x, --extra  More\n' ;;
"show --help") sleep 100 ;;
*" --help") printf 'Usage: prog %s [-x]\n\nOptions:\n  -x, --extra-%s  More\n' "$1" "$1" ;;
*) echo "$*" >>"$here/acted" ;;
esac`)
	p := f.run(func(o *Options) { o.ProbeTime = 3 * time.Second })
	if !has(command(t, p, "move"), "--extra") || f.acted() != "" {
		t.Errorf("the program was asked %q", f.calls())
	}
	if got := strings.Join(p.Incomplete, "|"); got != "These commands did not answer within 3s: show." {
		t.Errorf("%q", got)
	}
	if times := strings.Count(strings.Join(f.calls(), "|"), "show --help"); times != 2 {
		t.Errorf("the command was asked %d times", times)
	}
}

// TestTimeLimitKeepsAllCommands checks that commands which were not asked stay
// in the tree and are listed in Incomplete.
func TestTimeLimitKeepsAllCommands(t *testing.T) {
	f := newFake(t, `case "$*" in
--help) `+listing+`; echo "Run 'prog COMMAND --help' for more." ;;
*) sleep 1; printf 'Usage: prog %s [-x]\n\nOptions:\n  -x, --extra-%s  More\n' "$1" "$1" ;;
esac`)
	dir := t.TempDir()
	p := f.run(func(o *Options) { o.Time, o.Parallel, o.CacheDir = 2500*time.Millisecond, 1, dir })
	if len(names(p)) != 6 || !strings.Contains(strings.Join(p.Incomplete, " "), "was reached before") {
		t.Errorf("%q, %q", names(p), p.Incomplete)
	}
	if kept, _ := filepath.Glob(filepath.Join(dir, resultPrefix+"*")); len(kept) > 0 {
		t.Error("an incomplete result was cached")
	}
}
