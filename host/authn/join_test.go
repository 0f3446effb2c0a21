package authn

import (
	"errors"
	"net/http"
	"testing"
)

// A headerAuth accepts one value of a header.
type headerAuth struct{ name, value string }

func (a headerAuth) Authenticate(r *http.Request) (Principal, error) {
	switch r.Header.Get(a.name) {
	case "":
		return Principal{}, ErrMissing
	case a.value:
		return Principal{Subject: a.name}, nil
	}
	return Principal{}, ErrWrong
}

func TestJoin(t *testing.T) {
	one := NewTokens([]StaticToken{{Token: "first-token-0123456789", Subject: "first"}})
	two := NewTokens([]StaticToken{{Token: "second-token-012345678", Subject: "second"}})
	all := Join([]Authenticator{one, headerAuth{"X-Key", "k"}, two})
	for _, c := range []struct {
		token, key string
		subject    string
		err        error
	}{
		{"first-token-0123456789", "", "first", nil},
		{"second-token-012345678", "", "second", nil},
		{"", "k", "X-Key", nil},
		{"second-token-012345678", "wrong", "second", nil},
		{"wrong-token-0123456789", "k", "", ErrWrong}, // the wrong token decides
		{"", "wrong", "", ErrWrong},
		{"", "", "", ErrMissing},
	} {
		r := &http.Request{Header: http.Header{}}
		if c.token != "" {
			r.Header.Set("Authorization", "Bearer "+c.token)
		}
		if c.key != "" {
			r.Header.Set("X-Key", c.key)
		}
		if p, err := all.Authenticate(r); p.Subject != c.subject || !errors.Is(err, c.err) {
			t.Errorf("%+v: %q, %v", c, p.Subject, err)
		}
	}
	if len(one.known) != 1 {
		t.Error("Join has changed an authenticator")
	}
}
