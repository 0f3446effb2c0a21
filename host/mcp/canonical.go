package mcp

import "github.com/go-json-experiment/json/jsontext"

// Canonical is the same text for two objects that differ only in the order of
// their members and in white space. Numbers stay as they are written.
func Canonical(object []byte) []byte {
	v := append(jsontext.Value(nil), object...)
	if v.Canonicalize(jsontext.CanonicalizeRawInts(false), jsontext.CanonicalizeRawFloats(false)) != nil {
		return object
	}
	return v
}
