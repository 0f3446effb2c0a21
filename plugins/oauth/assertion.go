package main

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"slices"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/junctor-mcp/junctor/sdk"
)

// assertionTime is the lifetime of an assertion, which is used for one request.
const assertionTime = time.Minute

// readKey parses a private key in PEM. Its errors contain nothing of the key.
func readKey(text string) (crypto.Signer, error) {
	block, _ := pem.Decode([]byte(text))
	if block == nil {
		return nil, errors.New("contains no key in PEM")
	}
	var key any
	var err error
	switch block.Type {
	case "PRIVATE KEY":
		key, err = x509.ParsePKCS8PrivateKey(block.Bytes)
	case "RSA PRIVATE KEY":
		key, err = x509.ParsePKCS1PrivateKey(block.Bytes)
	case "EC PRIVATE KEY":
		key, err = x509.ParseECPrivateKey(block.Bytes)
	default:
		err = errors.New("of another type")
	}
	if signer, ok := key.(crypto.Signer); err == nil && ok && len(algorithms(signer)) > 0 {
		return signer, nil
	}
	return nil, errors.New("is not an unencrypted private key of RSA, P-256, P-384 or Ed25519")
}

// An algorithm is a JWS algorithm. RFC 9864 gives EdDSA with Ed25519 a second name.
type algorithm struct {
	name   string
	method jwt.SigningMethod
}

// algorithms returns the JWS algorithms for a key, in the order of preference.
func algorithms(key crypto.Signer) []algorithm {
	switch k := key.(type) {
	case *rsa.PrivateKey:
		if k.N.BitLen() >= 2048 {
			return []algorithm{{"RS256", jwt.SigningMethodRS256}, {"PS256", jwt.SigningMethodPS256}}
		}
	case *ecdsa.PrivateKey:
		switch k.Curve {
		case elliptic.P256():
			return []algorithm{{"ES256", jwt.SigningMethodES256}}
		case elliptic.P384():
			return []algorithm{{"ES384", jwt.SigningMethodES384}}
		}
	case ed25519.PrivateKey:
		return []algorithm{{"EdDSA", jwt.SigningMethodEdDSA}, {"Ed25519", jwt.SigningMethodEdDSA}}
	}
	return nil
}

// sign returns an assertion that a request comes from the client (RFC 7523 §3). Its
// audience is the issuer, because a server can name any token endpoint.
func sign(text, clientID string, as *issuer) (string, error) {
	key, err := readKey(text)
	if err != nil {
		return "", sdk.AttrErrorf("private_key", "%v", err)
	}
	algs, known := algorithms(key), as.TokenEndpointAuthSigningAlgValuesSupported
	i := 0
	if len(known) > 0 {
		if i = slices.IndexFunc(algs, func(alg algorithm) bool { return slices.Contains(known, alg.name) }); i < 0 {
			return "", &sdk.Error{Code: sdk.Invalid, Path: "private_key",
				Message: "is of a kind that the authorization server does not accept",
				Hint:    "register a key of another kind with the authorization server: RSA, P-256, P-384 or Ed25519"}
		}
	}
	now := time.Now()
	token := jwt.NewWithClaims(algs[i].method, jwt.MapClaims{
		"iss": clientID, "sub": clientID, "aud": as.Issuer, "jti": rand.Text(), "iat": now.Unix(),
		"exp": now.Add(assertionTime).Unix(),
	})
	token.Header["alg"] = algs[i].name
	signed, err := token.SignedString(key)
	if err != nil {
		return "", sdk.Errorf(sdk.Internal, "signing with private_key: %v", err)
	}
	return signed, nil
}
