package secret

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"filippo.io/age"
)

// A file is one line of text and a message of age's. The line is
//
//	junctor secrets VERSION SHA256
//
// with the digest of the message, so that a damaged file and a wrong password
// are told apart: encryption alone makes them the same.
const (
	magic   = "junctor secrets "
	version = 1

	mostEffort = 20

	mostFile = 16 << 20
)

// effort is what a password costs whoever guesses: 2^15 rounds of scrypt, which
// take 32 MiB and a tenth of a second. Tests that are not about it take less.
var effort = 15

var (
	errDamaged  = errors.New("damaged")
	errPassword = errors.New("the password is not the right one")
	errNewer    = errors.New("written by a newer version")
)

// content is what is encrypted, as JSON.
type content struct {
	Items map[string]item `json:"items"`
}

type item struct {
	Value []byte `json:"value"`
	Label string `json:"label,omitempty"`
}

// seal encrypts what there is.
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

// vet finds the message in a file, without a password.
func vet(file []byte) (message []byte, err error) {
	line, message, ok := bytes.Cut(file, []byte("\n"))
	rest, ours := strings.CutPrefix(string(line), magic)
	made, sum, two := strings.Cut(rest, " ")
	number, err := strconv.Atoi(made)
	switch {
	case len(file) > mostFile:
		return nil, fmt.Errorf("%w: it has more than %d bytes", errDamaged, mostFile)
	case !ours || !two || err != nil || number < 1:
		return nil, fmt.Errorf("%w: it does not begin as such a file does", errDamaged)
	case number > version:
		return nil, fmt.Errorf("%w of Junctor, in format %d", errNewer, number)
	}
	if got := sha256.Sum256(message); !ok || hex.EncodeToString(got[:]) != sum {
		return nil, fmt.Errorf("%w: it is not as long as it was, or was changed", errDamaged)
	}
	return message, nil
}

// unseal decrypts a message that was vetted.
func unseal(message []byte, p *passphrase) (*content, error) {
	r, err := age.Decrypt(bytes.NewReader(message), p)
	if _, ok := errors.AsType[*age.NoIdentityMatchError](err); ok {
		return nil, errPassword
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %v", errDamaged, err)
	}
	plain, err := io.ReadAll(io.LimitReader(r, mostFile))
	defer clear(plain)
	if err != nil {
		return nil, fmt.Errorf("%w: %v", errDamaged, err)
	}
	c := new(content)
	if err := json.Unmarshal(plain, c); err != nil {
		return nil, fmt.Errorf("%w: it holds no secrets", errDamaged)
	}
	if c.Items == nil {
		c.Items = map[string]item{}
	}
	return c, nil
}
