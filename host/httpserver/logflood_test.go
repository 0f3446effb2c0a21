package httpserver

import (
	"strings"
	"testing"
	"time"
)

// TestLogFlood: a server that floods the log with messages makes it grow by a
// bounded amount, the log says how many lines were dropped, and the lines of other
// servers are there.
func TestLogFlood(t *testing.T) {
	s := openSite(t, t.TempDir(), blocks(t, "", "chatty 100000", "chatty 3"), "127.0.0.1:0")
	v := s.visit(t)
	succeeds(t, v, "b__echo", 10)
	begun := time.Now()
	succeeds(t, v, "a__bad", 10)
	succeeds(t, v, "b__bad", 10)
	took := time.Since(begun)
	for until := time.Now().Add(patience); !strings.Contains(s.said.String(), "log lines of a server were dropped"); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatal("the log does not say what was dropped")
		}
	}
	said := s.said.String()
	if n := strings.Count(said, `"server":"b"`); n != 3 {
		t.Errorf("%d lines of the other server", n)
	}
	if most := 1000 + 100*int(took.Seconds()+float64(patience/time.Second)); strings.Count(said, `"server":"a"`) > most || len(said) > 3<<20 {
		t.Errorf("%d lines of the server that floods, %d bytes in all", strings.Count(said, `"server":"a"`), len(said))
	}
	t.Logf("%d lines, %d bytes", strings.Count(said, `"server":"a"`), len(said))
	_, after, _ := strings.Cut(said, "log lines of a server were dropped")
	if line, _, _ := strings.Cut(after, "\n"); !strings.Contains(line, `"server":"a"`) || !strings.Contains(line, `"lines":`) || !strings.Contains(line, `"bytes":`) {
		t.Error(line)
	}
}
