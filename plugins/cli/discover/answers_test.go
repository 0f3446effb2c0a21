package discover

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/plugins/cli/model"
)

// slowly is a script with twelve commands that answer slowly.
const slowly = `
case "$*" in
--help) printf 'Usage: prog COMMAND\n\nCommands:\n'
	for c in aa bb cc dd ee ff gg hh ii jj kk ll; do printf '  %s   Does %s\n' $c $c; done
	printf '\nOptions:\n  -v, --verbose   Say more\n  -h, --help      Show help\n' ;;
*" --help") sleep 0.2; printf 'Usage: prog %s [OPTIONS]\n\nOptions:\n  -x, --extra-%s   More of it\n  -h, --help       Show help\n' $1 $1 ;;
*) echo "ran: $*" >>"$here/acted"; exit 3 ;;
esac
`

// untilKnown runs discovery with a time limit until it is complete.
func untilKnown(t *testing.T, f *fake, dir string, cut time.Duration) (p *model.Program, runs int) {
	t.Helper()
	for begun := time.Now(); time.Since(begun) < 3*patience; {
		runs++
		if p = f.run(func(o *Options) { o.CacheDir, o.Time, o.Parallel = dir, cut, 2 }); !p.Short {
			return p, runs
		}
		cut += cut / 4 // a busy machine may need more time for one question
		if len(p.Incomplete) == 0 || p.Explained >= p.Commands && p.Commands > 0 {
			t.Fatalf("a short result does not list what is missing: %q, %d of %d",
				p.Incomplete, p.Explained, p.Commands)
		}
	}
	t.Fatalf("the discovery is not complete after %d runs", runs)
	return nil, runs
}

func asJSON(t *testing.T, p *model.Program) string {
	t.Helper()
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestDiscoveryContinues checks that a discovery continues where it was cut
// off, and that its result equals that of an uninterrupted one.
func TestDiscoveryContinues(t *testing.T) {
	f := newFake(t, slowly)
	whole := f.run()
	questions := len(f.calls())
	if err := os.Remove(f.log); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	p, runs := untilKnown(t, f, dir, 500*time.Millisecond)
	if runs == 1 {
		t.Error("the discovery was not cut off")
	}
	if got, want := asJSON(t, p), asJSON(t, whole); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	// Only the questions that were open at the end of a run are asked again.
	if asked := len(f.calls()); asked > questions+2*runs {
		t.Errorf("%d questions in %d runs; %d without a limit", asked, runs, questions)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, answersPrefix+"*")); len(left) > 0 {
		t.Errorf("answers were left behind: %q", left)
	}
	if f.acted() != "" {
		t.Errorf("the program did %q", f.acted())
	}
}

// TestSelectionWaitsForCommands checks that Only may select a command that has
// not been discovered yet.
func TestSelectionWaitsForCommands(t *testing.T) {
	f := newFake(t, "sleep 0.5\n"+slowly)
	dir := t.TempDir()
	in := func(o *Options) { o.CacheDir, o.Only = dir, []string{"cc"} }
	p := f.run(in, func(o *Options) { o.Time = 50 * time.Millisecond })
	if !p.Short || p.Explained != 0 || len(names(p)) > 0 {
		t.Errorf("%q, %+v", names(p), p)
	}
	wantNames(t, names(f.run(in)), "cc")
}

// TestConcurrentDiscoveriesShareOneStore runs several discoveries with one
// store.
func TestConcurrentDiscoveriesShareOneStore(t *testing.T) {
	f := newFake(t, slowly)
	dir := t.TempDir()
	var all sync.WaitGroup
	results := make([]string, 3)
	for i := range results {
		all.Go(func() {
			p, _ := untilKnown(t, f, dir, 700*time.Millisecond)
			results[i] = asJSON(t, p)
		})
	}
	all.Wait()
	if results[0] != results[1] || results[0] != results[2] {
		t.Errorf("the results differ: %q", results)
	}
}

// TestInvalidAnswerFilesAreIgnored replaces the files of a store by invalid
// ones.
func TestInvalidAnswerFilesAreIgnored(t *testing.T) {
	f := newFake(t, slowly)
	want := asJSON(t, f.run())
	for name, bad := range map[string]func(good string) string{
		"empty":          func(string) string { return "" },
		"half":           func(good string) string { return good[:len(good)/2] },
		"no object":      func(string) string { return "[]" },
		"null":           func(string) string { return "null" },
		"two":            func(good string) string { return good + good },
		"unknown member": func(good string) string { return strings.Replace(good, `{`, `{"more":1,`, 1) },
		"other question": func(good string) string { return strings.Replace(good, `--help`, `--halp`, 1) },
		"negative":       func(good string) string { return strings.Replace(good, `"took_ms":`, `"took_ms":-`, 1) },
		"too large":      func(good string) string { return good + strings.Repeat(" ", maxAnswer) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			f.run(func(o *Options) { o.CacheDir, o.Time = dir, 700*time.Millisecond })
			files, _ := filepath.Glob(filepath.Join(dir, answersPrefix+"*", "*.json"))
			if len(files) == 0 {
				t.Skip("the machine was too busy to ask anything")
			}
			for _, file := range files {
				text, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				if info, err := os.Stat(file); err != nil || info.Mode() != 0o600 {
					t.Errorf("%s: %v, %v", file, info, err)
				}
				if err := os.WriteFile(file, []byte(bad(string(text))), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if got := asJSON(t, f.run(func(o *Options) { o.CacheDir = dir })); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

// TestAnswersAreBounded checks the limits on files, bytes and programs.
func TestAnswersAreBounded(t *testing.T) {
	c := cache{dir: t.TempDir()}
	s := openAnswers(c, "one")
	s.files = maxAnswers - 1
	s.store("a", answer{stdout: "A"}, 0)
	s.store("b", answer{stdout: "B"}, 0)
	if _, _, known := s.load("a"); !known {
		t.Error("the last answer within the limit was not stored")
	}
	if _, _, known := s.load("b"); known {
		t.Error("an answer beyond the limit was stored")
	}
	s = openAnswers(c, "one")
	if s.files != 1 || s.bytes == 0 {
		t.Errorf("%d files, %d bytes", s.files, s.bytes)
	}
	s.bytes = maxAllAnswers
	s.store("c", answer{stdout: "C"}, 0)
	s.bytes = 0
	s.store("d", answer{stdout: strings.Repeat("D", maxAnswer)}, 0)
	s.store("e", answer{failed: os.ErrClosed}, 0)
	for _, question := range []string{"c", "d", "e", "absent"} {
		if _, _, known := s.load(question); known {
			t.Errorf("%s is kept", question)
		}
	}
	for i := range maxUnfinished + 5 {
		s := openAnswers(c, fmt.Sprintf("p%02d", i))
		s.store("a", answer{}, 0)
		old := time.Now().Add(time.Duration(i-100) * time.Hour)
		if err := os.Chtimes(filepath.Join(c.dir, s.dir), old, old); err != nil {
			t.Fatal(err)
		}
	}
	c.trimAnswers()
	left, _ := filepath.Glob(filepath.Join(c.dir, answersPrefix+"*"))
	if len(left) != maxUnfinished {
		t.Errorf("%d stores are left", len(left))
	}
	disabled := openAnswers(cache{}, "x")
	disabled.store("a", answer{}, 0)
	if _, _, known := disabled.load("a"); known {
		t.Error("a store without a directory keeps an answer")
	}
}

// TestTimeoutBecomesFinal checks that a command which never answers in time is
// asked only a few times.
func TestTimeoutBecomesFinal(t *testing.T) {
	f := newFake(t, strings.Replace(slowly, `*" --help")`, `"ff --help") sleep 100 ;;
*" --help")`, 1))
	dir := t.TempDir()
	in := func(o *Options) { o.CacheDir, o.ProbeTime = dir, time.Second }
	runs := 1
	p := f.run(in)
	for ; p.Short; p = f.run(in) {
		if runs++; runs > maxLate+1 {
			t.Fatalf("after %d runs the command is still asked", runs)
		}
	}
	asked := 0
	for _, call := range f.calls() {
		if call == "ff --help" {
			asked++
		}
	}
	if asked < 2 || asked > maxLate+1 || command(t, p, "ff").Source != "list" ||
		!strings.Contains(strings.Join(p.Incomplete, " "), "ff") {
		t.Errorf("asked %d times, %q", asked, p.Incomplete)
	}
}
