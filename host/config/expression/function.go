package expression

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2/ext/tryfunc"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"

	"github.com/junctor-mcp/junctor/host/config/source"
	"github.com/junctor-mcp/junctor/host/lazyregexp"
	"github.com/junctor-mcp/junctor/host/redact"
	"github.com/junctor-mcp/junctor/host/suggest"
)

// functions are the functions of the language. Those with an empty value depend on
// the evaluator: see hostFunctions, fileFunctions and MessageWords, which names their parameters.
// Each has a line in FunctionHelp.
var functions = map[string]function.Function{
	"env": {}, "file": {}, "keyring": {},

	"try": tryfunc.TryFunc, "can": tryfunc.CanFunc,

	"startswith": textPredicate("prefix", strings.HasPrefix),
	"endswith":   textPredicate("suffix", strings.HasSuffix),
	"join":       stdlib.JoinFunc,
	"split":      stdlib.SplitFunc,
	"upper":      stdlib.UpperFunc,
	"lower":      stdlib.LowerFunc,
	"trim":       stdlib.TrimFunc,
	"trimspace":  stdlib.TrimSpaceFunc,
	"trimprefix": stdlib.TrimPrefixFunc,
	"trimsuffix": stdlib.TrimSuffixFunc,
	"replace":    stdlib.ReplaceFunc,
	"format":     stdlib.FormatFunc,

	"concat":   stdlib.ConcatFunc,
	"contains": stdlib.ContainsFunc,
	"merge":    stdlib.MergeFunc,
	"keys":     stdlib.KeysFunc,
	"values":   stdlib.ValuesFunc,
	"length":   lengthFunc,
	"lookup":   stdlib.LookupFunc,
	"flatten":  stdlib.FlattenFunc,
	"distinct": stdlib.DistinctFunc,
	"sort":     stdlib.SortFunc,
	"coalesce": stdlib.CoalesceFunc,
	"compact":  stdlib.CompactFunc,
	"range":    stdlib.RangeFunc, // at most 1024 numbers
	"min":      stdlib.MinFunc,
	"max":      stdlib.MaxFunc,

	"jsonencode": stdlib.JSONEncodeFunc,
	"jsondecode": jsonDecodeFunc,
	"base64encode": textFunc(func(s string) (string, error) {
		return base64.StdEncoding.EncodeToString([]byte(s)), nil
	}),
	"base64decode": textFunc(fromBase64),

	"tostring": stdlib.MakeToFunc(cty.String),
	"tonumber": stdlib.MakeToFunc(cty.Number),
	"tobool":   stdlib.MakeToFunc(cty.Bool),
	"tolist":   stdlib.MakeToFunc(cty.List(cty.DynamicPseudoType)),
	"tomap":    stdlib.MakeToFunc(cty.Map(cty.DynamicPseudoType)),
}

var functionNames = slices.Sorted(maps.Keys(functions))

// sensitive marks values from env(), file() and keyring(). Every operation passes the
// mark on to its result.
const sensitive = mark("sensitive")

type mark string

// hostFunctions returns the functions that do not depend on the calling file.
func (ev *Evaluator) hostFunctions() map[string]function.Function {
	all := map[string]function.Function{}
	for name, f := range functions {
		switch name {
		case "env":
			all[name] = ev.envFunc()
		case "keyring":
			all[name] = ev.keyringFunc()
		case "file": // in fileFunctions
		case "try", "can": // their parameters are expressions, not values
			all[name] = f
		default:
			all[name] = withRedactedErrors(f)
		}
	}
	return all
}

// fileFunctions returns the functions that depend on the directory of the calling
// file.
func (ev *Evaluator) fileFunctions(dir string) map[string]function.Function {
	return map[string]function.Function{"file": ev.fileFunc(dir)}
}

// envFunc returns env("NAME") and env("NAME", "fallback").
func (ev *Evaluator) envFunc() function.Function {
	return function.New(&function.Spec{
		Params:   []function.Parameter{{Name: "name", Type: cty.String}},
		VarParam: &function.Parameter{Name: "fallback", Type: cty.String},
		Type:     function.StaticReturnType(cty.String),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			name := args[0].AsString()
			if len(args) > 2 {
				return cty.NilVal, errors.New("takes a name and at most one fallback")
			}
			value, set := ev.inputs.Lookup(name)
			switch {
			case set && !utf8.ValidString(value):
				return cty.NilVal, fmt.Errorf("the environment variable %q is not valid UTF-8", name)
			case set && isPublic(name, value):
				return cty.StringVal(value).Mark(sensitive), nil
			case set:
				return ev.sensitiveValue(value), nil
			case len(args) == 2:
				return args[1], nil
			}
			return ev.absent(&source.InputError{
				Message: fmt.Sprintf("the environment variable %q is not set", name),
				Hint:    fmt.Sprintf("set it, or give a fallback: env(%q, \"...\")", name),
			})
		},
	})
}

// MaxIncluded is the size of a file for file(), in bytes.
const MaxIncluded = 64 << 10

// fileFunc returns file("path"). A relative path starts at dir, the directory of the
// calling file.
func (ev *Evaluator) fileFunc(dir string) function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{{Name: "path", Type: cty.String}},
		Type:   function.StaticReturnType(cty.String),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			path := args[0].AsString()
			if !filepath.IsAbs(path) {
				path = filepath.Join(dir, path)
			}
			ev.included = append(ev.included, path)
			text, err := ev.inputs.Read(path)
			if err == nil && !utf8.Valid(text) {
				err = errors.New("not valid UTF-8")
			}
			if err != nil {
				hint := "a relative path starts at the directory of the configuration file"
				if strings.HasPrefix(args[0].AsString(), "~/") {
					hint = `only a shell knows "~": write file("${env("HOME")}/...")`
				}
				return ev.absent(&source.InputError{
					Message: fmt.Sprintf("cannot read the file %q: %v", args[0].AsString(), err), Hint: hint,
				})
			}
			return ev.sensitiveValue(strings.TrimRight(string(text), "\r\n")), nil
		},
	})
}

// sensitiveValue returns a marked value and adds its text to the secrets, so that it
// is never printed.
func (ev *Evaluator) sensitiveValue(text string) cty.Value {
	ev.Files.Conceal(text)
	return cty.StringVal(text).Mark(sensitive)
}

// textFunc returns a function of one text.
func textFunc(f func(string) (string, error)) function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{{Name: "text", Type: cty.String}},
		Type:   function.StaticReturnType(cty.String),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			s, err := f(args[0].AsString())
			return cty.StringVal(s), err
		},
	})
}

// textPredicate returns a function of two texts to true or false.
func textPredicate(second string, f func(a, b string) bool) function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{{Name: "text", Type: cty.String}, {Name: second, Type: cty.String}},
		Type:   function.StaticReturnType(cty.Bool),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			return cty.BoolVal(f(args[0].AsString(), args[1].AsString())), nil
		},
	})
}

// fromBase64 decodes base64 to text.
func fromBase64(s string) (string, error) {
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		return "", errors.New("the text is not base64")
	}
	if !utf8.Valid(b) {
		return "", errors.New("the decoded text is not valid UTF-8")
	}
	return string(b), nil
}

// jsonDecodeFunc is stdlib.JSONDecodeFunc for valid JSON only. The decoder of
// stdlib has no limit on nesting and prints parts of the text in its errors.
var jsonDecodeFunc = function.New(&function.Spec{
	Params: stdlib.JSONDecodeFunc.Params(),
	Type: func(args []cty.Value) (cty.Type, error) {
		if args[0].IsKnown() && !json.Valid([]byte(args[0].AsString())) {
			return cty.NilType, errors.New("the text is not JSON")
		}
		return stdlib.JSONDecodeFunc.ReturnTypeForValues(args)
	},
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) { return stdlib.JSONDecode(args[0]) },
})

// withRedactedErrors returns f with error messages that do not quote its
// arguments.
func withRedactedErrors(f function.Function) function.Function {
	return function.New(&function.Spec{
		Params: f.Params(), VarParam: f.VarParam(),
		Type: func(args []cty.Value) (cty.Type, error) {
			ty, err := f.ReturnTypeForValues(args)
			return ty, withoutValues(err, args)
		},
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			v, err := f.Call(args)
			return v, withoutValues(err, args)
		},
	})
}

// withoutValues masks the texts of the arguments that an error quotes. Functions
// repeat them only in quotes.
func withoutValues(err error, args []cty.Value) error {
	if err == nil {
		return nil
	}
	texts := textsIn(args...)
	return errors.New(redact.Quotes(err.Error(), func(text string) bool {
		return !MessageWords()[text] && (redact.Holds(text, texts) || redact.PartOf(text, texts))
	}))
}

// lengthFunc returns the number of characters of a text, or of elements of a
// collection.
var lengthFunc = function.New(&function.Spec{
	Params: []function.Parameter{{Name: "value", Type: cty.DynamicPseudoType}},
	Type:   function.StaticReturnType(cty.Number),
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		v := args[0]
		switch {
		case v.Type() == cty.String:
			return stdlib.Strlen(v)
		case v.CanIterateElements():
			return cty.NumberIntVal(int64(v.LengthInt())), nil
		}
		return cty.NilVal, errors.New("a text, list, map or object is required")
	},
})

// MessageWords are the quoted words of HCL's own messages: names of parameters, and
// keywords.
var MessageWords = sync.OnceValue(func() map[string]bool {
	words := map[string]bool{"true": true, "false": true, "if": true, "for": true, "name": true, "fallback": true,
		"path": true}
	for name, f := range functions {
		if name == "env" || name == "file" || name == "keyring" {
			continue // their parameters are in the list above
		}
		if f.VarParam() != nil {
			words[f.VarParam().Name] = true
		}
		for _, p := range f.Params() {
			words[p.Name] = true
		}
	}
	return words
})

// IsFunction reports whether the language has a function.
func IsFunction(name string) bool {
	_, known := functions[name]
	return known
}

// LooksLikeFunction reports whether a word before a parenthesis is a function, or probably a misspelt one.
func LooksLikeFunction(word string) bool { return IsFunction(word) || functionLike(word) }

// functionWord is the grammar of names that messages repeat although no function has
// them. A secret nearly always has a digit, or is longer.
var functionWord = lazyregexp.New(`^[a-z][A-Za-z_]{0,23}$`)

// functionLike reports whether a word before a parenthesis is probably the misspelt
// name of a function, and not part of a secret without its quotes.
func functionLike(word string) bool {
	return functionWord.MatchString(word) || suggest.Nearest(word, functionNames) != ""
}

// keyringFunc returns keyring("NAME").
func (ev *Evaluator) keyringFunc() function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{{Name: "name", Type: cty.String}},
		Type:   function.StaticReturnType(cty.String),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			return cty.StringVal(ev.Keyring.Placeholder(args[0].AsString())).Mark(sensitive), nil
		},
	})
}

// absent is the result of env() or file() for an input that is not there: an error, or a
// placeholder while ev.deferring is set.
func (ev *Evaluator) absent(e *source.InputError) (cty.Value, error) {
	if !ev.deferring {
		return cty.NilVal, e
	}
	ev.Keyring.absent = append(ev.Keyring.absent, e)
	return cty.StringVal(ev.Keyring.Placeholder(absentPrefix + strconv.Itoa(len(ev.Keyring.absent)-1))).Mark(sensitive),
		nil
}
