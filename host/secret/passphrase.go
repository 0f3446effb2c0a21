package secret

import (
	"slices"

	"filippo.io/age"
)

// A passphrase encrypts and decrypts files. It caches the key of the last file, which
// scrypt needs 0.1 s to derive from the password and the salt. An unchanged file is
// thus opened at once. Each File has its own passphrase and uses it for one call at
// a time.
type passphrase struct {
	recipient *age.ScryptRecipient
	identity  *age.ScryptIdentity

	head *age.Stanza // of the last file
	key  []byte
}

func newPassphrase(password []byte) (*passphrase, error) {
	r, err := age.NewScryptRecipient(string(password))
	if err != nil {
		return nil, err
	}
	i, err := age.NewScryptIdentity(string(password))
	if err != nil {
		return nil, err
	}
	r.SetWorkFactor(scryptWorkFactor)
	i.SetMaxWorkFactor(maxWorkFactor)
	return &passphrase{recipient: r, identity: i}, nil
}

// Wrap implements age.Recipient for a file that is written.
func (p *passphrase) Wrap(key []byte) ([]*age.Stanza, error) {
	head, err := p.recipient.Wrap(key)
	if err == nil {
		p.head, p.key = head[0], slices.Clone(key)
	}
	return head, err
}

// Unwrap implements age.Identity for a file that is read.
func (p *passphrase) Unwrap(heads []*age.Stanza) ([]byte, error) {
	if len(heads) == 1 && p.head != nil && equalStanza(heads[0], p.head) {
		return slices.Clone(p.key), nil
	}
	key, err := p.identity.Unwrap(heads)
	if err == nil {
		p.head, p.key = heads[0], slices.Clone(key)
	}
	return key, err
}

func equalStanza(a, b *age.Stanza) bool {
	return a.Type == b.Type && slices.Equal(a.Args, b.Args) && slices.Equal(a.Body, b.Body)
}
