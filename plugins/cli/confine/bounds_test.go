package confine

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestWorkIsBounded: a text that begins a path at every character is refused after a limited
// number of lookups, and a long text for people is not.
func TestWorkIsBounded(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"b", ",b"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for text, refused := range map[string]bool{
		strings.Repeat(",", 100_000):                                    true,
		strings.Repeat(",b/../", 20_000):                                true,
		strings.Repeat(", ", 100_000):                                   true,
		strings.Repeat("=x/y", 100_000):                                 true,
		strings.Repeat("a sentence of a long text, with words. ", 1000): false,
		strings.Repeat("x", 1<<20):                                      false,
	} {
		d, err := New(dir)
		if err != nil {
			t.Fatal(err)
		}
		err = d.Text(text)
		if errors.Is(err, errTooMuch) != refused || err != nil && !refused {
			t.Errorf("%.20q of %d bytes: %v", text, len(text), err)
		}
		if d.work < -lookup-1 {
			t.Errorf("%.20q: %d too much", text, -d.work)
		}
	}
	d, err := New(dir)
	if err != nil {
		t.Fatal(err)
	}
	for range 2000 {
		_ = d.Text(strings.Repeat("=x", 100))
	}
	if err := d.Text("=x/y"); !errors.Is(err, errTooMuch) {
		t.Errorf("many values of one call are checked without a bound: %v", err)
	}
}
