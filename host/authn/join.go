package authn

import (
	"errors"
	"net/http"
	"slices"
)

// Join returns an Authenticator that asks several in order. The first one for which the
// request has a credential decides: an error other than ErrMissing is final. Static
// tokens are compared together, at the place of the first.
func Join(all []Authenticator) Authenticator {
	var joined chain
	var tokens *Tokens
	for _, a := range all {
		t, ok := a.(*Tokens)
		switch {
		case ok && tokens != nil:
			tokens.known = append(tokens.known, t.known...)
			continue
		case ok:
			tokens = &Tokens{known: slices.Clone(t.known)}
			a = tokens
		}
		joined = append(joined, a)
	}
	if len(joined) == 1 {
		return joined[0]
	}
	return joined
}

// A chain is the Authenticator of Join.
type chain []Authenticator

// Authenticate implements Authenticator.
func (c chain) Authenticate(r *http.Request) (Principal, error) {
	for _, a := range c {
		p, err := a.Authenticate(r)
		if !errors.Is(err, ErrMissing) {
			return p, err
		}
	}
	return Principal{}, ErrMissing
}
