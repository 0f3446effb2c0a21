package conversation

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A Step is one line of a conversation: a verb and what follows it. Empty lines
// and those that begin with # are comments.
type Step struct {
	Line       int
	Verb, Rest string
}

// Words are the first n words of the rest, and what follows them.
func (s Step) Words(n int) []string {
	words := make([]string, n)
	rest := s.Rest
	for i := range n - 1 {
		words[i], rest, _ = strings.Cut(rest, " ")
	}
	words[n-1] = rest
	return words
}

// Load reads the conversations that match a pattern, by their names without
// the end.
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

// Parse reads one conversation.
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

// Match reports whether text is what a pattern says, in which … stands for
// anything.
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

// Next takes the next message out of what a peer has sent, and fails when there
// is none or another one. In a bubble, wait first.
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

// Nothing fails when a peer has sent something.
func Nothing(sent <-chan string) error {
	select {
	case msg := <-sent:
		return fmt.Errorf("the host sent\n\t%s", msg)
	default:
		return nil
	}
}
