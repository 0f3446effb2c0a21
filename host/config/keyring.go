package config

import (
	"cmp"
	"crypto/rand"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

// keyring("NAME") is a secret that is read when a connection is opened. When the
// configuration is read there is a placeholder in its place, which can become
// part of a longer text. Nothing may look into one, because what it found would
// not be true of the secret: see passthrough.go. A placeholder has a part that nobody
// can guess, so that no text from outside passes for one.
type keyring struct {
	nonce string
	uses  []SecretUse
	seen  map[hcl.Range]bool
}

// A SecretUse is a place where keyring("NAME") stands.
type SecretUse struct {
	Name string
	At   Position
}

// Keyring lists the secrets that the configuration uses, in the order of the
// files.
func (c *Config) Keyring() []SecretUse { return slices.Clone(c.keyring.uses) }

func newKeyring() keyring { return keyring{nonce: rand.Text(), seen: map[hcl.Range]bool{}} }

// SecretName is the grammar of the names of secrets.
var SecretName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._/-]{0,127}$`)

const secretNameWords = "1 to 128 letters, digits and . _ / -, starting with a letter or a digit"

// placeholder stands for a secret. JSON writes it as it is.
func (k *keyring) placeholder(name string) string { return k.opening() + name + ";" }

func (k *keyring) opening() string { return "keyring:" + k.nonce + ":" }

// stands reports whether a text holds a placeholder.
func (k *keyring) stands(text string) bool { return strings.Contains(text, k.opening()) }

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

// used reports whether there can be placeholders at all.
func (k *keyring) used() bool { return k != nil && len(k.uses) > 0 }

// in leads to the first text in a value that holds a placeholder.
func (k *keyring) in(v cty.Value) (steps []step, found bool) {
	if !k.used() {
		return nil, false
	}
	v, _ = v.UnmarkDeep()
	_ = cty.Walk(v, func(path cty.Path, v cty.Value) (bool, error) {
		if !found && k.stands(stringOf(v)) {
			steps, found = stepsOf(path), true
		}
		return !found, nil
	})
	return steps, found
}

// normal is a text that is the same in every load, and what is missing in it:
// each secret with its place.
func (k *keyring) normal(text []byte) ([]byte, []string) {
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

// keyringCall is the function of the language.
func (l *loader) keyringCall() function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{{Name: "name", Type: cty.String}},
		Type:   function.StaticReturnType(cty.String),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			return cty.StringVal(l.keyring.placeholder(args[0].AsString())).Mark(sensitive), nil
		},
	})
}

// stored notes a use of keyring(). The name is written out, so that it is known
// without evaluating anything which secrets a configuration uses, and where.
func (v *vetter) stored(e *hclsyntax.FunctionCallExpr) {
	const hint = `write keyring("NAME")`
	if len(e.Args) != 1 || e.ExpandFinal {
		v.wrong(e.Range(), hint, "keyring() takes the name of a secret and nothing else")
		return
	}
	name, ok := literal(e.Args[0])
	switch {
	case !ok:
		v.wrong(e.Args[0].Range(), hint, "the name of a secret is written out in keyring()")
	case !SecretName.MatchString(name):
		v.wrong(e.Args[0].Range(), `"junctor secret set NAME" keeps one`, "the name of a secret is %s", secretNameWords)
	case !v.keyring.seen[e.Range()]:
		v.keyring.seen[e.Range()] = true
		if !v.keyring.used() {
			v.secrets = append(v.secrets, v.keyring.nonce) // nobody learns it from a message
		}
		v.keyring.uses = append(v.keyring.uses, SecretUse{Name: name, At: startOf(e.Range())})
	}
}

// sorted puts the uses in the order of the files.
func (k *keyring) sorted(sources []*source) {
	order := map[string]int{}
	for i, s := range sources {
		order[s.name] = i
	}
	slices.SortFunc(k.uses, func(a, b SecretUse) int {
		return cmp.Or(cmp.Compare(order[a.At.File], order[b.At.File]),
			cmp.Compare(a.At.Line, b.At.Line), cmp.Compare(a.At.Column, b.At.Column))
	})
}
