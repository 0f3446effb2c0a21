package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

// The budget charges for what a function was given and what it returned. A
// guard is for the functions that may do far more work than that, or return
// far more than they were given: it charges, or refuses, before the call.
type guard func(b *evalCost, args []cty.Value) error

var guards = map[string]guard{
	"join":       guardJoin,
	"split":      guardSplit,
	"trim":       guardTrim,
	"replace":    guardReplace,
	"format":     guardFormat,
	"distinct":   guardDistinct,
	"jsondecode": guardJSON,
}

var errResult = fmt.Errorf("the result would be larger than %d KiB", maxString>>10)

// guarded makes f ask its guard first, and keeps its arguments out of its
// error messages.
func (b *evalCost) guarded(f function.Function, g guard) function.Function {
	spec := &function.Spec{
		Params: f.Params(), VarParam: f.VarParam(),
		Type: func(args []cty.Value) (cty.Type, error) {
			if g != nil {
				if err := g(b, unmarked(args)); err != nil {
					return cty.NilType, err
				}
			}
			if b.left <= 0 {
				return cty.NilType, errSpent
			}
			ty, err := f.ReturnTypeForValues(args)
			return ty, withoutValues(err, args)
		},
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			v, err := f.Call(args)
			return v, withoutValues(err, args)
		},
	}
	return function.New(spec)
}

// unmarked returns the arguments as guards can look at them.
func unmarked(args []cty.Value) []cty.Value {
	plain := make([]cty.Value, len(args))
	for i, a := range args {
		plain[i], _ = a.UnmarkDeep()
	}
	return plain
}

// stringOf is the string that v is, or "" for anything else.
func stringOf(v cty.Value) string {
	if v.Type() != cty.String || v.IsNull() || !v.IsKnown() {
		return ""
	}
	return v.AsString()
}

func guardJoin(_ *evalCost, args []cty.Value) error {
	elements := 0
	for _, list := range args[1:] {
		if list.IsKnown() && list.CanIterateElements() {
			elements += list.LengthInt()
		}
	}
	if len(stringOf(args[0]))*elements > maxString {
		return errResult
	}
	return nil
}

func guardReplace(_ *evalCost, args []cty.Value) error {
	if strings.Count(stringOf(args[0]), stringOf(args[1]))*len(stringOf(args[2])) > maxString {
		return errResult
	}
	return nil
}

// guardFormat looks at widths, which make text of nothing, and at arguments
// that are used again and again.
func guardFormat(_ *evalCost, args []cty.Value) error {
	layout := stringOf(args[0])
	digits := 0
	for _, r := range layout {
		if digits++; r < '0' || r > '9' {
			digits = 0
		}
		if digits > 3 {
			return errors.New("a number in the layout has more than three digits")
		}
	}
	for _, a := range args[1:] {
		if strings.Count(layout, "%")*len(stringOf(a)) > maxString {
			return errResult
		}
	}
	return nil
}

func guardSplit(_ *evalCost, args []cty.Value) error {
	if strings.Count(stringOf(args[1]), stringOf(args[0])) > maxElements {
		return fmt.Errorf("the result would have more than %d elements", maxElements)
	}
	return nil
}

// guardTrim: every character is looked for in the whole of the second text.
func guardTrim(b *evalCost, args []cty.Value) error {
	b.left -= len(stringOf(args[0])) * len(stringOf(args[1])) / 64
	return nil
}

// guardDistinct: every element is compared with all before it.
func guardDistinct(b *evalCost, args []cty.Value) error {
	if list := args[0]; list.IsKnown() && list.CanIterateElements() {
		b.left -= list.LengthInt() * list.LengthInt() / 4
	}
	return nil
}

// guardJSON: a text makes many elements before any of them is paid for. The
// standard library's scanner has a limit on nesting, the decoder behind
// jsondecode has none.
func guardJSON(b *evalCost, args []cty.Value) error {
	document := stringOf(args[0])
	b.left -= len(document)
	if args[0].IsKnown() && !json.Valid([]byte(document)) {
		return errors.New("the text is not JSON")
	}
	return nil
}

// withoutValues masks every text among the arguments where an error quotes it,
// which is the only way in which functions repeat one.
func withoutValues(err error, args []cty.Value) error {
	if err == nil {
		return nil
	}
	texts := textsIn(unmarked(args)...)
	return errors.New(quoteRule.ReplaceAllStringFunc(err.Error(), func(quote string) string {
		if text := unescaped(quote[1 : len(quote)-1]); !fixedWords[text] && (holds(text, texts) || partOf(text, texts)) {
			return `"` + masked + `"`
		}
		return quote
	}))
}
