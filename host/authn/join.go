package authn

import (
	"errors"
	"net/http"
	"slices"
)

// Join returns an Authenticator that asks several in order. The first one that
// recognizes the form of a credential decides: an error other than ErrMissing and
// ErrOther is final. Static tokens are compared together, at the place of the first.
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

// Authenticate implements Authenticator. If no authenticator decides, the error is the
// first one about a credential, or else ErrMissing.
func (c chain) Authenticate(r *http.Request) (Principal, error) {
	undecided := ErrMissing
	for _, a := range c {
		p, err := a.Authenticate(r)
		switch {
		case errors.Is(err, ErrMissing):
		case !errors.Is(err, ErrOther):
			return p, err
		case undecided == ErrMissing:
			undecided = err
		}
	}
	return Principal{}, undecided
}
