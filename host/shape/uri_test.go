package shape

import "testing"

// TestNormalURI compares spellings of URIs. Those of a line are one resource, or not.
func TestNormalURI(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"file:///docs/café/a.txt", "file:///docs/caf%C3%A9/a.txt", true},
		{"file:///docs/café/a.txt", "file:///docs/caf%c3%a9/%61.txt", true},
		{"file:///my docs/b c.txt", "file:///my%20docs/b%20c.txt", true},
		{"note://日本語/メモ", "note://%E6%97%A5%E6%9C%AC%E8%AA%9E/%E3%83%A1%E3%83%A2", true},
		{"KBInfo://Summary", "kbinfo://summary/", true},
		{"x://h?q", "x://h/?q", true},
		{"http://Bücher.example:80/ä?q=é", "http://xn--bcher-kva.example/%C3%A4?q=%C3%A9", true},
		{"https://h:/a", "https://h:443/a", true},
		{"file:/a", "file:///a", true},
		{"file://localhost/a", "file:///a", true},
		{"pct://100%/a%zz", "pct://100%25/a%25zz", true},
		{"x://h/a^b|c`d\"e<f>{g}\\h", "x://h/a%5Eb%7Cc%60d%22e%3Cf%3E%7Bg%7D%5Ch", true},
		{"urn:isbn:1 2", "URN:isbn:1%202", true},
		{"x://u@H/%7e", "x://u@h/~", true},
		{"x://%C3%89/a", "x://É/a", true},

		{"x://h/a%2Fb", "x://h/a/b", false},
		{"x://h/a%3Fb", "x://h/a?b", false},
		{"x://h/a%23b", "x://h/a#b", false},
		{"x://h/a%25b", "x://h/a%b0", false},
		{"x://h/a%252Fb", "x://h/a%2Fb", false},
		{"x://h/a+b", "x://h/a%20b", false},
		{"x://h/A", "x://h/a", false},
		{"x://h/a", "x://h/a/", false},
		{"x://h/a//b", "x://h/a/b", false},
		{"x://h/a/../b", "x://h/b", false},
		{"x://h/./b", "x://h/b", false},
		{"x://H:p/a", "x://h/a", false},
		{"x://U@h/a", "x://u@h/a", false},
		{"x://h:80/a", "x://h/a", false},
		{"http://h:81/a", "http://h/a", false},
		{"http://h/a?Q", "http://h/a?q", false},
		{"x:A", "x:a", false},
		{"x:/a", "x:///a", false},
		{"file://other/a", "file:///a", false},
		{"no scheme/é", "é", false},
		{"{x}://É", "{x}://é", false},
		{"x://%2f/a", "x:////a", false},
		{"x://é/a", "x://e/a", false},
		{"x://a%00b", "x://ab", false},
	} {
		a, b := NormalURI(c.a), NormalURI(c.b)
		if (a == b) != c.same {
			t.Errorf("%q and %q: %q and %q", c.a, c.b, a, b)
		}
	}
}

// TestAbsolute checks which URIs reach clients as they are.
//
// deviation: URIs of resources with an escape such as %20 in the place of the host | they stay, for schemes other than http, https, ws, wss, ftp and file | fastmcp#2086
func TestAbsolute(t *testing.T) {
	for uri, want := range map[string]bool{
		"content://a%20b": true, "content://a%20b/x": true,
		"Content://u%3a@a%2fb:7/%20?q": true, "content://ok/a%20b": true, "x:%20": true,
		"http://%C3%A9.example/": true,
		"http://a%20b/":          false, "HTTPS://a%20b/": false, "file://a%20b/c": false,
		"content://a%2": false, "content://100%/": false,
		"content://a b/": false, "content://h:%38/": false, "content://h:99999/": false,
		"content://[%41]/": false, "a%20b": false, "//a%20b/": false, "http:///x": false,
	} {
		if got := Absolute(uri); got != want {
			t.Errorf("%q: %t", uri, got)
		}
	}
}

// FuzzNormalURI checks that a normal form has one normal form, itself.
func FuzzNormalURI(f *testing.F) {
	for _, uri := range []string{"file:///docs/café", "http://B%C3%BCcher.example:80", "x://a%", "x://u@h:@H:1?%41",
		"file:/a", "%", ":", "x://%4", "http://%ff/%zz", "é://É", "BB%4BBBB@H:", "%41%2541:B"} {
		f.Add(uri)
	}
	f.Fuzz(func(t *testing.T, uri string) {
		normal := NormalURI(uri)
		if again := NormalURI(normal); again != normal {
			t.Errorf("%q: %q, then %q", uri, normal, again)
		}
	})
}
