package registry

import "testing"

// TestSameAs: an update stays with its package, its image, and its host: the stored secrets of a
// block go to the new version.
func TestSameAs(t *testing.T) {
	pack := func(kind, id string) Option { return Option{pack: &Package{Type: kind, Identifier: id}} }
	remote := func(kind, url string) Option { return Option{remote: &Remote{Type: kind, URL: url}} }
	for name, c := range map[string]struct {
		a, b Option
		same bool
	}{
		"a package":        {pack("npm", "x"), pack("npm", "x"), true},
		"another package":  {pack("npm", "x"), pack("npm", "y"), false},
		"another manager":  {pack("npm", "x"), pack("pypi", "x"), false},
		"an image":         {pack("oci", "h.io/a/b:1"), pack("oci", "h.io/a/b:2@sha256:00"), true},
		"a port":           {pack("oci", "h.io:5000/a"), pack("oci", "h.io:5000/a:2"), true},
		"another image":    {pack("oci", "h.io/a/b:1"), pack("oci", "h.io/a/c:1"), false},
		"another registry": {pack("oci", "h.io/a/b:1"), pack("oci", "evil.io/a/b:1"), false},
		"a URL":            {remote("sse", "https://h.io/a"), remote("sse", "https://H.io/b?x"), true},
		"with a variable":  {remote("sse", "https://{tenant}.h.io/a"), remote("sse", "https://{tenant}.h.io/b"), true},
		"another host":     {remote("sse", "https://h.io/a"), remote("sse", "https://evil.io/a"), false},
		"another port":     {remote("sse", "https://h.io/a"), remote("sse", "https://h.io:8443/a"), false},
		"another scheme":   {remote("sse", "https://h.io/a"), remote("sse", "http://h.io/a"), false},
		"another kind":     {remote("sse", "https://h.io/a"), remote("streamable-http", "https://h.io/a"), false},
		"both":             {pack("npm", "x"), remote("sse", "https://h.io"), false},
	} {
		if got := c.a.SameAs(c.b); got != c.same {
			t.Errorf("%s: %v", name, got)
		}
	}
}
