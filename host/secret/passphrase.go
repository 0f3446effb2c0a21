package secret

import (
	"slices"

	"filippo.io/age"
)

// A passphrase opens and closes files. It remembers the key of the last file,
// which the password and the salt in the file's head lead to in a tenth of a
// second: a file that did not change is opened again at once.
//
// One file has one, and uses it one call at a time.
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
	r.SetWorkFactor(effort)
	i.SetMaxWorkFactor(mostEffort)
	return &passphrase{recipient: r, identity: i}, nil
}

// Wrap is called by age for a file that is written.
func (p *passphrase) Wrap(key []byte) ([]*age.Stanza, error) {
	head, err := p.recipient.Wrap(key)
	if err == nil {
		p.head, p.key = head[0], slices.Clone(key)
	}
	return head, err
}

// Unwrap is called by age for a file that is read.
func (p *passphrase) Unwrap(heads []*age.Stanza) ([]byte, error) {
	if len(heads) == 1 && p.head != nil && same(heads[0], p.head) {
		return slices.Clone(p.key), nil
	}
	key, err := p.identity.Unwrap(heads)
	if err == nil {
		p.head, p.key = heads[0], slices.Clone(key)
	}
	return key, err
}

func same(a, b *age.Stanza) bool {
	return a.Type == b.Type && slices.Equal(a.Args, b.Args) && slices.Equal(a.Body, b.Body)
}
