package config

import (
	"cmp"
	"crypto/rand"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/junctor-mcp/junctor/host/config/language"
	"github.com/junctor-mcp/junctor/host/config/source"
	"github.com/junctor-mcp/junctor/host/lazyregexp"
)

// A keyring makes and finds the placeholders of keyring("NAME"). The host reads such
// a secret when it opens a connection. While the configuration is read, a
// placeholder takes its place and may become part of a longer text. passthrough.go
// keeps expressions from inspecting it. A random nonce keeps other texts from being
// mistaken for placeholders.
type keyring struct {
	nonce string
	uses  []SecretUse
	seen  map[hcl.Range]bool

	absent []*source.InputError // the absent inputs that have placeholders; see absent.go
}

// A SecretUse is one call of keyring("NAME") in the configuration.
type SecretUse struct {
	Name string
	At   source.Position
}

// uses lists the calls of keyring(); see [keyring.sortUses].
func (k *keyring) calls() []SecretUse { return slices.Clone(k.uses) }

func newKeyring() *keyring { return &keyring{nonce: rand.Text(), seen: map[hcl.Range]bool{}} }

// SecretName is the grammar of the names of secrets.
var SecretName = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._/-]{0,127}$`)

const secretNameWords = "1 to 128 letters, digits and . _ / -, starting with a letter or a digit"

// placeholder returns the placeholder of a secret. JSON does not escape it.
func (k *keyring) placeholder(name string) string { return k.opening() + name + ";" }

func (k *keyring) opening() string { return "keyring:" + k.nonce + ":" }

// contains reports whether a text contains a placeholder.
func (k *keyring) contains(text string) bool { return strings.Contains(text, k.opening()) }

// next finds the first placeholder in a text: the texts before and after it,
// and the name of its secret.
func (k *keyring) next(text string) (before, name, after string, found bool) {
	before, rest, opened := strings.Cut(text, k.opening())
	name, after, closed := strings.Cut(rest, ";")
	if !opened || !closed {
		return text, "", "", false
	}
	return before, name, after, true
}

// inUse reports whether there are placeholders.
func (k *keyring) inUse() bool { return k != nil && len(k.uses)+len(k.absent) > 0 }

// find returns the path of the first text with a placeholder in a value.
func (k *keyring) find(v cty.Value) (steps []language.Step, found bool) {
	if !k.inUse() {
		return nil, false
	}
	v, _ = v.UnmarkDeep()
	_ = cty.Walk(v, func(path cty.Path, v cty.Value) (bool, error) {
		if !found && k.contains(stringOf(v)) {
			steps, found = language.StepsOf(path), true
		}
		return !found, nil
	})
	return steps, found
}

// normalize returns a text without its placeholders, and the offset and the name of
// each. Unlike the placeholders, both are equal in every load.
func (k *keyring) normalize(text []byte) ([]byte, []string) {
	var all strings.Builder
	var secrets []string
	rest := string(text)
	for {
		before, name, after, found := k.next(rest)
		all.WriteString(before)
		if !found {
			return []byte(all.String()), secrets
		}
		secrets = append(secrets, strconv.Itoa(all.Len())+" "+name)
		rest = after
	}
}

// keyringFunc returns keyring("NAME").
func (ev *evaluator) keyringFunc() function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{{Name: "name", Type: cty.String}},
		Type:   function.StaticReturnType(cty.String),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			return cty.StringVal(ev.keyring.placeholder(args[0].AsString())).Mark(sensitive), nil
		},
	})
}

// keyringCall registers a call of keyring(). Its argument must be a literal, so the
// secrets that a configuration uses are known without evaluation.
func (v *vetter) keyringCall(e *hclsyntax.FunctionCallExpr) {
	const hint = `write keyring("NAME")`
	if len(e.Args) != 1 || e.ExpandFinal {
		v.errorAt(e.Range(), hint, "keyring() takes the name of a secret and nothing else")
		return
	}
	name, ok := language.Literal(e.Args[0])
	switch {
	case !ok:
		v.errorAt(e.Args[0].Range(), hint, "the name of a secret is written out in keyring()")
	case !SecretName.MatchString(name):
		v.errorAt(e.Args[0].Range(), "run `junctor secret set NAME` to store a secret", "the name of a secret is %s", secretNameWords)
	case !v.host.ev.keyring.seen[e.Range()]:
		v.host.ev.keyring.seen[e.Range()] = true
		if !v.host.ev.keyring.inUse() {
			v.host.ev.files.Conceal(v.host.ev.keyring.nonce) // messages must not reveal it
		}
		v.host.ev.keyring.uses = append(v.host.ev.keyring.uses, SecretUse{Name: name, At: source.StartOf(e.Range())})
	}
}

// sortUses sorts the uses by the order of their files, and by place.
func (k *keyring) sortUses(order map[string]int) {
	slices.SortFunc(k.uses, func(a, b SecretUse) int {
		return cmp.Or(cmp.Compare(order[a.At.File], order[b.At.File]),
			cmp.Compare(a.At.Line, b.At.Line), cmp.Compare(a.At.Column, b.At.Column))
	})
}
