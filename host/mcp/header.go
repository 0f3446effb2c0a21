package mcp

import (
	"encoding/base64"
	"strings"
)

// What cannot stand in a header as it is stands there encoded, between these
// (2026-07-28, streamable HTTP, "Value Encoding").
const (
	encodedBegin = "=?base64?"
	encodedEnd   = "?="
)

// HeaderText is what the value of a header stands for that repeats a part of a
// message. ok is false when the value is none that a client may send.
func HeaderText(value string) (text string, ok bool) {
	for i := range len(value) {
		if c := value[i]; c != '\t' && (c < ' ' || c > '~') {
			return "", false
		}
	}
	inside, begins := strings.CutPrefix(value, encodedBegin)
	inside, ends := strings.CutSuffix(inside, encodedEnd)
	if !begins || !ends {
		return value, true
	}
	b, err := base64.StdEncoding.Strict().DecodeString(inside)
	return string(b), err == nil
}
