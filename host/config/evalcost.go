package config

import (
	"errors"
	"fmt"
	"math/big"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// Evaluation cannot be interrupted: 265 bytes of nested "for" compute for ten
// seconds, thirty locals of two references each make a billion elements, and
// "${1e99999999}" writes a hundred megabytes. So every node of an expression's
// tree is replaced by one that evaluates the node and pays for the result: for
// each element in it, however often it is shared. When the budget is spent,
// all evaluation fails at once.

const (
	maxWork     = 500_000 // in one load, and one more for each byte; less than a second
	maxElements = 10_000  // in one list, map or object
	maxString   = 1 << 20
	maxDepth    = 64   // of lists and maps in each other
	maxExponent = 1100 // of a number, in bits: what a float64 holds
	elementWork = 4    // what HCL converts and compares before anybody pays again
	errorWork   = 20   // a diagnostic is larger than an element
)

var (
	errSpent = errors.New("the configuration computes too much")
	errLook  = errors.New("the value is not known yet") // never shown
)

type evalCost struct {
	left    int
	keyring *keyring
	looks   []look // at placeholders; [loader.eval] reports them
}

// metered is an expression that pays. It is an hclsyntax.Expression by
// embedding one, which is the only way to be one.
//
// Where something looks at the value, other than to hand it on, a placeholder
// of keyring() fails it.
type metered struct {
	hclsyntax.Expression
	budget *evalCost
	by     string // what looks at the value; empty: nothing
}

func (m *metered) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	if m.budget.left <= 0 {
		return m.refuse(errSpent, nil)
	}
	v, diags := m.Expression.Value(ctx)
	m.budget.left -= 1 + errorWork*len(diags)
	if err := m.budget.pay(v, 0); err != nil {
		return m.refuse(err, diags)
	}
	if m.by != "" && m.budget.keyring.used() {
		// Looking for one costs what making the value did.
		if err := m.budget.pay(v, 0); err != nil {
			return m.refuse(err, diags)
		}
		if _, found := m.budget.keyring.in(v); found {
			m.budget.looks = append(m.budget.looks, look{m.Range(), m.by})
			return m.refuse(errLook, diags)
		}
	}
	return v, diags
}

func (m *metered) refuse(err error, diags hcl.Diagnostics) (cty.Value, hcl.Diagnostics) {
	return cty.DynamicVal, append(diags, &hcl.Diagnostic{
		Severity: hcl.DiagError, Summary: err.Error(), Subject: m.Range().Ptr(),
	})
}

// pay takes what v is worth from the budget and refuses what no configuration
// needs and something after it would choke on.
func (b *evalCost) pay(v cty.Value, depth int) error {
	b.left--
	if b.left <= 0 {
		return errSpent
	}
	if depth > maxDepth {
		return fmt.Errorf("lists and maps nest deeper than %d", maxDepth)
	}
	v, _ = v.Unmark()
	if !v.IsKnown() {
		return nil
	}
	ty := v.Type()
	switch {
	case v.IsNull():
		return b.payType(ty)
	case ty == cty.String:
		n := len(v.AsString())
		b.left -= n / 64
		if n > maxString {
			return fmt.Errorf("a string is larger than %d KiB", maxString>>10)
		}
	case ty == cty.Number:
		return payNumber(v.AsBigFloat())
	case ty.IsCollectionType() || ty.IsTupleType() || ty.IsObjectType():
		return b.payElements(v, depth)
	}
	return nil
}

func (b *evalCost) payElements(v cty.Value, depth int) error {
	n := v.LengthInt()
	if n > maxElements {
		return fmt.Errorf("a list or map has more than %d elements", maxElements)
	}
	if n == 0 {
		return b.payType(v.Type())
	}
	for it := v.ElementIterator(); it.Next(); {
		_, element := it.Element()
		b.left -= elementWork
		if err := b.pay(element, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// payType is for values that are smaller than their type: a null can have a
// type that took a thousand elements to make.
func (b *evalCost) payType(ty cty.Type) error {
	b.left--
	if b.left <= 0 {
		return errSpent
	}
	var inner []cty.Type
	switch {
	case ty.IsCollectionType():
		inner = []cty.Type{ty.ElementType()}
	case ty.IsTupleType():
		inner = ty.TupleElementTypes()
	case ty.IsObjectType():
		for _, t := range ty.AttributeTypes() {
			inner = append(inner, t)
		}
	}
	for _, t := range inner {
		if err := b.payType(t); err != nil {
			return err
		}
	}
	return nil
}

// payNumber refuses what has no decimal text of a bearable length.
func payNumber(f *big.Float) error {
	if exp := f.MantExp(nil); f.IsInf() || exp > maxExponent || exp < -maxExponent {
		return errors.New("a number is too large or too small")
	}
	return nil
}
