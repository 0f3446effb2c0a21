package plugintest

import (
	"runtime"
	"strings"
	"testing"
	"time"
)

// questionTime is how long a question may take, and stopTime how long a plugin
// may take to end after it.
var (
	questionTime = 3 * time.Minute
	stopTime     = time.Minute
)

// limited asks the question. When the author's code does not return, it fails
// the test with the name of the question and what all goroutines wait for, and
// leaves that code behind.
func (q question) limited(t testing.TB, s *subject) {
	t.Helper()
	if !returns(questionTime, func() { q.ask(t, s) }) {
		t.Fatalf("the question %q was not answered within %s: the plugin's code does not return\n\n%s", q.name, questionTime, stacks())
	}
}

// returns reports whether f returns within a time.
func returns(d time.Duration, f func()) bool {
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-done:
		return true
	case <-t.C:
		return false
	}
}

// dumpSize bounds what is shown of the goroutines.
const dumpSize = 256 << 10

// stacks describes all goroutines but those that say nothing about a
// plugin: the testing package's and the one that asks.
func stacks() string {
	text := make([]byte, dumpSize)
	var shown []string
	for _, g := range strings.Split(string(text[:runtime.Stack(text, true)]), "\n\n") {
		if !strings.Contains(g, "plugintest.stacks") && !strings.Contains(g, "testing.(*M).Run") {
			shown = append(shown, g)
		}
	}
	return strings.Join(shown, "\n\n")
}
