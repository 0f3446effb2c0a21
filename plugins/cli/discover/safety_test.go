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
)

// listing is the help of a program with six commands.
const listing = `printf 'Usage: prog COMMAND\n\nCommands:\n  apply   First\n  delete  Second\n  list    Third\n  move    Fourth\n  reboot  Fifth\n  show    Sixth\n\nOptions:\n  -q, --quiet  Say less\n'`

// TestIgnoresHelp: a program whose commands take --help for an argument and act.
// Two that sound harmless find that out, and nothing else is tried.
func TestIgnoresHelp(t *testing.T) {
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

// TestSleepsOnHelp: what takes its time has perhaps acted, and is not asked a
// second time where that is not safe.
func TestSleepsOnHelp(t *testing.T) {
	f := newFake(t, `case "$*" in
--help) `+listing+` ;;
*) echo "$*" >>"$here/acted"; sleep 100 ;;
esac`)
	f.run(func(o *Options) { o.ProbeTime = 2 * time.Second })
	wantNames(t, f.calls(), "--help", "list --help", "show --help")
}

// TestIgnoresHelpInOne: most commands explain themselves, one does what it is
// for. It is not asked in another form.
func TestIgnoresHelpInOne(t *testing.T) {
	f := newFake(t, `case "$*" in
--help) `+listing+` ;;
"apply --help") echo "$*" >>"$here/acted"; echo "applied 3 things" ;;
*" --help") printf 'Usage: prog %s [-x]\n\nOptions:\n  -x, --extra-%s  More\n' "$1" "$1" ;;
*) echo "$*" >>"$here/acted" ;;
esac`)
	p := f.run()
	for _, never := range []string{"apply -h", "apply help", "help apply", "delete --help", "reboot --help", "reboot -h"} {
		if f.called(never) {
			t.Errorf("it was asked %q", never)
		}
	}
	if f.acted() != "apply --help\n" || !has(command(t, p, "move"), "--extra-move") {
		t.Errorf("it did %q; %q", f.acted(), f.calls())
	}
	if c := command(t, p, "apply"); c.Confidence > assumed || !c.Runnable {
		t.Errorf("%+v", c)
	}
}

// TestSaysItHelps: where the program's own help says that a form works with
// every command, all are asked.
func TestSaysItHelps(t *testing.T) {
	for _, says := range []string{"Run 'prog COMMAND --help' for more.", `Use "prog [command] --help" for more information about a command.`, "  -h, --help  Show this message and exit."} {
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

// TestOddNames: what stands in a list and could be taken for something else than
// a command's name is never given to the program.
func TestOddNames(t *testing.T) {
	f := newFake(t, `case "$*" in
--help) printf 'Usage: prog COMMAND\n\nCommands:\n  good          First\n  ../up         Up\n  /bin/sh       A shell\n  $HOME         A variable\n  -rf           An option\n  a;b           Two\n  fine          Second\n' ;;
"good --help"|"fine --help") printf 'Usage: prog %s [-x]\n\nOptions:\n  -x, --extra-%s  More\n' "$1" "$1" ;;
esac`)
	f.run()
	for _, call := range f.calls() {
		if strings.ContainsAny(call, "/$;") || strings.Contains(call, "-rf") {
			t.Errorf("it was asked %q", call)
		}
	}
}

// TestEnvironment: a probe has a home and a directory of its own, and nothing of
// what leads to a person.
func TestEnvironment(t *testing.T) {
	f := newFake(t, `env >"$here/env"; pwd >"$here/pwd"; echo left >"$HOME/left"; echo left >left; cat >"$here/stdin"
printf 'Usage: prog\n\nOptions:\n  -x, --extra  More\n'`)
	f.run(func(o *Options) {
		o.Env = append(o.Env, "DISPLAY=:0", "SSH_AUTH_SOCK=/tmp/agent", "FORCE_COLOR=3", "LESS=-R", "LC_TIME=de_DE", "PAGER=less", "KEPT=yes")
	})
	text, err := os.ReadFile(filepath.Join(filepath.Dir(f.path), "env"))
	if err != nil {
		t.Fatal(err)
	}
	env := strings.Split(string(text), "\n")
	for _, want := range []string{"KEPT=yes", "PAGER=cat", "LC_ALL=C.UTF-8", "COLUMNS=400", "TERM=dumb", "NO_COLOR=1", "GIT_TERMINAL_PROMPT=0", "EDITOR=false", "CI=1"} {
		if !slices.Contains(env, want) {
			t.Errorf("no %s", want)
		}
	}
	home := ""
	for _, kv := range env {
		name, value, _ := strings.Cut(kv, "=")
		if slices.Contains([]string{"DISPLAY", "SSH_AUTH_SOCK", "FORCE_COLOR", "LESS", "LC_TIME"}, name) {
			t.Errorf("it got %s", kv)
		}
		if name == "HOME" {
			home = value
		}
	}
	if home == os.Getenv("HOME") || home == "" {
		t.Errorf("its home is %q", home)
	}
	if _, err := os.Stat(filepath.Dir(home)); err == nil {
		t.Error("its home is still there")
	}
	if in, err := os.ReadFile(filepath.Join(filepath.Dir(f.path), "stdin")); err != nil || len(in) > 0 {
		t.Errorf("it read %q, %v", in, err)
	}
}

// TestNeedsHome: a wrapper that finds what to start in the home directory gets
// the real one, when it fails without.
func TestNeedsHome(t *testing.T) {
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

// TestFixedArguments: they stand before every question, and a file that they
// name is found.
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
		t.Errorf("it is called %q", p.Name)
	}
}

// TestFixedCommand: a part of a program's tree is a tree.
func TestFixedCommand(t *testing.T) {
	f := newFake(t, nested)
	p := f.run(func(o *Options) { o.Command = append(o.Command, "image") })
	wantNames(t, names(p), "list", "store")
	if !has(command(t, p, "store"), "--force") || p.Name != "prog" {
		t.Errorf("%+v", p)
	}
	wantNames(t, f.calls(), "image --help", "image list --help", "image store --help")
}

// TestHostile: programs that do not end, or say too much, cost what the limits
// allow and leave nothing.
func TestHostile(t *testing.T) {
	for _, c := range []struct{ name, script string }{
		{"sleeps", `sleep 1000`},
		{"ignores TERM", `trap '' TERM INT HUP; sleep 1000; sleep 1000`},
		{"prints for ever", `yes 'Usage: prog --option'`},
		{"prints zeros for ever", `cat /dev/zero`},
		{"leaves children", `setsid sleep 1000 >/dev/null 2>&1 & sleep 1000 & (sleep 1000 &) ; printf 'Usage: prog\n\nOptions:\n  -x, --extra  More\n'`},
		{"leaves children that hold the pipe", `setsid sh -c 'sleep 1000; echo late' & printf 'Usage: prog\n\nOptions:\n  -x, --extra  More\n'`},
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
				t.Errorf("it took %s", took)
			}
			pids := living(mark)
			for begun := time.Now(); len(pids) > 0 && time.Since(begun) < patience/2; pids = living(mark) {
				time.Sleep(time.Millisecond) // who was killed needs a moment
			}
			if len(pids) > 0 {
				t.Errorf("left: %q", pids)
			}
			if left, _ := os.ReadDir(tmp); len(left) > 0 {
				t.Errorf("files are left: %v", left)
			}
		})
	}
}

// living returns the processes that have this in their environment.
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

// TestSlow: a command that says nothing in time is asked once more, in the same
// form, and then left alone.
func TestSlow(t *testing.T) {
	f := newFake(t, `case "$*" in
--help) `+listing+`; echo "Run 'prog COMMAND --help' for more." ;;
"move --help") [ -e "$here/warm" ] || { touch "$here/warm"; sleep 100; }; printf 'Usage: prog move [-x]\n\nOptions:\n  -x, --extra  More\n' ;;
"show --help") sleep 100 ;;
*" --help") printf 'Usage: prog %s [-x]\n\nOptions:\n  -x, --extra-%s  More\n' "$1" "$1" ;;
*) echo "$*" >>"$here/acted" ;;
esac`)
	p := f.run(func(o *Options) { o.ProbeTime = 3 * time.Second })
	if !has(command(t, p, "move"), "--extra") || f.acted() != "" {
		t.Errorf("it was asked %q", f.calls())
	}
	if got := strings.Join(p.Incomplete, "|"); got != "These commands did not answer within 3s: show." {
		t.Errorf("%q", got)
	}
	if times := strings.Count(strings.Join(f.calls(), "|"), "show --help"); times != 2 {
		t.Errorf("it was asked %d times", times)
	}
}

// TestTime: the time for all is over before every command was asked. What is
// missing is said, and all commands are there.
func TestTime(t *testing.T) {
	f := newFake(t, `case "$*" in
--help) `+listing+`; echo "Run 'prog COMMAND --help' for more." ;;
*) sleep 1; printf 'Usage: prog %s [-x]\n\nOptions:\n  -x, --extra-%s  More\n' "$1" "$1" ;;
esac`)
	dir := t.TempDir()
	p := f.run(func(o *Options) { o.Time, o.Parallel, o.CacheDir = 2500*time.Millisecond, 1, dir })
	if len(names(p)) != 6 || !strings.Contains(strings.Join(p.Incomplete, " "), "was over before") {
		t.Errorf("%q, %q", names(p), p.Incomplete)
	}
	if kept, _ := filepath.Glob(filepath.Join(dir, resultPrefix+"*")); len(kept) > 0 {
		t.Error("it was cached")
	}
}
