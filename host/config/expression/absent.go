package expression

import (
	"strconv"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/junctor-mcp/junctor/host/config/source"
)

// With Inputs.Absent, env() and file() return a placeholder for an input that is not
// there, like that of a stored secret: it may be passed on and not inspected, and a connection
// that needs it fails.

// absentInput returns the input that a placeholder stands for; nil for a stored secret. It changes
// the Keyring, so it is for the load only.
func (k *Keyring) absentInput(name string) *source.InputError {
	number, found := strings.CutPrefix(name, absentPrefix)
	i, err := strconv.Atoi(number)
	if !found || err != nil || i < 0 || i >= len(k.absent) {
		return nil
	}
	return k.absent[i]
}

// AbsentIn returns the first absent input that a text needs, or nil.
func (k *Keyring) AbsentIn(text string) *source.InputError {
	for {
		_, name, after, found := k.next(text)
		if !found {
			return nil
		}
		if e := k.absentInput(name); e != nil {
			return e
		}
		text = after
	}
}

// AbsentInValue is absentIn for all texts in a value.
func (k *Keyring) AbsentInValue(v cty.Value) (missing *source.InputError) {
	if len(k.absent) == 0 {
		return nil
	}
	v, _ = v.UnmarkDeep()
	_ = cty.Walk(v, func(_ cty.Path, v cty.Value) (bool, error) {
		if missing == nil {
			missing = k.AbsentIn(stringOf(v))
		}
		return missing == nil, nil
	})
	return missing
}
