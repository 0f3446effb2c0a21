package host

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestDecisionPagesHaveNumbers: each page about a decision has a number of its own, in its name
// and in its title.
func TestDecisionPagesHaveNumbers(t *testing.T) {
	pages, err := filepath.Glob("../docs/decisions/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	first := map[int]string{}
	for _, path := range pages {
		name := filepath.Base(path)
		number, _, _ := strings.Cut(name, "-")
		n, err := strconv.Atoi(number)
		if err != nil || len(number) != 4 {
			t.Errorf("%s does not begin with a number of four digits", name)
			continue
		}
		if other, taken := first[n]; taken {
			t.Errorf("%s has the number of %s", name, other)
		}
		first[n] = name
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if title := "# " + strconv.Itoa(n) + ". "; !strings.HasPrefix(string(text), title) {
			t.Errorf("%s does not begin with %q", name, title)
		}
	}
}
