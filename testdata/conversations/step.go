// Package conversation contains the other side of the host's conversations in
// tests: servers that a file or a test controls.
//
// A [Link] is a connection to a server, in the form that host/upstream needs.
// The test has its other end. A [Server] at that end answers the standard
// requests and leaves the others to the test. A file (upstream/*.txt,
// gateway/*.txt, http/*.txt) is a list of [Step]s. The test of each package
// defines their verbs.
//
// The package is under testdata because it is used by tests only, of several
// packages.
package conversation

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A Step is one line of a conversation: a verb and the rest. Empty lines and
// lines that begin with # are skipped.
type Step struct {
	Line       int
	Verb, Rest string
}

// Words returns n parts of Rest, separated by spaces. The last part contains
// everything that follows.
func (s Step) Words(n int) []string {
	words := make([]string, n)
	rest := s.Rest
	for i := range n - 1 {
		words[i], rest, _ = strings.Cut(rest, " ")
	}
	words[n-1] = rest
	return words
}

// Load reads the conversations that match a pattern. The keys are the file
// names without .txt.
func Load(t testing.TB, pattern string) map[string][]Step {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) == 0 {
		t.Fatalf("no conversation matches %s (%v)", pattern, err)
	}
	all := map[string][]Step{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all[strings.TrimSuffix(filepath.Base(path), ".txt")] = Parse(string(text))
	}
	return all
}

// Parse parses one conversation.
func Parse(text string) []Step {
	var steps []Step
	for i, line := range strings.Split(text, "\n") {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		verb, rest, _ := strings.Cut(line, " ")
		steps = append(steps, Step{Line: i + 1, Verb: verb, Rest: strings.TrimSpace(rest)})
	}
	return steps
}

// Match reports whether text matches a pattern, in which … matches any text.
func Match(pattern, text string) bool {
	parts := strings.Split(pattern, "…")
	if !strings.HasPrefix(text, parts[0]) {
		return false
	}
	text = text[len(parts[0]):]
	if len(parts) == 1 {
		return text == ""
	}
	last := parts[len(parts)-1]
	for _, part := range parts[1 : len(parts)-1] {
		i := strings.Index(text, part)
		if i < 0 {
			return false
		}
		text = text[i+len(part):]
	}
	return strings.HasSuffix(text, last)
}

// Next compares the next message of a peer with a pattern. It fails if there is
// none. In a synctest bubble, call synctest.Wait first.
func Next(sent <-chan string, pattern string) error {
	select {
	case msg := <-sent:
		if !Match(pattern, msg) {
			return fmt.Errorf("the host sent\n\t%s\nand not\n\t%s", msg, pattern)
		}
		return nil
	default:
		return fmt.Errorf("the host did not send\n\t%s", pattern)
	}
}

// Nothing fails if a peer has sent a message.
func Nothing(sent <-chan string) error {
	select {
	case msg := <-sent:
		return fmt.Errorf("the host sent\n\t%s", msg)
	default:
		return nil
	}
}
