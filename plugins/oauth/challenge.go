package main

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"github.com/junctor-mcp/junctor/sdk"
)

// scopesMost is the maximum length of all scopes together, in bytes.
const scopesMost = 2 << 10

// A challenge is the content of WWW-Authenticate headers (RFC 6750 §3, RFC 9728 §5.1).
type challenge struct {
	seen     bool
	Metadata string // URL of the resource's metadata
	Scopes   []string
	Error    string
}

// readChallenge parses each header separately. oauthex rejects all headers if one is
// malformed, and proxies add malformed ones.
func readChallenge(headers []string) challenge {
	c := challenge{seen: true}
	for _, h := range headers[:min(len(headers), 16)] {
		if len(h) > 8<<10 {
			continue
		}
		all, err := oauthex.ParseWWWAuthenticate([]string{tidy(h)})
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

// tidy rewrites parameters that oauthex does not read: with spaces around the equals sign
// (BWS in RFC 9110 §11.2), and with a value in single quotes. It changes no quoted string.
func tidy(header string) string {
	if !strings.ContainsAny(header, " \t'") || !strings.Contains(header, "=") {
		return header
	}
	out := make([]byte, 0, len(header))
	for i := 0; i < len(header); i++ {
		switch header[i] {
		case '"':
			end := i + quotedLen(header[i:])
			out = append(out, header[i:end]...)
			i = end - 1
		case '=':
			before := bytes.TrimRight(out, " \t")
			if !endsWithName(before) {
				out = append(out, '=')
				continue
			}
			out = append(before, '=')
			rest := strings.TrimLeft(header[i+1:], " \t")
			i = len(header) - len(rest) - 1
			if value, ok := singleQuoted(rest); ok {
				out = append(append(append(out, '"'), value...), '"')
				i += len(value) + 2
			}
		default:
			out = append(out, header[i])
		}
	}
	return string(out)
}

// quotedLen returns the length of the quoted string that a text begins with, or of the text
// if the string does not end.
func quotedLen(text string) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(text)
}

// endsWithName reports whether the last word of a text can be the name of a parameter. An
// equals sign within a URL, which begins no value, has none before it.
func endsWithName(text []byte) bool {
	name := text[bytes.LastIndexAny(text, " \t,")+1:]
	return len(name) > 0 && !bytes.ContainsFunc(name, func(r rune) bool {
		return (r|0x20 < 'a' || r|0x20 > 'z') && (r < '0' || r > '9') && r != '_' && r != '-'
	})
}

// singleQuoted returns the value in single quotes that a text begins with. It has to end
// with the parameter.
func singleQuoted(text string) (value string, ok bool) {
	if !strings.HasPrefix(text, "'") {
		return "", false
	}
	for i := 1; i < len(text) && text[i] != '"' && text[i] != '\\'; i++ {
		if text[i] != '\'' {
			continue
		}
		if rest := strings.TrimLeft(text[i+1:], " \t"); rest == "" || rest[0] == ',' {
			return text[1:i], true
		}
	}
	return "", false
}

// scopesOf splits a list of scopes and drops invalid ones.
func scopesOf(text string) []string {
	if len(text) > scopesMost {
		return nil
	}
	return union(nil, strings.Fields(text))
}

// union returns the valid scopes of a and b, each once, up to scopesMost.
func union(a, b []string) []string {
	var all []string
	left := scopesMost
	for _, s := range slices.Concat(a, b) {
		if isScope(s) && len(s) < left && !slices.Contains(all, s) {
			all = append(all, s)
			left -= len(s) + 1
		}
	}
	return all
}

// isScope reports whether s is a scope by RFC 6749 §3.3 of at most 256 bytes.
func isScope(s string) bool {
	return s != "" && len(s) <= 256 &&
		!strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' || r == '"' || r == '\\' })
}

// Challenge answers a refusal. It never waits for a user.
func (a *authorizer) Challenge(ctx context.Context, c sdk.Challenge) (sdk.ChallengeResult, error) {
	if err := take(ctx, a.busy); err != nil {
		return sdk.ChallengeResult{}, err
	}
	defer func() { <-a.busy }()
	if err := a.sameServer(c.URL); err != nil {
		return sdk.ChallengeResult{}, err
	}
	said := readChallenge(c.WWWAuthenticate)
	switch {
	case c.Status == 401:
		a.hint, a.wanted = said, true
		return a.unauthorized(ctx, c.Attempt)
	case c.Status == 403 && said.Error == "insufficient_scope":
		if said.Metadata == "" {
			said.Metadata = a.hint.Metadata
		}
		a.hint = said
		return a.insufficient(ctx)
	}
	return sdk.ChallengeResult{Reason: "the server refuses this request for the login"}, nil
}

// unauthorized answers status 401: the token is missing, expired or invalid.
func (a *authorizer) unauthorized(ctx context.Context, attempt int) (sdk.ChallengeResult, error) {
	if !a.person() {
		return a.renewMachine(ctx, nil, attempt)
	}
	l, err := a.current(ctx)
	switch {
	case err != nil:
		return sdk.ChallengeResult{}, err
	case l == nil:
		return a.wantsLogin("not logged in"), nil
	case a.presented != "" && a.presented != l.Access && l.fresh():
		return sdk.ChallengeResult{Retry: true, Reason: "there is a newer token"}, nil
	}
	a.refused = l.Access
	switch {
	case l.Refresh == "":
		return a.wantsLogin("the server refused the token, and there is no refresh token"), nil
	case attempt > 1 && l.Access == a.renewed:
		return a.wantsLogin("the server refuses new tokens"), nil
	}
	// The server may use another authorization server now, which makes the token
	// worthless (U7). The login is kept until the next one anyway, because a failing
	// server may return anything.
	s, err := a.discover(ctx)
	if err != nil {
		return sdk.ChallengeResult{}, err
	}
	if !sameIssuer(s.AS.Issuer, l.Issuer) || s.Resource != l.Resource {
		a.moved = l.Access
		return a.wantsLogin("the server now uses another authorization server than at the login"), nil
	}
	a.discovered = s
	if err := a.refresh(ctx); err != nil {
		if sdk.CodeOf(err) == sdk.NeedsLogin {
			return a.wantsLogin(err.Error()), nil
		}
		return sdk.ChallengeResult{}, err
	}
	a.renewed = a.latest.Access
	return sdk.ChallengeResult{Retry: true, Scopes: a.latest.Scopes}, nil
}

// insufficient answers status 403: the token is valid but lacks a scope.
func (a *authorizer) insufficient(ctx context.Context) (sdk.ChallengeResult, error) {
	l := a.latest
	if a.person() {
		var err error
		if l, err = a.current(ctx); err != nil {
			return sdk.ChallengeResult{}, err
		}
	}
	var have []string
	if l != nil {
		have = l.Scopes
	}
	want := union(have, a.hint.Scopes)
	if len(want) == len(have) && l != nil {
		// Without new scopes another login would not help.
		return sdk.ChallengeResult{Reason: "the server refuses the request, and names no scope that the login lacks",
			Scopes: want}, nil
	}
	if !a.person() {
		return a.renewMachine(ctx, want, 1)
	}
	a.stored.remember(ctx, want)
	res := a.wantsLogin("the server asks for more scopes than the login has")
	res.Scopes = want
	return res, nil
}

func (o *site) wantsLogin(why string) sdk.ChallengeResult {
	return sdk.ChallengeResult{NeedsLogin: true, Reason: why, Scopes: slices.Clone(o.hint.Scopes)}
}
