package run

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

var (
	errNumber = errors.New("must be a number")
	errWhole  = errors.New("must be a whole number")
)

// longestNumber is how many characters a number may have when written plainly.
const longestNumber = 64

// plainNumber writes a JSON number without an exponent. Digits stay as they
// are, so that none is lost.
func plainNumber(raw json.RawMessage, whole bool) (string, error) {
	text := string(bytes.TrimSpace(raw))
	if text == "" || !strings.ContainsAny(text[:1], "-0123456789") || !json.Valid([]byte(text)) {
		if whole {
			return "", errWhole
		}
		return "", errNumber
	}
	if strings.ContainsAny(text, ".eE") {
		f, err := strconv.ParseFloat(text, 64)
		switch {
		case err != nil:
			return "", errNumber
		case whole && (f != math.Trunc(f) || math.Abs(f) > 1<<53):
			return "", errWhole
		case whole || strings.ContainsAny(text, "eE"):
			text = strconv.FormatFloat(f, 'f', -1, 64)
		}
	}
	if text == "-0" {
		text = "0"
	}
	if len(text) > longestNumber {
		return "", fmt.Errorf("must be a number of at most %d digits", longestNumber)
	}
	return text, nil
}
