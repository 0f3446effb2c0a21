package main

import (
	"strings"
	"testing"
)

// FuzzChallenge: the parsed challenge of any header is bounded and can be sent again.
func FuzzChallenge(f *testing.F) {
	for _, seed := range []string{
		`Bearer realm="x", resource_metadata="https://a/", scope="a b", error="insufficient_scope"`,
		`Basic, Bearer scope=a`, `Bearer ="`, "Bearer a=\"\\",
		`Negotiate abc==, Bearer scope="a"`, strings.Repeat("Bearer a=b, ", 500), `"Bearer"`, `Bearer scope="\"" x`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, header string) {
		c := readChallenge([]string{header, header})
		if !c.seen {
			t.Error("it was not seen")
		}
		if text := strings.Join(c.Scopes, " "); len(text) > scopesMost || strings.ContainsAny(text, "\r\n\"\\") {
			t.Errorf("scopes %q", text)
		}
		for i, s := range c.Scopes {
			for _, other := range c.Scopes[:i] {
				if s == other {
					t.Errorf("%q twice", s)
				}
			}
		}
	})
}
