package process

import (
	"io"
	"os"
	"strings"
	"testing"
	"time"
)

// slow is a reader that pauses between reads.
type slow struct {
	io.Reader
	time.Duration
}

func (s slow) Read(b []byte) (int, error) {
	n, err := s.Reader.Read(b[:min(len(b), 20_000)])
	time.Sleep(s.Duration) // the reader is slow
	return n, err
}

// TestLastWords checks that everything in the pipe is read after the deadline,
// also by a late reader, although another process keeps the pipe open.
func TestLastWords(t *testing.T) {
	much := strings.Repeat("x", 60_000)
	for name, c := range map[string]struct {
		wrote string
		late  bool          // start reading long after the deadline
		slow  time.Duration // pause between two reads
	}{
		"nothing": {"", false, 0}, "a line": {"bye\n", false, 0},
		"late": {"bye\n", true, 0}, "much, late": {much, true, 0},
		"much, slowly": {much, true, 70 * time.Millisecond},
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
				text, err := io.ReadAll(slow{LastWords(r, 50*time.Millisecond), c.slow})
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
				t.Skip(err) // the system has no deadlines for pipes
			}
			if c.late {
				time.Sleep(20 * time.Millisecond) // the deadline has long passed
				go read()
			}
			if text := <-got; text != c.wrote {
				t.Errorf("%d bytes, want %d", len(text), len(c.wrote))
			}
		})
	}
}
