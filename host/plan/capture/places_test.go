package capture

import (
	"testing"

	"github.com/junctor-mcp/junctor/host/config"
)

// TestShortPlaces: places lose the directory of their layer, also if one layer is below another.
func TestShortPlaces(t *testing.T) {
	at := t.TempDir()
	for name, c := range map[string]struct{ path, under, place, want string }{
		"its own": {at + "/junctor.hcl", at + "/other/base.hcl", " " + at + "/junctor.hcl:1:2",
			" junctor.hcl:1:2"},
		"a layer below": {at + "/junctor.hcl", at + "/base/base.hcl", " " + at + "/base/base.hcl:1:2",
			" layer 1: base.hcl:1:2"},
		"a layer above": {at + "/own/junctor.hcl", at + "/base.hcl", " " + at + "/base.hcl:1:2",
			" layer 1: base.hcl:1:2"},
	} {
		from := &Source{Config: &config.Config{Path: c.path, Under: []string{c.under}}}
		if got := from.shortPlaces().Replace(c.place); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
