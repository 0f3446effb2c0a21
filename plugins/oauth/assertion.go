package main

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"slices"
	"time"

	"github.com/junctor-mcp/junctor/sdk"
)

// assertionTime is how long an assertion is good for: one request.
const assertionTime = time.Minute

// readKey reads a private key in PEM. Its errors hold nothing of it.
func readKey(text string) (crypto.Signer, error) {
	block, _ := pem.Decode([]byte(text))
	if block == nil {
		return nil, errors.New("holds no key in PEM")
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

// algorithms are the JWS algorithms that a key can do, the usual one first.
func algorithms(key crypto.Signer) []string {
	switch k := key.(type) {
	case *rsa.PrivateKey:
		if k.N.BitLen() >= 2048 {
			return []string{"RS256", "PS256"}
		}
	case *ecdsa.PrivateKey:
		switch k.Curve {
		case elliptic.P256():
			return []string{"ES256"}
		case elliptic.P384():
			return []string{"ES384"}
		}
	case ed25519.PrivateKey:
		return []string{"EdDSA", "Ed25519"}
	}
	return nil
}

// sign makes an assertion that a request comes from the client (RFC 7523 §3).
// Its audience is the issuer: a token endpoint can be named by a stranger.
func sign(text, clientID string, as *issuer) (string, error) {
	key, err := readKey(text)
	if err != nil {
		return "", sdk.AttrErrorf("private_key", "%v", err)
	}
	algs, known := algorithms(key), as.TokenEndpointAuthSigningAlgValuesSupported
	i := 0
	if len(known) > 0 {
		if i = slices.IndexFunc(algs, func(alg string) bool { return slices.Contains(known, alg) }); i < 0 {
			return "", &sdk.Error{Code: sdk.Invalid, Path: "private_key", Message: "is of a kind that the authorization server does not accept"}
		}
	}
	now := time.Now()
	head := map[string]any{"alg": algs[i], "typ": "JWT"}
	claims := map[string]any{
		"iss": clientID, "sub": clientID, "aud": as.Issuer, "jti": rand.Text(), "iat": now.Unix(), "exp": now.Add(assertionTime).Unix(),
	}
	signed := part(head) + "." + part(claims)
	signature, err := signature(key, algs[i], []byte(signed))
	if err != nil {
		return "", sdk.Errorf(sdk.Internal, "signing with private_key: %v", err)
	}
	return signed + "." + base64.RawURLEncoding.EncodeToString(signature), nil
}

func part(v map[string]any) string {
	b, _ := json.Marshal(v) // of strings and numbers, which cannot fail
	return base64.RawURLEncoding.EncodeToString(b)
}

// signature is that of RFC 7518 §3 and RFC 8037.
func signature(key crypto.Signer, alg string, text []byte) ([]byte, error) {
	hash := crypto.SHA256
	switch k := key.(type) {
	case ed25519.PrivateKey:
		return ed25519.Sign(k, text), nil
	case *ecdsa.PrivateKey:
		size := 32
		if alg == "ES384" {
			hash, size = crypto.SHA384, 48
		}
		r, s, err := ecdsa.Sign(rand.Reader, k, digest(hash, text))
		if err != nil {
			return nil, err
		}
		return append(r.FillBytes(make([]byte, size)), s.FillBytes(make([]byte, size))...), nil
	}
	var how crypto.SignerOpts = hash
	if alg == "PS256" {
		how = &rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthEqualsHash, Hash: hash}
	}
	return key.Sign(rand.Reader, digest(hash, text), how)
}

func digest(hash crypto.Hash, text []byte) []byte {
	h := hash.New()
	h.Write(text)
	return h.Sum(nil)
}
