package discover

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/junctor-mcp/junctor/plugins/cli/model"
	"github.com/junctor-mcp/junctor/sdk/process"
)

// patience bounds how long a test waits for something that should happen at
// once.
const patience = 20 * time.Second

func TestMain(m *testing.M) {
	if runtime.GOOS != "linux" {
		fmt.Println("the fake programs are shell scripts, and what they leave behind is looked for in /proc")
		os.Exit(0)
	}
	if err := process.Adopt(); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	goleak.VerifyTestMain(m,
		goleak.IgnoreAnyFunction("github.com/junctor-mcp/junctor/sdk/process.onSpawner.func1.1"),
		goleak.IgnoreAnyFunction("github.com/junctor-mcp/junctor/sdk/process.reapAdopted"),
		goleak.IgnoreTopFunction("os/signal.signal_recv"),
		goleak.IgnoreTopFunction("os/signal.loop"))
}

// A fake is a shell script that records how it is called.
type fake struct {
	t    *testing.T
	path string
	log  string
}

// newFake writes a program called prog. The script sees its arguments as "$*"
// and may call say, which prints its standard input.
func newFake(t *testing.T, script string) *fake {
	t.Helper()
	dir := t.TempDir()
	f := &fake{t: t, path: filepath.Join(dir, "prog"), log: filepath.Join(dir, "calls")}
	f.write(script)
	return f
}

func (f *fake) write(script string) {
	f.t.Helper()
	text := "#!/bin/sh\necho \"$*\" >>'" + f.log + "'\nhere='" + filepath.Dir(f.path) + "'\n" + script
	if err := os.WriteFile(f.path+".new", []byte(text), 0o700); err != nil {
		f.t.Fatal(err)
	}
	if err := os.Rename(f.path+".new", f.path); err != nil {
		f.t.Fatal(err)
	}
}

// calls returns how the program was called, sorted.
func (f *fake) calls() []string {
	text, err := os.ReadFile(f.log)
	if err != nil {
		return nil
	}
	calls := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	slices.Sort(calls)
	return calls
}

// called reports whether the program was ever called with these arguments.
func (f *fake) called(args string) bool { return slices.Contains(f.calls(), args) }

func (f *fake) options(change ...func(*Options)) Options {
	o := Options{Command: []string{f.path}, Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME")}}
	for _, c := range change {
		c(&o)
	}
	return o
}

// run discovers the program.
func (f *fake) run(change ...func(*Options)) *model.Program {
	f.t.Helper()
	p, err := Run(context.Background(), f.options(change...))
	if err != nil {
		f.t.Fatalf("%v (%#v)", err, err)
	}
	return p
}

// names lists the paths of a program's commands.
func names(p *model.Program) []string {
	var names []string
	eachCommand(p.Root, nil, func(c *model.Command, _ [][]string) { names = append(names, spell(c.Path)) })
	return names
}

// command returns the command at path. It fails the test if there is none.
func command(t *testing.T, p *model.Program, path string) *model.Command {
	t.Helper()
	var found *model.Command
	eachCommand(p.Root, nil, func(c *model.Command, _ [][]string) {
		if spell(c.Path) == path {
			found = c
		}
	})
	if found == nil {
		t.Fatalf("there is no command %q in %q", path, names(p))
	}
	return found
}

// has reports whether a command has an option of this name.
func has(c *model.Command, name string) bool { return findOption(c, []string{name}) != nil }

// wantNames fails the test if a list differs from the wanted one.
func wantNames(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// nested is a script with commands on two levels that answer --help.
const nested = `
case "$*" in
--help) cat <<EOF
Usage: prog [OPTIONS] COMMAND

Commands:
  image   Handle images
  status  Show how things are

Options:
  -v, --verbose   Say more
      --version   Print the version
EOF
;;
--version) echo "prog 1.2.3"; echo "more" ;;
"image --help") cat <<EOF
Usage: prog image COMMAND

Commands:
  list   List images
  store  Store an image

Options:
  -a, --all   Of everybody
EOF
;;
"image list --help") printf 'Usage: prog image list [OPTIONS]\n\nOptions:\n  -q, --quiet   Names only\n' ;;
"image store --help") printf 'Usage: prog image store [OPTIONS] FILE\n\nOptions:\n      --force   Even when it exists\n' ;;
"status --help") printf 'Usage: prog status [OPTIONS]\n\nOptions:\n      --json   As JSON\n' ;;
*) echo "ran: $*" >>"$here/acted"; exit 3 ;;
esac
`

// acted returns what the program did instead of printing help.
func (f *fake) acted() string {
	text, err := os.ReadFile(filepath.Join(filepath.Dir(f.path), "acted"))
	if err != nil {
		return ""
	}
	return string(text)
}
