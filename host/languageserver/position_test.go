package languageserver

import "testing"

// TestPositions converts between offsets and positions. The letter 😀 has two UTF-16 code
// units and four bytes.
func TestPositions(t *testing.T) {
	text := []byte("a😀b\r\né\n\rz")
	for _, c := range []struct {
		offset int
		at     position
	}{
		{0, position{0, 0}}, {1, position{0, 1}}, {5, position{0, 3}}, {6, position{0, 4}}, {8, position{1, 0}},
		{10, position{1, 1}}, {11, position{2, 0}}, {12, position{3, 0}}, {13, position{3, 1}},
	} {
		if got := positionOf(text, c.offset); got != c.at {
			t.Errorf("offset %d is at %v, want %v", c.offset, got, c.at)
		}
		if got := offsetOf(text, c.at); got != c.offset {
			t.Errorf("%v is offset %d, want %d", c.at, got, c.offset)
		}
	}
	for _, c := range []struct {
		at     position
		offset int
	}{{position{0, 2}, 1}, {position{0, 99}, 6}, {position{1, 9}, 10}, {position{9, 9}, 13}, {position{-1, -1}, 0}} {
		if got := offsetOf(text, c.at); got != c.offset {
			t.Errorf("%v is offset %d, want %d", c.at, got, c.offset)
		}
	}
	for _, offset := range []int{-1, 99, 7} {
		positionOf(text, offset) // does not panic
	}
}

// TestPathsOfURIs refuses what names no file of this machine.
func TestPathsOfURIs(t *testing.T) {
	for uri, want := range map[string]string{
		"file:///a/b%20c.hcl": "/a/b c.hcl", "file://localhost/a.hcl": "/a.hcl", "file:///a/../b.hcl": "/b.hcl",
		"untitled:Untitled-1": "", "file://host/a.hcl": "", "file:///a%00.hcl": "",
		"file:": "", "https://x/y.hcl": "", "%": "", "file:///%ff.hcl": "",
	} {
		if got, err := pathOf(uri); got != want || (err == nil) != (want != "") {
			t.Errorf("%s is %q, %v; want %q", uri, got, err, want)
		}
	}
	if got := uriOf("/a/b c.hcl"); got != "file:///a/b%20c.hcl" {
		t.Error(got)
	}
}
