package authn

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/golang-jwt/jwt/v5"
)

// ClaimNames are the claims of a JWT that make up a principal. A name is the name of a
// claim, or the path of a nested one with dots, such as "realm_access.roles". Only
// Subject must be set. The functions of this file are pure; the claims were verified before
// (jwt.go).
type ClaimNames struct{ Subject, Tenant, Roles, Groups, Scopes string }

// claim returns a claim. A claim whose name is equal to the path comes first, because
// names may contain dots.
func claim(claims map[string]any, path string) (any, bool) {
	if v, ok := claims[path]; ok {
		return v, true
	}
	for at := strings.IndexByte(path, '.'); at >= 0; {
		if nested, ok := claims[path[:at]].(map[string]any); ok {
			if v, ok := claim(nested, path[at+1:]); ok {
				return v, true
			}
		}
		next := strings.IndexByte(path[at+1:], '.')
		if next < 0 {
			break
		}
		at += 1 + next
	}
	return nil, false
}

// text returns a claim that must be a string.
func text(claims map[string]any, path string) (string, error) {
	v, ok := claim(claims, path)
	if !ok {
		return "", fmt.Errorf("the token has no claim %q", path)
	}
	s, ok := v.(string)
	if !ok {
		return "", fmt.Errorf("the claim %q is no string", path)
	}
	return s, nil
}

// names returns a claim that lists names: an array of strings, or one string with
// spaces between them. A token without the claim has none.
func names(claims map[string]any, path string) ([]string, error) {
	if path == "" {
		return nil, nil
	}
	v, ok := claim(claims, path)
	if !ok {
		return nil, nil
	}
	var list []string
	switch v := v.(type) {
	case string:
		list = strings.Fields(v)
	case []any:
		for _, e := range v {
			s, ok := e.(string)
			if !ok {
				return nil, fmt.Errorf("the claim %q is no list of strings", path)
			}
			list = append(list, s)
		}
	default:
		return nil, fmt.Errorf("the claim %q is no list of strings", path)
	}
	if len(list) > maxLabels {
		return nil, fmt.Errorf("the claim %q has more than %d entries", path, maxLabels)
	}
	for _, s := range list {
		if !plainText(s, maxLabel) {
			return nil,
				fmt.Errorf("the claim %q has an entry that is empty, longer than %d bytes, or has control characters",
					path, maxLabel)
		}
	}
	return list, nil
}

// principal returns the principal of verified claims.
func (o JWTOptions) principal(claims jwt.MapClaims) (p Principal, err error) {
	p = Principal{Method: "jwt", Issuer: o.Issuer, Tenant: o.Tenant}
	if p.Subject, err = text(claims, o.Claims.Subject); err != nil {
		return Principal{}, err
	}
	if err := checkSubject(p.Subject); err != nil {
		return Principal{}, fmt.Errorf("the claim %q %w", o.Claims.Subject, err)
	}
	if o.Subjects != nil && !slices.Contains(o.Subjects, p.Subject) {
		return Principal{}, errors.New("the token's subject is not among the admitted subjects")
	}
	if o.Claims.Tenant != "" {
		name, err := text(claims, o.Claims.Tenant)
		if err != nil {
			return Principal{}, err
		}
		if p.Tenant, err = tenantOf(name); err != nil {
			return Principal{}, err
		}
	}
	var problems [3]error
	p.Roles, problems[0] = names(claims, o.Claims.Roles)
	p.Groups, problems[1] = names(claims, o.Claims.Groups)
	p.Scopes, problems[2] = names(claims, o.Claims.Scopes)
	if err := errors.Join(problems[:]...); err != nil {
		return Principal{}, err
	}
	return p, nil
}
