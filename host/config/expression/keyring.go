package expression

import (
	"cmp"
	"crypto/rand"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/junctor-mcp/junctor/host/config/language"
	"github.com/junctor-mcp/junctor/host/config/source"
	"github.com/junctor-mcp/junctor/host/lazyregexp"
)

// A Keyring makes and finds the placeholders of keyring("NAME"). The host reads such
// a secret when it opens a connection. While the configuration is read, a
// placeholder takes its place and may become part of a longer text. passthrough.go
// keeps expressions from inspecting it. A random nonce keeps other texts from being
// mistaken for placeholders. A nil Keyring has none.
type Keyring struct {
	Nonce string
	uses  []SecretUse
	seen  map[hcl.Range]bool

	absent []*source.InputError // the absent inputs that have placeholders; see absent.go
}

// A SecretUse is one call of keyring("NAME") in the configuration.
type SecretUse struct {
	Name string
	At   source.Position
}

// Uses lists the calls of keyring(); see [Keyring.sortUses].
func (k *Keyring) Uses() []SecretUse {
	if k == nil {
		return nil
	}
	return slices.Clone(k.uses)
}

func newKeyring() *Keyring { return &Keyring{Nonce: rand.Text(), seen: map[hcl.Range]bool{}} }

// SecretName is the grammar of the names of secrets.
var SecretName = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._/-]{0,127}$`)

const secretNameWords = "1 to 128 letters, digits and . _ / -, starting with a letter or a digit"

// Placeholder returns the placeholder of a secret. JSON does not escape it.
func (k *Keyring) Placeholder(name string) string { return k.opening() + name + ";" }

func (k *Keyring) opening() string { return "keyring:" + k.Nonce + ":" }

// Contains reports whether a text contains a placeholder.
func (k *Keyring) Contains(text string) bool { return k != nil && strings.Contains(text, k.opening()) }

// next finds the first placeholder in a text: the texts before and after it,
// and the name of its secret.
func (k *Keyring) next(text string) (before, name, after string, found bool) {
	if k == nil {
		return text, "", "", false
	}
	before, rest, opened := strings.Cut(text, k.opening())
	name, after, closed := strings.Cut(rest, ";")
	if !opened || !closed {
		return text, "", "", false
	}
	return before, name, after, true
}

// inUse reports whether there are placeholders.
func (k *Keyring) inUse() bool { return k != nil && len(k.uses)+len(k.absent) > 0 }

// Find returns the path of the first text with a placeholder in a value.
func (k *Keyring) Find(v cty.Value) (steps []language.Step, found bool) {
	if !k.inUse() {
		return nil, false
	}
	v, _ = v.UnmarkDeep()
	_ = cty.Walk(v, func(path cty.Path, v cty.Value) (bool, error) {
		if !found && k.Contains(stringOf(v)) {
			steps, found = language.StepsOf(path), true
		}
		return !found, nil
	})
	return steps, found
}

// Normalize returns a text without its placeholders, and the offset and the name of
// each. Unlike the placeholders, both are equal in every load.
func (k *Keyring) Normalize(text []byte) ([]byte, []string) {
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

// SortUses sorts the uses by the order of their files, and by place.
func (k *Keyring) SortUses(order map[string]int) {
	slices.SortFunc(k.uses, func(a, b SecretUse) int {
		return cmp.Or(cmp.Compare(order[a.At.File], order[b.At.File]),
			cmp.Compare(a.At.Line, b.At.Line), cmp.Compare(a.At.Column, b.At.Column))
	})
}

// absentPrefix begins the name in a placeholder of an absent input. No secret has such a name.
const absentPrefix = "!"
