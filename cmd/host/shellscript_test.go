//go:build unix

package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/testdata/eventually"
)

// bashCompletion defines the functions that completion in bash needs.
const bashCompletion = "/usr/share/bash-completion/bash_completion"

// TestCompletionRunsNothing: in real shells at a terminal, TAB completes the name of a
// server and runs no part of the command line.
func TestCompletionRunsNothing(t *testing.T) {
	if _, err := exec.LookPath("script"); err != nil {
		t.Skip("there is no script(1) to make a terminal with")
	}
	site := silentSite(t)
	for _, c := range []struct {
		name    string // of the case; empty: that of the shell
		shell   string
		command string
		setUp   string
		attacks []string // %s is a file that must not exist afterwards
	}{
		{
			"",
			"bash", "bash --norc --noprofile -i", "source " + bashCompletion + "; source <(junctor completion bash)",
			[]string{"$(touch %s)", `"$(touch %s)"`, "`touch %s`", "<(touch %s)", "> %s", "a=$[$(touch %s)1]"},
		},
		{
			"bash alone", "bash", "bash --norc --noprofile -i", "source <(junctor completion bash)",
			[]string{"$(touch %s)", `"$(touch %s)"`, "`touch %s`", "<(touch %s)", "> %s", "a=$[$(touch %s)1]",
				"a=$(touch %s)", "a:$(touch %s)"},
		},
		{
			"", "zsh", "zsh -f -i", "autoload -Uz compinit; compinit -u -D; source <(junctor completion zsh)",
			[]string{"$(touch %s)", `"$(touch %s)"`, "`touch %s`", "<(touch %s)", "=(touch %s)",
				"*(e:'touch %s':)", "> %s"},
		},
		{
			"", "fish", "fish --no-config -i", "junctor completion fish | source",
			[]string{"(touch %s)", "$(touch %s)", `"$(touch %s)"`, "'a;touch %s'", "> %s"},
		},
	} {
		t.Run(cmp.Or(c.name, c.shell), func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath(c.shell); err != nil {
				t.Skip(c.shell + " is not installed")
			}
			if _, err := os.Stat(bashCompletion); strings.Contains(c.setUp, bashCompletion) && err != nil {
				t.Skip("bash-completion is not installed")
			}
			s := startShell(t, site, c.command)
			s.enter(c.setUp)
			s.typed("junctor tools \t", "demo ")
			marker := func(i int) string {
				return fmt.Sprintf("%s-ran-%d", strings.ReplaceAll(cmp.Or(c.name, c.shell), " ", "-"), i)
			}
			for i, attack := range c.attacks {
				s.clear()
				s.keys("junctor tools " + strings.ReplaceAll(attack, "%s", marker(i)) + " \t")
				s.clear()
				s.enter("") // TAB was handled
			}
			s.typed("junctor tools \t", "demo ") // completion still works
			for i, attack := range c.attacks {
				if _, err := os.Stat(filepath.Join(site.dir, marker(i))); err == nil {
					t.Errorf("TAB ran %s", attack)
				}
			}
		})
	}
}

// TestBashCompletesWithoutItsPackage: words with = and : are completed where the functions of
// the package bash-completion are missing, also before the end of a line.
func TestBashCompletesWithoutItsPackage(t *testing.T) {
	for _, program := range []string{"bash", "script"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(program + " is not installed")
		}
	}
	site := silentSite(t)
	if err := os.Mkdir(filepath.Join(site.dir, "some-directory"), 0o700); err != nil {
		t.Fatal(err)
	}
	s := startShell(t, site, "bash --norc --noprofile -i")
	s.enter("source <(junctor completion bash)")
	for keys, want := range map[string]string{
		"junctor read demo://ab\t":                  "demo://about ",
		"junctor call demo/ad\t":                    "demo/add ",
		"junctor call demo__add a=1 \t":             "b=",
		"junctor call demo__add a=1 b=2 --log=de\t": "--log=debug ",
		"junctor prompt demo__in\t who=x":           "demo__introduce ",
		"junctor call --root some\t":                "some-directory",
		// The cursor is moved back into the name.
		"junctor inspect demo__g x\x02\x02\t": "reet",
	} {
		s.clear()
		s.enter("")
		s.typed(keys, want)
	}
}

// A shell is a shell at a terminal.
type shell struct {
	t       *testing.T
	stdin   io.Writer
	entered int

	mu     sync.Mutex
	screen bytes.Buffer // output since the last wait
}

func startShell(t *testing.T, site silent, command string) *shell {
	t.Helper()
	env := slices.Concat(site.env, []string{"HOME=" + t.TempDir(), "TERM=dumb"})
	s := &shell{t: t}
	cmd := exec.Command("script", "-qc", command, "/dev/null")
	cmd.Dir, cmd.Env = site.dir, env
	cmd.Stdout = s
	stdin, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	s.stdin = stdin
	t.Cleanup(func() {
		s.clear()
		s.keys("exit\r")
		give := time.AfterFunc(10*time.Second, func() { _ = cmd.Process.Kill() })
		defer give.Stop()
		_ = cmd.Wait()
		_ = stdin.Close()
	})
	s.enter("") // it reads lines now
	return s
}

func (s *shell) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.screen.Write(p)
}

func (s *shell) keys(text string) {
	s.t.Helper()
	if _, err := io.WriteString(s.stdin, text); err != nil {
		s.t.Fatal(err)
	}
}

// clear empties the current line.
func (s *shell) clear() { s.keys("\x15") }

// enter runs a line and waits until it ends.
func (s *shell) enter(line string) {
	s.t.Helper()
	s.entered++
	if line != "" {
		line += "; "
	}
	// The echo of the line must differ from its output.
	end := "end" + strings.Repeat("-", s.entered) + "."
	s.keys(line + "echo end''" + strings.Repeat("-", s.entered) + ".\r")
	s.wait(end)
}

// typed types keys and waits for the expected line.
func (s *shell) typed(keys, want string) {
	s.t.Helper()
	s.keys(keys)
	s.wait(want)
}

func (s *shell) wait(want string) {
	s.t.Helper()
	eventually.NoError(s.t, func() error {
		s.mu.Lock()
		defer s.mu.Unlock()
		if text := s.screen.String(); !strings.Contains(text, want) {
			return fmt.Errorf("the terminal does not show %q:\n%q", want, text)
		}
		s.screen.Reset()
		return nil
	})
}
