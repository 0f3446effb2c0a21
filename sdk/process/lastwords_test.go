package process

import (
	"io"
	"os"
	"strings"
	"testing"
	"time"
)

// TestLastWords: what is in a pipe is read although the time is over, also by a
// reader that comes late, and who holds the pipe open is not waited for.
func TestLastWords(t *testing.T) {
	for name, c := range map[string]struct {
		wrote string
		late  bool // the reader comes when the deadline has long passed
	}{
		"nothing": {"", false}, "a line": {"bye\n", false}, "late": {"bye\n", true}, "much, late": {strings.Repeat("x", 60_000), true},
	} {
		t.Run(name, func(t *testing.T) {
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			defer w.Close() // held open until then
			got := make(chan string, 1)
			read := func() {
				text, err := io.ReadAll(LastWords(r, 50*time.Millisecond))
				if err != nil {
					t.Error(err)
				}
				got <- string(text)
			}
			if !c.late {
				go read()
			}
			if _, err := io.WriteString(w, c.wrote); err != nil {
				t.Fatal(err)
			}
			if err := r.SetReadDeadline(time.Now()); err != nil {
				t.Skip(err) // there is no such thing here
			}
			if c.late {
				time.Sleep(20 * time.Millisecond)
				go read()
			}
			if text := <-got; text != c.wrote {
				t.Errorf("%d bytes, want %d", len(text), len(c.wrote))
			}
		})
	}
}
