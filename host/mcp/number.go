package mcp

import "strconv"

// maxExactDigits is a number of digits which no integer beyond a 64-bit float has fewer of.
const maxExactDigits = 308

// beyondFloat reports whether a JSON number is beyond the range of a 64-bit float. Decoders
// of Go and Rust refuse a whole message for one such number, and others make it infinite,
// which they cannot write again. The scanner calls it for each number; it is pure.
func beyondFloat(number []byte) bool {
	_, err := strconv.ParseFloat(string(number), 64)
	return err != nil
}
