package config

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
	maxSecret  = 16 << 10 // bytes of one secret
	maxSecrets = 1 << 20  // bytes of all secrets in the settings of one block
)

// Resolve replaces the placeholders of keyring() in a block's settings by the
// secrets. The settings must belong to c. Resolve calls lookup once for each secret
// and returns its error with the place of the keyring() call.
func (c *Config) Resolve(settings []byte, lookup func(name string) (string, error)) ([]byte, error) {
	text, err := c.keyring.substitute(string(settings), lookup, inJSON)
	return []byte(text), err
}

// ResolveToken is Resolve for a [StaticToken] that is Late. It fails if the result is
// not a valid token.
func (c *Config) ResolveToken(t StaticToken, lookup func(name string) (string, error)) (string, error) {
	token, err := c.keyring.substitute(t.Token, lookup, func(secret string) string { return secret })
	if err != nil {
		return "", err
	}
	if why := tokenProblem(token); why != "" {
		_, name, _, _ := c.keyring.next(t.Token)
		return "", c.keyring.atUse(name, fault.New(fault.ConfigInvalid, "the token %s", why).WithHint(tokenHint))
	}
	return token, nil
}

// SecretsIn lists the names of the secrets of keyring() in a block's settings or in a
// token, each once.
func (c *Config) SecretsIn(settings string) []string {
	var names []string
	for {
		_, name, after, found := c.keyring.next(settings)
		if !found {
			return names
		}
		if k := c.keyring; k.absentInput(name) == nil && !slices.Contains(names, name) {
			names = append(names, name)
		}
		settings = after
	}
}

// Unresolved returns a text that identifies a block's settings without the values of
// the secrets of keyring(). It is equal in every load.
func (c *Config) Unresolved(settings []byte) []byte {
	text, secrets := c.keyring.normalize(settings)
	return append(text, strings.Join(secrets, "\n")...)
}

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

// substitute replaces the placeholders in a text by the secrets in the notation of
// quote.
func (k *keyring) substitute(text string, lookup func(string) (string, error), quote func(string) string) (string, error) {
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
			return "", k.atUse(name, fault.New(fault.ConfigInvalid, "the secrets of one block are larger than %d KiB together", maxSecrets>>10))
		}
		all.WriteString(secret)
		text = after
	}
}

// read looks up one secret.
func (k *keyring) read(name string, lookup func(string) (string, error)) (string, error) {
	if e := k.absentInput(name); e != nil {
		return "", e.Fault()
	}
	secret, err := lookup(name)
	switch {
	case err != nil:
		return "", k.atUse(name, err)
	case len(secret) > maxSecret:
		return "", k.atUse(name, fault.New(fault.ConfigInvalid, "the secret %q is larger than %d KiB", name, maxSecret>>10))
	case !utf8.ValidString(secret):
		return "", k.atUse(name, fault.New(fault.ConfigInvalid, "the secret %q is not valid UTF-8", name))
	}
	return secret, nil
}

// atUse adds the name of a secret and the place of its first use to an error.
func (k *keyring) atUse(name string, err error) error {
	f := *fault.As(err)
	if !strings.Contains(f.Message, name) {
		f.Message = fmt.Sprintf("secret %q: %s", name, f.Message)
	}
	if i := slices.IndexFunc(k.uses, func(u SecretUse) bool { return u.Name == name }); i >= 0 {
		f.At = k.uses[i].At.String()
	}
	return &f
}
