package login

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/junctor-mcp/junctor/sdk"
)

// pty opens a pseudo-terminal and returns both sides.
func pty(t *testing.T) (program, person *os.File) {
	t.Helper()
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Skipf("there are no terminals here: %v", err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	person = os.NewFile(uintptr(fd), "ptmx")
	program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = program.Close(); _ = person.Close() })
	return program, person
}

// echoes reports whether the terminal echoes input.
func echoes(t *testing.T, f *os.File) bool {
	t.Helper()
	var set *unix.Termios
	raw, err := f.SyscallConn()
	if err == nil {
		err = raw.Control(func(fd uintptr) { set, _ = unix.IoctlGetTermios(int(fd), unix.TCGETS) })
	}
	if err != nil || set == nil {
		t.Fatal(err)
	}
	return set.Lflag&unix.ECHO != 0
}

// types writes each text once the screen ends with the prompt before it.
func types(t *testing.T, person io.Writer, seen *screen, steps ...[2]string) {
	from := 0
	for _, step := range steps {
		for begun := time.Now(); !strings.HasSuffix(seen.String()[from:], step[0]); {
			time.Sleep(time.Millisecond) // beside the test, which only its own goroutine may end
			if time.Since(begun) > patience {
				t.Errorf("no prompt %q: %q", step[0], seen)
				return
			}
		}
		from = len(seen.String())
		for rest := step[1]; rest != ""; { // a terminal takes about 4 KiB at once
			n := min(len(rest), 1<<10)
			_, _ = io.WriteString(person, rest[:n])
			rest = rest[n:]
		}
	}
}

// TestPrompt: fields are asked for in order and lines can be edited. Secrets are not
// shown, and may be longer than the system's limit for lines.
func TestPrompt(t *testing.T) {
	program, human := pty(t)
	seen := &screen{}
	term, err := New(Options{In: program, Out: seen})
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("s3cret", 2000)
	go types(t, human, seen,
		[2]string{"Your name: ", "Jör\x7f\x7förgx\x1b[D\x1bOH\x08\r"}, [2]string{"Token: ", "wrong\x15" + long + "\r"},
		[2]string{"note: ", "\x04x\x04\n"})
	answers, err := term.Prompt(t.Context(), sdk.Prompt{
		Title: "Acme\x1b[2J\nlogin",
		Fields: []sdk.PromptField{
			{Name: "name", Label: "Your\u202e name"}, {Name: "token", Label: "Token", Secret: true}, {Name: "note"},
		},
	})
	if e, ok := errors.AsType[*sdk.Error](err); !ok || e.Code != sdk.Canceled {
		t.Errorf("the end of input instead of the last answer: %v, %v", answers, err)
	}
	go types(t, human, seen,
		[2]string{"Your name: ", "Jör\x7f\x7förgx\x1b[D\x1bOH\x08\r"}, [2]string{"Token: ", "wrong\x15" + long + "\r"})
	answers, err = term.Prompt(t.Context(), sdk.Prompt{
		Title:  "Acme",
		Fields: []sdk.PromptField{{Name: "name", Label: "Your name"}, {Name: "token", Label: "Token", Secret: true}},
	})
	if err != nil || len(answers) != 2 || answers["name"] != "Jörg" || answers["token"] != long {
		t.Errorf("got %d bytes of token, name %q, %v", len(answers["token"]), answers["name"], err)
	}
	for _, hidden := range []string{"s3cret", "wrong", "\x1b", "\u202e"} {
		if strings.Contains(seen.String(), hidden) {
			t.Errorf("%q is shown: %q", hidden, seen)
		}
	}
	if !strings.Contains(seen.String(), "Acme[2J login\nYour name: J") {
		t.Errorf("the user sees %q", seen)
	}
	if !echoes(t, program) {
		t.Error("the terminal is left without its echo")
	}
}

// TestPromptEnds: Ctrl-C, the context and a line that is too long end a prompt. The
// terminal's settings are restored.
func TestPromptEnds(t *testing.T) {
	for name, c := range map[string]struct {
		typed string
		code  sdk.Code
		is    error
	}{
		"interrupted": {"abc\x03def\r", sdk.Canceled, nil},
		"no more":     {"\x04", sdk.Canceled, nil},
		"too long":    {strings.Repeat("x", maxLine+1), sdk.Invalid, nil},
		"no answer":   {"abc", "", context.DeadlineExceeded},
	} {
		t.Run(name, func(t *testing.T) {
			program, human := pty(t)
			seen := &screen{}
			term, err := New(Options{In: program, Out: seen})
			if err != nil {
				t.Fatal(err)
			}
			limit := patience
			if c.is != nil {
				limit = 300 * time.Millisecond
			}
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			defer cancel()
			var work sync.WaitGroup
			work.Go(func() {
				if c.is == nil {
					types(t, human, seen, [2]string{"token: ", c.typed})
				} else { // the prompt may already be gone
					_, _ = io.WriteString(human, c.typed)
				}
			})
			defer work.Wait()
			_, err = term.Prompt(ctx, sdk.Prompt{Fields: []sdk.PromptField{{Name: "token", Secret: true}}})
			if c.is != nil && !errors.Is(err, c.is) || c.is == nil && sdk.CodeOf(err) != c.code {
				t.Errorf("got %v", err)
			}
			if !echoes(t, program) {
				t.Error("the terminal is left without its echo")
			}
		})
	}
}

// TestPasteAtTerminal: at a terminal a pasted redirect may be longer than the system's
// limit for lines. Ctrl-C ends the login.
func TestPasteAtTerminal(t *testing.T) {
	program, human := pty(t)
	seen := &screen{}
	c := listening(t, Options{In: program, Out: seen, Lookup: nowhere}, "/callback")
	want := redirected(strings.Repeat("c", 6000), "s")
	go types(t, human, seen, [2]string{"> ", "nonsense\r"}, [2]string{"> ", c.URL() + "?" + want + "\r"})
	if got := waiting(t, c); got != want {
		t.Errorf("got %d bytes of %d", len(got), len(want))
	}
	go types(t, human, seen, [2]string{"> ", "\x03"})
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if _, err := c.Wait(ctx); sdk.CodeOf(err) != sdk.Canceled {
		t.Errorf("Ctrl-C: %v", err)
	}
	if !echoes(t, program) {
		t.Error("the terminal is left without its echo")
	}
}
