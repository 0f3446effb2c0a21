package suggest

import (
	"strings"
	"testing"
)

func TestNearest(t *testing.T) {
	known := []string{"owner", "repo", "per_page", "state", "id", "since", "head", "search_issues", "größe"}
	for name, want := range map[string]string{
		"onwer": "owner", "ower": "owner", "Owner": "owner", "owners": "owner", "ownre": "owner",
		"perPage": "per_page", "per-page": "per_page", "perpgae": "per_page",
		"rep": "repo", "ID": "id", "stat": "state", "haed": "head", "st": "", "hea": "head", "rpo": "repo",
		"serch_isues": "search_issues", "grösse": "größe", "grßöe": "größe",
		"search issues": "search_issues",
	} {
		if got := Nearest(name, known); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

// TestNearestIgnoresDistantNames checks that short names need a close match and
// that unrelated words get no suggestion.
func TestNearestIgnoresDistantNames(t *testing.T) {
	known := []string{"d", "id", "odd", "ls", "owner", "head", "repo", "", "command", strings.Repeat("owner", 100)}
	for _, name := range []string{
		"", "x", "dei", "ix", "xyz", "own", "anything", "it", "_", "..", "sl", "heel", "fcommnds", "dxxx",
		strings.Repeat("owner", 20), strings.Repeat("x", 1<<20), "\x00", "\xff\xff\xff",
	} {
		if got := Nearest(name, known); got != "" {
			t.Errorf("Nearest(%.20q) = %q, want no suggestion", name, got)
		}
	}
	if got := Nearest("owner", nil); got != "" {
		t.Errorf("Nearest without candidates = %q", got)
	}
}
