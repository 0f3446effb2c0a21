package condition

import "math/big"

const (
	// exactInteger bounds the whole numbers that a float64 holds exactly.
	exactInteger = 1 << 53
	// maxBits bounds the numerator and the denominator of a result.
	maxBits = 1 << 12
)

// arithmetic reports whether the operator calculates.
func (b *Binary) arithmetic() bool {
	switch b.Op {
	case "+", "-", "*", "/", "%":
		return true
	}
	return false
}

// calculate applies + - * / or %. Results are exact, so that 0.1 + 0.2 is 0.3. The
// remainder has the sign of the left side.
func (e *evaluation) calculate(op string, left, right Value) Value {
	if v, ok := calculateWhole(op, left, right); ok {
		return v
	}
	x, y := exact(left), exact(right)
	switch {
	case x == nil || y == nil:
		return fail("a number is too long")
	case (op == "/" || op == "%") && y.Sign() == 0:
		return fail("a division by zero")
	}
	// Bits: a division costs more than a look.
	e.work += x.Num().BitLen() + x.Denom().BitLen() + y.Num().BitLen() + y.Denom().BitLen()
	r := new(big.Rat)
	switch op {
	case "+":
		r.Add(x, y)
	case "-":
		r.Sub(x, y)
	case "*":
		r.Mul(x, y)
	case "/":
		r.Quo(x, y)
	case "%":
		r.Quo(x, y)
		whole := new(big.Int).Quo(r.Num(), r.Denom()) // towards zero
		r.Sub(x, r.Mul(y, new(big.Rat).SetInt(whole)))
	}
	if r.Num().BitLen() > maxBits || r.Denom().BitLen() > maxBits {
		return fail("a number is too long")
	}
	f, isExact := r.Float64()
	if isExact && f != 0 || r.Sign() == 0 {
		return Value{kind: number, num: f}
	}
	return Value{kind: number, num: f, inexact: true, rat: r}
}

// calculateWhole calculates with whole numbers that a float64 holds exactly. ok is false if
// a side or the result is none.
func calculateWhole(op string, left, right Value) (_ Value, ok bool) {
	if left.inexact || right.inexact || !isWhole(left.num) || !isWhole(right.num) {
		return Value{}, false
	}
	f := 0.0
	switch op {
	case "+":
		f = left.num + right.num
	case "-":
		f = left.num - right.num
	case "*":
		f = left.num * right.num
	default:
		return Value{}, false
	}
	return Value{kind: number, num: f}, isWhole(f)
}

func isWhole(f float64) bool {
	return f > -exactInteger && f < exactInteger && f == float64(int64(f))
}
