package condition

import (
	"bytes"
	"math/big"
	"strconv"

	"golang.org/x/text/unicode/norm"

	"github.com/junctor-mcp/junctor/host/mcp"
)

type kind uint8

const (
	null kind = iota
	boolean
	number
	text
	list   // constant, or of the principal
	array  // raw JSON
	object // raw JSON
	instant
	unknown
	failure
)

// names of kinds, as messages and checks use them.
var kindNames = [...]string{
	null: "null", boolean: "a boolean", number: "a number", text: "a text", list: "a list",
	array: "a list", object: "an object",
	instant: "a time", unknown: "unknown", failure: "a failure",
}

// A Value is an operand. Its zero value is null. A text is in str or, as it stands in
// the arguments, in raw: evaluation copies no text.
type Value struct {
	kind    kind
	yes     bool
	open    bool    // or a failure, depending on unknown arguments
	nanos   int32   // of an instant
	num     float64 // of an instant: seconds since 1970
	inexact bool    // num is not the exact value of raw
	str     string  // of a text, or why a failure failed
	raw     []byte  // of a text without escapes, or JSON of an array, an object or an inexact number
	items   []Value
	texts   []string // of a list of the principal
	rat     *big.Rat // the exact value of a result that num is not
}

// Text returns a text.
func Text(s string) Value { return Value{kind: text, str: s} }

// Bool returns a boolean.
func Bool(yes bool) Value { return Value{kind: boolean, yes: yes} }

// List returns a list of constants.
func List(items []Value) Value { return Value{kind: list, items: items} }

// Null returns null.
func Null() Value { return Value{} }

// Number returns a number in the syntax of JSON.
func Number(literal string) Value { return numberOf([]byte(literal)) }

func fail(why string) Value { return Value{kind: failure, str: why} }

// failOfFirst is the failure of a function because of its first argument, which [Call]
// names before why.
func failOfFirst(why string) Value { return Value{kind: failure, str: why, yes: true} }

func texts(all []string) Value { return Value{kind: list, texts: all} }

// exactDigits is the number of decimal digits that a float64 always keeps.
const exactDigits = 15

// numberOf returns the value of a number in JSON.
func numberOf(raw []byte) Value {
	digits, exponent := 0, false
	for _, c := range raw {
		switch {
		case c >= '0' && c <= '9':
			digits++
		case c == 'e' || c == 'E':
			exponent = true
		}
	}
	f, err := strconv.ParseFloat(string(raw), 64)
	if err != nil {
		return fail("a number is too large")
	}
	return Value{kind: number, num: f, inexact: exponent || digits > exactDigits, raw: raw}
}

// maxExponent bounds the numbers that are compared exactly.
const maxExponent = 400

// rational returns the exact value of a number; nil if that would take too much memory.
func (v Value) rational() *big.Rat {
	if v.rat != nil {
		return v.rat
	}
	if !v.inexact {
		return new(big.Rat).SetFloat64(v.num)
	}
	if i := bytes.IndexAny(v.raw, "eE"); i >= 0 {
		if e, err := strconv.Atoi(string(v.raw[i+1:])); err != nil || e > maxExponent || e < -maxExponent {
			return nil
		}
	}
	if len(v.raw) > maxExponent {
		return nil
	}
	r, ok := new(big.Rat).SetString(string(v.raw))
	if !ok {
		return nil
	}
	return r
}

// compareNumbers returns -1, 0 or 1. ok is false for numbers that are too long.
func compareNumbers(a, b Value) (order int, ok bool) {
	if !a.inexact && !b.inexact {
		switch {
		case a.num < b.num:
			return -1, true
		case a.num > b.num:
			return 1, true
		}
		return 0, true
	}
	// A literal such as 0.1 is not the float64 next to it, so both are read again.
	x, y := exact(a), exact(b)
	if x == nil || y == nil {
		return 0, false
	}
	if order = x.Cmp(y); order != 0 && a.num == b.num {
		return 0, false // a server that reads them as float64 takes them for equal
	}
	return order, true
}

func exact(v Value) *big.Rat {
	v.inexact = len(v.raw) > 0 || v.rat != nil
	return v.rational()
}

// jsonValue returns a value of the arguments.
func jsonValue(raw []byte) Value {
	if len(raw) == 0 {
		return Value{}
	}
	switch raw[0] {
	case '"':
		return textOf(raw)
	case '{':
		return Value{kind: object, raw: raw}
	case '[':
		return Value{kind: array, raw: raw}
	case 't':
		return Bool(true)
	case 'f':
		return Bool(false)
	case 'n':
		return Value{}
	}
	return numberOf(raw)
}

// textOf returns a text of the arguments, or a failure if the text is not in normal form C.
func textOf(raw []byte) Value {
	v := Value{kind: text, raw: raw[1 : len(raw)-1]}
	if bytes.IndexByte(raw, '\\') >= 0 {
		s, ok := mcp.Text(raw)
		if !ok {
			return fail("a text is not valid")
		}
		v = Text(s)
	}
	if !v.normal() {
		return fail("a text is not in Unicode normal form C")
	}
	return v
}

func (v Value) normal() bool {
	if v.raw != nil {
		return isASCII(v.raw) || norm.NFC.IsNormal(v.raw)
	}
	return norm.NFC.IsNormalString(v.str)
}

func isASCII(b []byte) bool {
	for _, c := range b {
		if c >= 0x80 {
			return false
		}
	}
	return true
}

// size returns the length of a text in bytes.
func (v Value) size() int {
	if v.raw != nil {
		return len(v.raw)
	}
	return len(v.str)
}

// String returns a text as a string.
func (v Value) String() string {
	if v.raw != nil {
		return string(v.raw)
	}
	return v.str
}

func sameText(a, b Value) bool {
	switch {
	case a.raw == nil && b.raw == nil:
		return a.str == b.str
	case a.raw == nil:
		return a.str == string(b.raw)
	case b.raw == nil:
		return string(a.raw) == b.str
	}
	return bytes.Equal(a.raw, b.raw)
}

// hasPrefix reports whether a text begins with another one.
func hasPrefix(v, prefix Value) bool {
	n := prefix.size()
	return v.size() >= n && sameText(v.slice(0, n), prefix)
}

func hasSuffix(v, suffix Value) bool {
	n := suffix.size()
	return v.size() >= n && sameText(v.slice(v.size()-n, v.size()), suffix)
}

func (v Value) slice(from, to int) Value {
	if v.raw != nil {
		return Value{kind: text, raw: v.raw[from:to:to]}
	}
	return Value{kind: text, str: v.str[from:to]}
}

// equal compares two values. Values of different types are not equal, but for null that
// is a failure: a text is never compared with a number on purpose.
func (e *evaluation) equal(a, b Value) Value {
	switch {
	case a.kind == unknown || b.kind == unknown:
		return Value{kind: unknown}
	case a.kind == null || b.kind == null:
		return Bool(a.kind == b.kind)
	case a.kind != b.kind:
		return fail("a comparison of " + kindNames[a.kind] + " with " + kindNames[b.kind])
	}
	switch a.kind {
	case boolean:
		return Bool(a.yes == b.yes)
	case number:
		order, ok := compareNumbers(a, b)
		if !ok {
			return fail("a number is too long")
		}
		return Bool(order == 0)
	case text:
		e.work += a.size()
		return Bool(sameText(a, b))
	case instant:
		return Bool(compareInstants(a, b) == 0)
	}
	return fail("a comparison of " + kindNames[a.kind] + " with " + kindNames[b.kind])
}
