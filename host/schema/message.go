package schema

import (
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/junctor-mcp/junctor/host/suggest"
)

// leaf returns the finding for an error without causes. explain.go calls it. The functions of
// this file are pure.
func (x explainer) leaf(e *jsonschema.ValidationError) finding {
	f := x.at(e)
	switch k := e.ErrorKind.(type) {
	case *kind.Type:
		f.types, f.got = k.Want, k.Got
		f.message = wrongType(k.Want, k.Got)
	case *kind.Enum:
		f.values = k.Want
		f.message = wrongValue(k.Want, k.Got)
	case *kind.Const:
		f.values = []any{k.Want}
		f.message = wrongValue(f.values, k.Got)
	case *kind.FalseSchema:
		f.message = "is not allowed"
		if strings.HasSuffix(f.schema, "/unevaluatedProperties") {
			f.message = x.unknownMember()
		}
	case *kind.Not:
		f.schema += "/not"
		f.message = "has a form that is not allowed here"
	case *kind.OneOf:
		f.message = "matches more than one of the forms of which exactly one is allowed"
	case *kind.Pattern:
		f.message = "must match pattern " + shorten(k.Want, 80)
	default:
		f.message = bound(e.ErrorKind)
	}
	return f
}

// bound returns the message for keywords that compare sizes.
func bound(k jsonschema.ErrorKind) string {
	switch k := k.(type) {
	case *kind.MinLength:
		if k.Want == 1 {
			return "must not be empty"
		}
		return fmt.Sprintf("must have at least %d characters", k.Want)
	case *kind.MaxLength:
		return fmt.Sprintf("must have at most %s", several(k.Want, "character"))
	case *kind.MinItems:
		return fmt.Sprintf("must have at least %s", several(k.Want, "item"))
	case *kind.MaxItems:
		return fmt.Sprintf("must have at most %s", several(k.Want, "item"))
	case *kind.MinProperties:
		return fmt.Sprintf("must have at least %s", several(k.Want, "key"))
	case *kind.MaxProperties:
		return fmt.Sprintf("must have at most %s", several(k.Want, "key"))
	case *kind.UniqueItems:
		return fmt.Sprintf("must not repeat an item, [%d] and [%d] are equal", k.Duplicates[0], k.Duplicates[1])
	case *kind.Contains:
		return "has no item of the required form"
	case *kind.MinContains:
		return fmt.Sprintf("must have at least %s of a certain form", several(k.Want, "item"))
	case *kind.MaxContains:
		return fmt.Sprintf("must have at most %s of a certain form", several(k.Want, "item"))
	case *kind.Minimum:
		return "must be at least " + number(k.Want)
	case *kind.Maximum:
		return "must be at most " + number(k.Want)
	case *kind.ExclusiveMinimum:
		return "must be more than " + number(k.Want)
	case *kind.ExclusiveMaximum:
		return "must be less than " + number(k.Want)
	case *kind.MultipleOf:
		return "must be a multiple of " + number(k.Want)
	}
	return "does not match the schema"
}

func several(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return strconv.Itoa(n) + " " + noun
}

func withArticle(typeName string) string {
	switch typeName {
	case "null":
		return "null"
	case "integer", "array", "object":
		return "an " + typeName
	}
	return "a " + typeName
}

func wrongType(want []string, got string) string {
	return "must be " + oneOfTypes(want) + ", is " + withArticle(got)
}

func oneOfTypes(types []string) string {
	words := make([]string, len(types))
	for i, name := range types {
		words[i] = withArticle(name)
	}
	return orList(words)
}

func orList(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}

// wrongValue lists the allowed values, which come from the schema. It uses the actual
// value only for a suggestion.
func wrongValue(want []any, got any) string {
	const most = 10
	var shown, texts []string
	for _, v := range want {
		if text, ok := v.(string); ok {
			texts = append(texts, text)
		}
		if s := candidate(v); len(shown) < most && !slices.Contains(shown, s) {
			shown = append(shown, s)
		}
	}
	if len(want) == 0 {
		return "has no value that is allowed"
	}
	message := "must be "
	if len(shown) > 1 {
		message += "one of "
	}
	message += strings.Join(shown, ", ")
	if more := len(want) - len(shown); more > 0 && len(shown) == most {
		message += fmt.Sprintf(" or %s", several(more, "other"))
	}
	if text, ok := got.(string); ok {
		message += didYouMean(text, texts)
	}
	return message
}

// candidate formats one value of the schema.
func candidate(v any) string {
	switch v := v.(type) {
	case []any:
		return "a certain array"
	case map[string]any:
		return "a certain object"
	case json.Number:
		return shorten(string(v), 40)
	case string:
		return quote(v, 40)
	}
	if v == nil {
		return "null"
	}
	return fmt.Sprint(v)
}

// number formats a bound, exactly if that is short.
func number(r *big.Rat) string {
	const most = 25
	if digits, exact := r.FloatPrec(); exact && digits <= most {
		if text := r.FloatString(digits); len(text) <= most {
			return text
		}
	}
	f, _ := r.Float64()
	return strconv.FormatFloat(f, 'g', -1, 64)
}

// didYouMean returns "; did you mean …?" for the nearest candidate, or "".
func didYouMean(name string, candidates []string) string {
	if best := suggest.Nearest(name, candidates); best != "" {
		return "; did you mean " + quoteName(best) + "?"
	}
	return ""
}
