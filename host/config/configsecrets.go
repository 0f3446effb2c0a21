package config

import (
	"strings"

	"github.com/junctor-mcp/junctor/host/config/expression"
)

// Keyring lists the secrets that the configuration uses, in the order of the
// files.
func (c *Config) Keyring() []expression.SecretUse { return c.keyring.Uses() }

// Resolve replaces the placeholders of keyring() in a block's settings by the
// secrets. The settings must belong to c. Resolve calls lookup once for each secret
// and returns its error with the place of the keyring() call.
func (c *Config) Resolve(settings []byte, lookup func(name string) (string, error)) ([]byte, error) {
	text, err := c.keyring.SubstituteJSON(string(settings), lookup)
	return []byte(text), err
}

// SecretsIn lists the names of the secrets of keyring() in a block's settings or in a
// token, each once.
func (c *Config) SecretsIn(settings string) []string {
	return c.keyring.SecretsIn(settings)
}

// Unresolved returns a text that identifies a block's settings without the values of
// the secrets of keyring(). It is equal in every load.
func (c *Config) Unresolved(settings []byte) []byte {
	text, secrets := c.keyring.Normalize(settings)
	return append(text, strings.Join(secrets, "\n")...)
}

// AbsentInput returns an error if one of several blocks needs an input that was not there when
// the configuration was read; see [Options].AbsentInputs. Blocks may be nil.
func (c *Config) AbsentInput(blocks ...*Block) error {
	for _, b := range blocks {
		if b == nil {
			continue
		}
		if e := c.keyring.AbsentIn(string(b.Settings)); e != nil {
			return e.Fault()
		}
	}
	return nil
}

// Placeholders returns the placeholders of stored secrets in the configuration.
func (c *Config) Placeholders() *expression.Keyring { return c.keyring }
