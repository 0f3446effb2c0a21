package expression

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/junctor-mcp/junctor/host/fault"
)

const (
	MaxSecret  = 16 << 10 // bytes of one secret
	maxSecrets = 1 << 20  // bytes of all secrets in the settings of one block
)

// inJSON returns a text as it is written between the quotes of a JSON string.
func inJSON(text string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(text); err != nil {
		panic(err) // impossible for a string
	}
	return strings.TrimSuffix(strings.TrimSpace(b.String())[1:], `"`)
}

// SecretsIn lists the names of the secrets in a text, each once.
func (k *Keyring) SecretsIn(text string) []string {
	var names []string
	for {
		_, name, after, found := k.next(text)
		if !found {
			return names
		}
		if k.absentInput(name) == nil && !slices.Contains(names, name) {
			names = append(names, name)
		}
		text = after
	}
}

// Substitute replaces the placeholders in a text by the secrets, each of which lookup is asked for
// once. Its errors have the place of the call of keyring().
func (k *Keyring) Substitute(text string, lookup func(string) (string, error)) (string, error) {
	return k.replace(text, lookup, func(secret string) string { return secret })
}

// SubstituteJSON is substitute for the text of a JSON value.
func (k *Keyring) SubstituteJSON(text string, lookup func(string) (string, error)) (string, error) {
	return k.replace(text, lookup, inJSON)
}

// replace replaces the placeholders in a text by the secrets in the notation of quote.
func (k *Keyring) replace(text string, lookup func(string) (string, error), quote func(string) string) (string, error) {
	var all strings.Builder
	known, total := map[string]string{}, 0
	for {
		before, name, after, found := k.next(text)
		all.WriteString(before)
		if !found {
			return all.String(), nil
		}
		secret, ok := known[name]
		if !ok {
			var err error
			if secret, err = k.read(name, lookup); err != nil {
				return "", err
			}
			secret = quote(secret)
			known[name] = secret
		}
		if total += len(secret); total > maxSecrets {
			return "", k.atUse(name, fault.New(fault.ConfigInvalid,
				"the secrets of one block are larger than %d KiB together", maxSecrets>>10))
		}
		all.WriteString(secret)
		text = after
	}
}

// read looks up one secret.
func (k *Keyring) read(name string, lookup func(string) (string, error)) (string, error) {
	if e := k.absentInput(name); e != nil {
		return "", e.Fault()
	}
	secret, err := lookup(name)
	switch {
	case err != nil:
		return "", k.atUse(name, err)
	case len(secret) > MaxSecret:
		return "", k.atUse(name,
			fault.New(fault.ConfigInvalid, "the secret %q is larger than %d KiB", name, MaxSecret>>10))
	case !utf8.ValidString(secret):
		return "", k.atUse(name, fault.New(fault.ConfigInvalid, "the secret %q is not valid UTF-8", name))
	}
	return secret, nil
}

// AtFirst adds the name and the place of the first secret in a text to an error.
func (k *Keyring) AtFirst(text string, err error) error {
	_, name, _, _ := k.next(text)
	return k.atUse(name, err)
}

// atUse adds the name of a secret and the place of its first use to an error.
func (k *Keyring) atUse(name string, err error) error {
	f := *fault.As(err)
	if !strings.Contains(f.Message, name) {
		f.Message = fmt.Sprintf("secret %q: %s", name, f.Message)
	}
	if i := slices.IndexFunc(k.uses, func(u SecretUse) bool { return u.Name == name }); i >= 0 {
		f.At = k.uses[i].At.String()
	}
	return &f
}
