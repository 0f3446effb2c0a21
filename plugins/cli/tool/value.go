package tool

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/junctor-mcp/junctor/plugins/cli/model"
)

// Fits says why a text cannot be a value of the parameter. The value itself is
// not repeated: it may be long, or private.
func (p *Parameter) Fits(text string) error {
	v := p.Value
	if strings.ContainsRune(text, 0) {
		return errors.New("must not contain NUL")
	}
	if len(v.Choices) > 0 && !slices.Contains(v.Choices, text) {
		return fmt.Errorf("must be one of %s", quoted(v.Choices))
	}
	if p.Pattern != nil && !p.Pattern.MatchString(text) {
		return fmt.Errorf("must match %s", pattern(p.Pattern.String()))
	}
	if v.Kind != model.Integer && v.Kind != model.Number {
		return nil
	}
	f, err := strconv.ParseFloat(text, 64)
	switch {
	case err != nil || math.IsInf(f, 0) || math.IsNaN(f):
		return errors.New("must be a number")
	case v.Kind == model.Integer && strings.ContainsAny(text, ".eExXpP_"):
		return errors.New("must be a whole number")
	case v.Minimum != nil && f < *v.Minimum:
		return fmt.Errorf("must be at least %s", strconv.FormatFloat(*v.Minimum, 'f', -1, 64))
	case v.Maximum != nil && f > *v.Maximum:
		return fmt.Errorf("must be at most %s", strconv.FormatFloat(*v.Maximum, 'f', -1, 64))
	}
	return nil
}
