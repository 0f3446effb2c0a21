package subscription

import (
	"slices"
	"testing"
)

func TestMatchesEnclosingResources(t *testing.T) {
	for _, c := range []struct {
		uri, subscribed string
		want            bool
	}{
		{"file:///a/b", "file:///a/b", true}, {"file:///a/b", "file:///a", true}, {"file:///a/b", "file:///a/", true},
		{"file:///a/b#c", "file:///a/b", true}, {"file:///a?x", "file:///a", true}, {"file:///ab", "file:///a", false},
		{"file:///a", "file:///a/b", false}, {"r:1", "r:12", false},
	} {
		if got := slices.Contains(enclosing(c.uri), c.subscribed); got != c.want {
			t.Errorf("%s with a subscription to %s: %v", c.uri, c.subscribed, got)
		}
	}
}
