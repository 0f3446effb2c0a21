package authn

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
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

// A chain is the Authenticator of Join. It is immutable and may be used concurrently.
type chain []Authenticator

// Authenticate implements Authenticator. If no authenticator decides, the error has what
// each of them said about a credential or, if none saw one, what it missed.
func (c chain) Authenticate(r *http.Request) (Principal, error) {
	var missing, other error
	for _, a := range c {
		p, err := a.Authenticate(r)
		switch {
		case errors.Is(err, ErrMissing):
			missing = also(missing, err, ErrMissing)
		case errors.Is(err, ErrOther):
			other = also(other, err, ErrOther)
		default:
			return p, err
		}
	}
	if other != nil {
		return Principal{}, other
	}
	return Principal{}, missing
}

// also returns an error with the details of two, of which each wraps kind.
func also(one, another, kind error) error {
	switch {
	case one == nil || one == kind:
		return another
	case another == kind:
		return one
	}
	return fmt.Errorf("%w; %s", one, strings.TrimPrefix(another.Error(), kind.Error()+": "))
}
