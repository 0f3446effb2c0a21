package main

import (
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

// scopesMost is how long scopes may be, all together.
const scopesMost = 2 << 10

// A challenge is what a server says about the credentials that it wants (RFC
// 6750 §3, RFC 9728 §5.1).
type challenge struct {
	seen     bool
	Metadata string // where the resource's metadata is
	Scopes   []string
	Error    string
}

// readChallenge reads the headers one by one: the library gives up on all of
// them when one is not well formed, and proxies add strange ones.
func readChallenge(headers []string) challenge {
	c := challenge{seen: true}
	for _, h := range headers[:min(len(headers), 16)] {
		if len(h) > 8<<10 {
			continue
		}
		all, err := oauthex.ParseWWWAuthenticate([]string{h})
		if err != nil {
			continue
		}
		for _, one := range all {
			if one.Scheme != "bearer" && one.Params["resource_metadata"] == "" {
				continue
			}
			if c.Metadata == "" {
				c.Metadata = one.Params["resource_metadata"]
			}
			if c.Error == "" {
				c.Error = one.Params["error"]
			}
			if c.Scopes == nil {
				c.Scopes = scopesOf(one.Params["scope"])
			}
		}
	}
	return c
}

// scopesOf takes a list of scopes apart, and leaves out what is none.
func scopesOf(text string) []string {
	if len(text) > scopesMost {
		return nil
	}
	return union(nil, strings.Fields(text))
}

// union returns what is in a, and then what is in b besides, each once.
func union(a, b []string) []string {
	var all []string
	room := scopesMost
	for _, s := range slices.Concat(a, b) {
		if isScope(s) && len(s) < room && !slices.Contains(all, s) {
			all = append(all, s)
			room -= len(s) + 1
		}
	}
	return all
}

// isScope is RFC 6749 §3.3, with a bound.
func isScope(s string) bool {
	return s != "" && len(s) <= 256 && !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' || r == '"' || r == '\\' })
}
