package secret

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"

	"filippo.io/age"
)

// A file is one line of text and an age message. The line is
//
//	junctor secrets VERSION SHA256
//
// with the digest of the message. It tells a damaged file from a wrong password,
// which age alone cannot.
const (
	magic   = "junctor secrets "
	version = 1

	maxWorkFactor = 20

	maxFile = 16 << 20
)

// scryptWorkFactor makes guessing a password expensive: 2^15 rounds of scrypt, which
// take 32 MiB and 0.1 s. A test binary uses less, whatever program a test starts it as.
var scryptWorkFactor = workFactor(testing.Testing())

func workFactor(inTest bool) int {
	if inTest {
		return 10
	}
	return 15
}

var (
	errDamaged  = errors.New("damaged")
	errPassword = errors.New("wrong password")
	errNewer    = errors.New("written by a newer version")
)

// content is the plaintext, encoded as JSON. It is the format of the file: members may be added
// only.
type content struct {
	Items map[string]item `json:"items"`
}

type item struct {
	Value []byte `json:"value"`
	Label string `json:"label,omitempty"`
}

// seal encrypts content and returns the file.
func seal(c *content, p *passphrase) ([]byte, error) {
	plain, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	defer clear(plain)
	var message bytes.Buffer
	w, err := age.Encrypt(&message, p)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(plain); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	sum := sha256.Sum256(message.Bytes())
	line := fmt.Sprintf("%s%d %x\n", magic, version, sum)
	return append([]byte(line), message.Bytes()...), nil
}

// parseFile checks the first line of a file and returns the age message. It needs no
// password.
func parseFile(file []byte) (message []byte, err error) {
	line, message, ok := bytes.Cut(file, []byte("\n"))
	rest, ours := strings.CutPrefix(string(line), magic)
	made, sum, two := strings.Cut(rest, " ")
	number, err := strconv.Atoi(made)
	switch {
	case len(file) > maxFile:
		return nil, fmt.Errorf("%w: it exceeds %d bytes", errDamaged, maxFile)
	case !ours || !two || err != nil || number < 1:
		return nil, fmt.Errorf("%w: its first line is not that of an encrypted file of Junctor", errDamaged)
	case number > version:
		return nil, fmt.Errorf("%w of Junctor, in format %d", errNewer, number)
	}
	if got := sha256.Sum256(message); !ok || hex.EncodeToString(got[:]) != sum {
		return nil, fmt.Errorf("%w: its digest does not match", errDamaged)
	}
	return message, nil
}

// unseal decrypts a message from parseFile.
func unseal(message []byte, p *passphrase) (*content, error) {
	r, err := age.Decrypt(bytes.NewReader(message), p)
	if _, ok := errors.AsType[*age.NoIdentityMatchError](err); ok {
		return nil, errPassword
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %v", errDamaged, err)
	}
	plain, err := io.ReadAll(io.LimitReader(r, maxFile))
	defer clear(plain)
	if err != nil {
		return nil, fmt.Errorf("%w: %v", errDamaged, err)
	}
	c := new(content)
	if err := json.Unmarshal(plain, c); err != nil {
		return nil, fmt.Errorf("%w: its content is not JSON", errDamaged)
	}
	if c.Items == nil {
		c.Items = map[string]item{}
	}
	return c, nil
}

// A passphrase encrypts and decrypts files. It caches the key of the last file, which
// scrypt needs 0.1 s to derive from the password and the salt. An unchanged file is
// thus opened at once. Each File has its own passphrase and uses it for one call at
// a time. The token of the File guards it.
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
