package schema

import (
	"strings"
	"testing"
)

func TestNearest(t *testing.T) {
	known := []string{"owner", "repo", "per_page", "state", "id", "since"}
	for name, want := range map[string]string{
		"onwer": "owner", "ower": "owner", "Owner": "owner", "owners": "owner", "perPage": "per_page", "per-page": "per_page", "perpgae": "per_page",
		"rep": "repo", "ID": "id", "stat": "state",
		"x": "", "": "", "ix": "", "xyz": "", "own": "", "anything": "", strings.Repeat("owner", 20): "",
	} {
		if got := nearest(name, known); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}
