package plugin

import (
	"errors"
	"fmt"
	"testing"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/sdk/wire"
)

// TestSettingErrors checks that each rejected setting is returned separately.
func TestSettingErrors(t *testing.T) {
	several := errors.Join(sdk.AttrErrorf("count", "is too small"),
		fmt.Errorf("tags: %w", sdk.AttrErrorf(`tags["bad"]`, "is bad")))
	for _, c := range []struct {
		name string
		err  error
		want []string
	}{
		{"nothing", nil, nil},
		{"one", sdk.AttrErrorf("count", "is too small"), []string{"count: is too small"}},
		{"several", several, []string{"count: is too small", `tags["bad"]: tags: is bad`}},
		{"without a place", errors.Join(sdk.Errorf(sdk.Invalid, "no"), several),
			[]string{"no", "count: is too small", `tags["bad"]: tags: is bad`}},
		{"something else", sdk.Errorf(sdk.Unavailable, "unavailable"), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := new(link).asFault(wire.StatusOf(c.err).Err())
			if c.want != nil && !fault.Is(err, fault.UpstreamSettings) {
				t.Fatalf("%v", err)
			}
			got := SettingErrors(err)
			if len(got) != len(c.want) {
				t.Fatalf("got %v, want %q", got, c.want)
			}
			for i, e := range got {
				if e.Error() != c.want[i] {
					t.Errorf("got %q, want %q", e, c.want[i])
				}
			}
		})
	}
}
