package main

import (
	"encoding/base64"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
)

// account is who logged in, for people to recognise, where an ID token says it.
// Nothing is decided by it, and it came from the token endpoint itself, so its
// signature is not looked at (OpenID Connect Core §3.1.3.7).
func account(idToken string) string {
	parts := strings.Split(idToken, ".")
	if len(parts) != 3 || len(idToken) > 64<<10 {
		return ""
	}
	b, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return ""
	}
	var claims struct {
		Email string `json:"email"`
		Name  string `json:"preferred_username"`
		Sub   string `json:"sub"`
	}
	if json.Unmarshal(b, &claims) != nil {
		return ""
	}
	for _, who := range []string{claims.Email, claims.Name, claims.Sub} {
		if who != "" && len(who) <= 256 && utf8.ValidString(who) && !strings.ContainsFunc(who, func(r rune) bool { return !unicode.IsPrint(r) }) {
			return who
		}
	}
	return ""
}
