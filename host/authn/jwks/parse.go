package jwks

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"errors"
	"fmt"

	"github.com/MicahParks/jwkset"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

const (
	maxKeys     = 100
	maxDocument = 1 << 20 // bytes of a set of keys, or of an issuer's metadata
	leastRSA    = 2048    // bits
)

// A Key verifies signatures. It is immutable.
type Key struct {
	ID        string // "kid"; may be empty
	Algorithm string // the only algorithm it may be used with; empty: any that fits the key
	Public    crypto.PublicKey
}

// equal reports whether both keys accept the same signatures of tokens that name them.
func (k Key) equal(l Key) bool {
	public, ok := k.Public.(interface{ Equal(crypto.PublicKey) bool })
	return ok && k.ID == l.ID && k.Algorithm == l.Algorithm && public.Equal(l.Public)
}

// parse reads a JSON Web Key Set (RFC 7517). It skips keys that cannot verify tokens:
// symmetric keys, keys for encryption, keys of other types and RSA keys with less than
// 2048 bits. It fails if no key is left. A fetch calls it; it is pure.
func parse(text []byte) ([]Key, error) {
	var document struct {
		Keys []jsontext.Value `json:"keys"`
	}
	if err := json.Unmarshal(text, &document); err != nil {
		return nil, fmt.Errorf("the set of keys is malformed: %w", err)
	}
	if len(document.Keys) > maxKeys {
		return nil, fmt.Errorf("the set has %d keys; at most %d are read", len(document.Keys), maxKeys)
	}
	var keys []Key
	var skipped error
	for _, raw := range document.Keys {
		k, err := parseKey(raw)
		if err != nil {
			skipped = err
			continue
		}
		keys = append(keys, k)
	}
	switch {
	case len(keys) > 0:
		return keys, nil
	case skipped != nil:
		return nil, fmt.Errorf("%w: %w", errNoKeys, skipped)
	}
	return nil, errNoKeys
}

// errNoKeys means that a set is well-formed and has no key that can verify tokens.
var errNoKeys = errors.New("the set has no key that can verify tokens")

// parseKey reads one key. jwkset panics for some keys that are out of range, such as a
// point whose coordinates are too long.
func parseKey(raw jsontext.Value) (_ Key, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("a key is malformed: %v", p)
		}
	}()
	var m jwkset.JWKMarshal
	if err := json.Unmarshal(raw, &m); err != nil {
		return Key{}, err
	}
	if m.KTY == jwkset.KtyOct {
		return Key{}, errors.New("a symmetric key is no public key")
	}
	if m.USE != "" && m.USE != jwkset.UseSig {
		return Key{}, fmt.Errorf("a key is for %q", m.USE)
	}
	m.D, m.DP, m.DQ, m.P, m.Q, m.QI, m.OTH = "", "", "", "", "", "", nil // of a private key
	// Certificates prove nothing here: the keys come from the issuer.
	m.X5C, m.X5T, m.X5TS256, m.X5U = nil, "", "", ""
	j, err := jwkset.NewJWKFromMarshal(m, jwkset.JWKMarshalOptions{}, jwkset.JWKValidateOptions{SkipKeyOps: true})
	if err != nil {
		return Key{}, err
	}
	k := Key{ID: m.KID, Algorithm: string(m.ALG), Public: j.Key()}
	switch public := k.Public.(type) {
	case *rsa.PublicKey:
		if public.N.BitLen() < leastRSA {
			return Key{}, fmt.Errorf("an RSA key has %d bits; at least %d are needed", public.N.BitLen(), leastRSA)
		}
	case *ecdsa.PublicKey:
		if _, err := public.ECDH(); err != nil {
			return Key{}, errors.New("a key is no point of its curve")
		}
	case ed25519.PublicKey:
	default:
		return Key{}, fmt.Errorf("a key of type %q cannot verify tokens", m.KTY)
	}
	return k, nil
}
