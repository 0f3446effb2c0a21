package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
)

// The types in this file read members of replies of authorization servers. A wrong type is
// no error of the whole reply, because many servers send one in members that are not needed.

// A text is a member that should be a string.
type text struct {
	Value string
	Wrong bool // it has another type; null counts as absent
}

func (t *text) UnmarshalJSON(b []byte) error {
	*t = text{}
	if string(b) != "null" {
		t.Wrong = json.Unmarshal(b, &t.Value) != nil
	}
	return nil
}

// fault returns why a needed member cannot be used, or "". most is its maximum length in bytes.
func (t *text) fault(name string, most int) string {
	switch {
	case t.Wrong:
		return fmt.Sprintf("contains a member %s that is not a string", name)
	case t.Value == "":
		return "contains no " + name
	case len(t.Value) > most:
		return fmt.Sprintf("contains a member %s of more than %d bytes", name, most)
	}
	return ""
}

// A number is a member that should be a number, or a text with one. Other values are zero.
type number float64

func (n *number) UnmarshalJSON(b []byte) error {
	f, err := strconv.ParseFloat(strings.Trim(string(b), `"`), 64)
	if err != nil {
		f = 0
	}
	*n = number(f)
	return nil
}

// A lifetime is a member that should be a number of seconds, or a text with one.
type lifetime struct {
	Seconds float64
	Set     bool
	Wrong   bool // it is no number, or negative; null counts as absent
}

func (l *lifetime) UnmarshalJSON(b []byte) error {
	*l = lifetime{}
	if string(b) == "null" {
		return nil
	}
	f, err := strconv.ParseFloat(strings.Trim(string(b), `"`), 64)
	if err != nil || !(f >= 0) || math.IsInf(f, 0) {
		l.Wrong = true
		return nil
	}
	l.Seconds, l.Set = f, true
	return nil
}

// words is a member that should be a text of words. Some servers send a list of words. Other
// values count as absent.
type words struct {
	Text string
	Set  bool
}

func (w *words) UnmarshalJSON(b []byte) error {
	*w = words{}
	var list []string
	switch {
	case string(b) == "null":
	case json.Unmarshal(b, &w.Text) == nil:
		w.Set = true
	case json.Unmarshal(b, &list) == nil:
		*w = words{strings.Join(list, " "), true}
	}
	return nil
}
