package condition

import (
	"testing"

	"pgregory.net/rapid"
)

// TestSpellings: no spelling of a resource gets past a rule that allows others or denies it.
func TestSpellings(t *testing.T) {
	for _, uri := range []string{
		"file:///pub/../secret/b", "file:///pub/%2e%2e/secret/b", "file:///pub/..%2fsecret/b",
		"file:///pub/.%2e/secret/b", "file:///pub/%252e%252e/secret/b", `file:///pub/..\secret/b`,
		"file:///pub/a?/../../secret/b", "file:///pub/a#/../../secret/b", "file:///pub/%5c..%5csecret/../../secret/b",
		"file:///pub//../secret/b",
	} {
		if LikeURI(uri, "file:///pub/*") {
			t.Errorf("allowed: %s", uri)
		}
		if !LikeAnyURI(uri, "file:///secret/*") {
			t.Errorf("not denied: %s", uri)
		}
	}
	for _, uri := range []string{
		"file:///secret/b", "file:///%73ecret/b", "file:///secret%2fb", "file:////secret/b", "file:///./secret/b",
		"file:///x/../secret/b", "file:///Secret/b", "FILE:///secret/b",
		"file://localhost/secret/b", "file:/secret/b", "file:///%2573ecret/b", "file:///secret/./b", `file:\\\secret\b`,
	} {
		if !LikeAnyURI(uri, "file:///secret/*") {
			t.Errorf("not denied: %s", uri)
		}
	}
	for _, uri := range []string{"db://test/../prod/x", "db://test/%2e%2e/prod/x", `db://test\..\prod/x`,
		"db://prod./x", "db://PROD/x", "db://prod;v=1/x", "db://prod/x;y", "db://prod/%00/../../x"} {
		if LikeURI(uri, "db://test/*") {
			t.Errorf("allowed: %s", uri)
		}
		if !LikeAnyURI(uri, "db://prod/*") {
			t.Errorf("not denied: %s", uri)
		}
	}
	for _, uri := range []string{"git://repo/a/../b", "git://repo/./b", "git://repo/a/.."} {
		if LikeURI(uri, "git://repo/*") {
			t.Errorf("allowed: %s", uri)
		}
	}
	for uri, glob := range map[string]string{
		"file:///pub/a%20b.md": "file:///pub/*", "file:///a%20b/c": "file:///a%20b/*",
		"https://h.example/a?u=http://x//y": "https://h.example/a?u=http://*",
		"note://one":                        "note://*", "sec:42": "sec:*", "file:///pub/": "file:///pub/*",
		"HTTPS://x/": "*", "demo://a//b": "demo://a//*",
	} {
		if !LikeURI(uri, glob) {
			t.Errorf("%s is not like %s: %s, %s", uri, glob, normalURI(uri), normalURI(glob))
		}
	}
	for uri, glob := range map[string]string{"file:///public/a": "file:///pub/*",
		"note://two": "note://one", "https://h.example/b": "https://h.example/a*"} {
		if LikeURI(uri, glob) || LikeAnyURI(uri, glob) {
			t.Errorf("%s is like %s", uri, glob)
		}
	}
}

// TestNormalURIGenerated: the normal form is that of itself, and has no segment that leaves a
// directory.
func TestNormalURIGenerated(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		uri := rapid.StringMatching(`(file|https|x):/{0,4}([a-c./\\%2eEfF5cC]{0,12}[?#]?){0,3}`).Draw(t, "uri")
		normal := normalURI(uri)
		if again := normalURI(normal); again != normal && !hasEscapes(normal) {
			t.Fatalf("%q becomes %q, then %q", uri, normal, again)
		}
		if LikeURI(uri, "file:///pub/*") && !Like(normal, "file:///pub/*") {
			t.Fatalf("%q", uri)
		}
	})
}

// hasEscapes reports whether a text was escaped more than mostEscapes times, or holds what
// only looks like an escape.
func hasEscapes(text string) bool {
	for i := range len(text) {
		if text[i] == '%' {
			return true
		}
	}
	return false
}
