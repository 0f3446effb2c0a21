package authn

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/junctor-mcp/junctor/host/truncate"
)

// CheckTenant checks the name of a tenant, which is also the name of a directory: 1 to
// 64 of a-z, 0-9, "_" and "-", with neither "_" nor "-" at its ends. The error completes
// a sentence about the name. No name is changed to fit: two names never become one. The
// authenticators and package config/inbound call it. The functions of this file are pure; names
// of tenants are at rest, so no valid one may become invalid.
func CheckTenant(name string) error {
	ok := name != "" && len(name) <= 64
	for i := 0; ok && i < len(name); i++ {
		switch c := name[i]; {
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9':
		case c == '_', c == '-':
			ok = i > 0 && i < len(name)-1
		default:
			ok = false
		}
	}
	if !ok {
		return fmt.Errorf("must be 1 to 64 of a-z, 0-9, _ and -, with neither _ nor - at its ends")
	}
	return nil
}

// tenantOf returns the tenant that a credential names. It must be a valid name, and not
// that of the user who runs Junctor.
func tenantOf(name string) (string, error) {
	if err := CheckTenant(name); err != nil {
		return "", fmt.Errorf("the tenant %q %w", truncate.Bytes(name, 100), err)
	}
	if name == LocalTenant {
		return "", fmt.Errorf("the tenant %q is that of the user who runs Junctor", name)
	}
	return name, nil
}

const (
	maxSubject = 256 // bytes
	maxLabels  = 500 // roles, groups or scopes of one principal
	maxLabel   = 256 // bytes of a role, a group or a scope
)

// checkSubject checks the name of a person or program. The error completes a sentence.
func checkSubject(name string) error {
	if !plainText(name, maxSubject) {
		return fmt.Errorf("must be 1 to %d bytes of text without control characters", maxSubject)
	}
	if strings.TrimSpace(name) != name {
		return errors.New("must not begin or end with a space, which makes it look like another one")
	}
	return nil
}

// plainText reports whether text has 1 to longest bytes of valid UTF-8, without runes
// that break a line, or hide or reorder text.
func plainText(text string, longest int) bool {
	if text == "" || len(text) > longest || !utf8.ValidString(text) {
		return false
	}
	for _, r := range text {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029' {
			return false
		}
	}
	return true
}
