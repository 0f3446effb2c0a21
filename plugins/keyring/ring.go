package main

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/99designs/keyring"

	"github.com/junctor-mcp/junctor/sdk"
)

// A ring stores values of any size in items of at most itemSize bytes, the
// limit of Windows. A value has one head item that begins with the line
//
//	1 SHA256 LENGTH GENERATION\n
//
// The value follows the line if it fits. Otherwise further items hold its
// pieces. Each write uses new names for the pieces and writes the head last. A
// reader therefore finds the old value or the new one, and the digest reveals a
// mixture.
type ring struct{ keyring.Keyring }

const (
	itemSize  = 2 << 10
	headMost  = 128 // maximum length of the line of a head
	inline    = "-" // generation of a value without pieces
	headItems = "junctor:"
	pieceItem = "junctor-piece:"
	canary    = "junctor-canary"
	// tries is the maximum number of reads of a value that changes
	// meanwhile.
	tries = 3
)

// canarySays is the value of the canary, which is not secret. It is written
// before the first secret and read back, to detect a key ring that loses data
// or cannot be written.
var canarySays = []byte("Junctor keeps secrets in this key ring.")

// item returns the data of an item, or nil if it does not exist.
func (r *ring) item(name string) ([]byte, error) {
	i, err := r.Get(name)
	if errors.Is(err, keyring.ErrKeyNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, said(err)
	}
	if i.Data == nil {
		i.Data = []byte{}
	}
	return i.Data, nil
}

func (r *ring) put(name string, data []byte) error {
	return said(r.Set(keyring.Item{Key: name, Data: data, Label: "Junctor", Description: "a secret of Junctor's"}))
}

func (r *ring) drop(name string) error {
	if err := r.Remove(name); !errors.Is(err, keyring.ErrKeyNotFound) {
		return said(err)
	}
	return nil
}

// said converts an error of the library to an [sdk.Error]. The library has no
// types for its errors.
func said(err error) error {
	if err != nil && strings.Contains(strings.ToLower(err.Error()), "locked") {
		return locked("the key ring is locked: %v", err)
	}
	return err
}

// A head is the first line of a value.
type head struct {
	sum  string
	size int
	gen  string
}

func (h head) line() []byte { return fmt.Appendf(nil, "1 %s %d %s\n", h.sum, h.size, h.gen) }

func (h head) pieces() int {
	if h.gen == inline {
		return 0
	}
	return (h.size + itemSize - 1) / itemSize
}

func (h head) piece(key string, i int) string {
	return pieceItem + h.gen + "." + strconv.Itoa(i) + ":" + key
}

func parseHead(item []byte) (h head, rest []byte, err error) {
	line, rest, ok := bytes.Cut(item, []byte("\n"))
	words := strings.Split(string(line), " ")
	if !ok || len(words) != 4 || words[0] != "1" {
		return head{}, nil, damaged("an item of the key ring does not contain a secret of Junctor")
	}
	h = head{sum: words[1], gen: words[3]}
	if h.size, err = strconv.Atoi(words[2]); err != nil || h.size < 0 || h.size > sdk.MaxSecret {
		return head{}, nil, damaged("the key ring has a secret of %.20q bytes", words[2])
	}
	return h, rest, nil
}

func digest(value []byte) string {
	sum := sha256.Sum256(value)
	return hex.EncodeToString(sum[:])
}

// get returns a value. It retries if the value was replaced while it was read.
func (r *ring) get(key string) (value []byte, found bool, err error) {
	for range tries {
		var first []byte
		if first, err = r.item(headItems + key); err != nil || first == nil {
			return nil, false, err
		}
		if value, err = r.collect(key, first); err == nil {
			return value, true, nil
		}
		if again, _ := r.item(headItems + key); bytes.Equal(again, first) {
			break
		}
	}
	return nil, false, err
}

// collect assembles a value from its head and pieces.
func (r *ring) collect(key string, first []byte) ([]byte, error) {
	h, value, err := parseHead(first)
	if err != nil {
		return nil, err
	}
	for i := range h.pieces() {
		piece, err := r.item(h.piece(key, i))
		if err != nil {
			return nil, err
		}
		if piece == nil {
			return nil, damaged("the key ring lacks piece %d of %d of a secret", i+1, h.pieces())
		}
		value = append(value, piece...)
	}
	if len(value) != h.size || digest(value) != h.sum {
		return nil, damaged("the digest of a secret in the key ring does not match")
	}
	return value, nil
}

// set stores a value: first the pieces, then the head. Then it deletes the
// pieces of the old value.
func (r *ring) set(key string, value []byte) error {
	if len(value) > sdk.MaxSecret {
		return &sdk.Error{Code: sdk.Invalid,
			Message: fmt.Sprintf("a secret of %d bytes is too large for the key ring, which takes %d",
				len(value), sdk.MaxSecret),
			Hint: "keep it in a file and read it with file()"}
	}
	if err := r.try(); err != nil {
		return err
	}
	old, err := r.item(headItems + key)
	if err != nil {
		return err
	}
	h, last := head{sum: digest(value), size: len(value), gen: inline}, value
	if len(value) > itemSize-headMost {
		h.gen, last = rand.Text(), nil
	}
	for i := range h.pieces() {
		if err := r.put(h.piece(key, i), value[i*itemSize:min((i+1)*itemSize, len(value))]); err != nil {
			return err
		}
	}
	if err := r.put(headItems+key, append(h.line(), last...)); err != nil {
		return err
	}
	if before, _, err := parseHead(old); err == nil {
		for i := range before.pieces() {
			_ = r.drop(before.piece(key, i)) // deleting the secret removes those that are left
		}
	}
	return nil
}

// try checks that the key ring stores what is written to it.
func (r *ring) try() error {
	is, err := r.item(canary)
	if err == nil && is == nil {
		if err = r.put(canary, canarySays); err == nil {
			is, err = r.item(canary)
		}
	}
	if err == nil && !bytes.Equal(is, canarySays) {
		return damaged("the key ring does not return the data that was stored in it")
	}
	return err
}

// delete removes a value: the head, then all pieces of the key.
func (r *ring) delete(key string) error {
	first, err := r.item(headItems + key)
	if err != nil || first == nil {
		return err
	}
	if err := r.drop(headItems + key); err != nil {
		return err
	}
	names, err := r.Keys()
	if err != nil {
		return said(err)
	}
	for _, name := range names {
		if strings.HasPrefix(name, pieceItem) && strings.HasSuffix(name, ":"+key) {
			if err := r.drop(name); err != nil {
				return err
			}
		}
	}
	return nil
}

// keys returns the keys of all values.
func (r *ring) keys() ([]string, error) {
	names, err := r.Keys()
	if err != nil {
		return nil, said(err)
	}
	keys := []string{}
	for _, name := range names {
		if key, ours := strings.CutPrefix(name, headItems); ours {
			keys = append(keys, key)
		}
	}
	return keys, nil
}
