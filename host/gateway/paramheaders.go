package gateway

import (
	"fmt"
	"math/big"

	"github.com/junctor-mcp/junctor/host/mcp"
)

// checkParamHeaders compares the headers of a modern request over HTTP with the arguments that they repeat
// (2026-07-28, streamable HTTP, "Custom Headers from Tool Parameters"). A proxy may have decided by the
// headers. It is part of validateCall (tools.go). The functions of this file are pure.
func checkParamHeaders(u *use) error {
	if u.header == nil {
		return nil
	}
	for _, h := range u.tool.Headers {
		sent := u.header[h.Name]
		value := mcp.Member(u.given, h.Path...)
		missing := value == nil || string(value) == "null"
		switch {
		case len(sent) > 1:
			return headerMismatch(h.Name, "appears twice")
		case missing && len(sent) > 0:
			return headerMismatch(h.Name, "repeats an argument that is not there")
		case missing:
			continue
		case len(sent) == 0:
			return headerMismatch(h.Name, "is missing")
		}
		text, ok := mcp.HeaderText(sent[0])
		if !ok {
			return headerMismatch(h.Name, "is not validly encoded")
		}
		if !sameValue(text, value) {
			return headerMismatch(h.Name, "differs from the argument")
		}
	}
	return nil
}

func headerMismatch(name, what string) error {
	return &rpcError{code: mcp.CodeHeaderMismatch, message: fmt.Sprintf("the header %s %s", name, what),
		data: map[string]string{"header": name}, refused: true}
}

// maxDigits bounds the numbers that are compared as numbers.
const maxDigits = 40

// sameValue reports whether a header says what an argument does. Numbers are compared as such: 42.0 is 42.
func sameValue(text string, value []byte) bool {
	if s, ok := mcp.Text(value); ok {
		return text == s
	}
	if text == string(value) {
		return true
	}
	if len(text) > maxDigits || len(value) > maxDigits || !numeric(text) || !numeric(string(value)) {
		return false
	}
	a, ok1 := new(big.Rat).SetString(text)
	b, ok2 := new(big.Rat).SetString(string(value))
	return ok1 && ok2 && a.Cmp(b) == 0
}

// numeric reports whether a text is a decimal number without an exponent, which
// could be larger than it is long.
func numeric(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && c != '.' && (c != '-' || i > 0) {
			return false
		}
	}
	return s != ""
}
