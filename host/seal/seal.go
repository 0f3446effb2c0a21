// Package seal seals what clients carry from one request to the next, and opens it again.
//
// A token is text that only a holder of the keys can make or read. It fits one purpose
// only: the caller names what it is about when it seals and when it opens, such as the
// client, the server and the params of a request. A token expires, and can be used once.
//
// The format is the prefix "junctor." and, in base64url without padding:
//
//	version   1 byte, 1
//	key       4 bytes, the first of the SHA-256 of the key
//	nonce    24 bytes, random
//	sealed    by XChaCha20-Poly1305: kind (1 byte), id (16), expiry (8, Unix time in
//	          milliseconds, big endian) and data, with a tag of 16 bytes
//
// The prefix, the version, the key and what the token is about are authenticated.
//
// Package host makes one Codec for a process with OpenDir and closes it; the gateway seals
// requestState with it. All exported types may be used concurrently. Seal and Open do not wait;
// Use and Return may wait for the file. seal.go has the tokens, keys.go the key file, and
// file.go and uses.go remember what was used. The format and the key file must stay: clients
// hold tokens across restarts, and processes of two releases share a directory.
package seal

import (
	"context"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/crypto/chacha20poly1305"
)

const (
	// MaxData limits the data in a token, in bytes.
	MaxData = 256 << 10

	prefix   = "junctor."
	version  = 1
	header   = 1 + 4 // version and key
	fixed    = 1 + len(ID{}) + 8
	overhead = header + chacha20poly1305.NonceSizeX + fixed + chacha20poly1305.Overhead
)

// maxToken bounds the tokens that are decoded, in bytes.
var maxToken = len(prefix) + base64.RawURLEncoding.EncodedLen(overhead+MaxData)

// The reasons why a token is refused. What is altered, from another process, or about
// something else cannot be told apart.
var (
	ErrInvalid = errors.New("the token was altered, was made elsewhere, or is about something else")
	ErrExpired = errors.New("the token has expired")
	ErrUsed    = errors.New("the token was used already")
)

// An ID identifies a token.
type ID [16]byte

// NewID returns a random ID.
func NewID() (id ID) {
	_, _ = rand.Read(id[:]) // never fails
	return id
}

// A Note is what a token holds. It is a value.
type Note struct {
	ID      ID
	Kind    byte // tells the notes of one Codec apart
	Expires time.Time
	Data    []byte // at most MaxData
}

// A Key is the secret that tokens are sealed with.
type Key [chacha20poly1305.KeySize]byte

// NewKey returns a random Key.
func NewKey() (k Key) {
	_, _ = rand.Read(k[:]) // never fails
	return k
}

// An opener is a key that is ready for use.
type opener struct {
	id   [4]byte
	aead cipher.AEAD
}

// A Codec seals and opens tokens. Its methods may be called concurrently. It is immutable but
// for uses. Close ends it.
type Codec struct {
	openers []opener // the first seals
	scope   string
	uses    Uses
}

// New returns a Codec. The first key seals, all open. Codecs with the same keys open each
// other's tokens if they have the same scope. uses remembers which were used; nil: the
// Codec does, in memory. There must be a key.
func New(keys []Key, scope string, uses Uses) *Codec {
	if uses == nil {
		uses = NewMemory()
	}
	s := &Codec{scope: scope, uses: uses}
	for _, k := range keys {
		aead, err := chacha20poly1305.NewX(k[:])
		if err != nil {
			panic(err) // the key has the right size
		}
		sum := sha256.Sum256(k[:])
		s.openers = append(s.openers, opener{[4]byte(sum[:4]), aead})
	}
	return s
}

// Seal returns the token of a note about something. It fails if the data is too large.
func (s *Codec) Seal(n Note, about []byte) (token string, err error) {
	if len(n.Data) > MaxData {
		return "", fmt.Errorf("%d bytes are more than the limit of %d", len(n.Data), MaxData)
	}
	o := s.openers[0]
	out := make([]byte, 0, overhead+len(n.Data))
	out = append(append(out, version), o.id[:]...)
	out = out[:header+chacha20poly1305.NonceSizeX]
	nonce := out[header:]
	_, _ = rand.Read(nonce) // never fails
	text := make([]byte, 0, fixed+len(n.Data))
	text = append(append(text, n.Kind), n.ID[:]...)
	text = binary.BigEndian.AppendUint64(text, uint64(n.Expires.UnixMilli()))
	text = append(text, n.Data...)
	out = o.aead.Seal(out, nonce, text, s.bind(out[:header], about))
	return prefix + base64.RawURLEncoding.EncodeToString(out), nil
}

// Open returns the note of a token about something. The error is ErrInvalid or ErrExpired.
// Open does not look whether the token was used.
func (s *Codec) Open(token string, about []byte) (Note, error) {
	text, ok := strings.CutPrefix(token, prefix)
	if !ok || len(token) > maxToken || strings.ContainsAny(text, "\r\n") { // the decoder skips line ends
		return Note{}, ErrInvalid
	}
	sealed, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(sealed) < overhead || sealed[0] != version {
		return Note{}, ErrInvalid
	}
	nonce, box := sealed[header:header+chacha20poly1305.NonceSizeX], sealed[header+chacha20poly1305.NonceSizeX:]
	for _, o := range s.openers {
		if !slices.Equal(sealed[1:header], o.id[:]) {
			continue
		}
		note, err := o.aead.Open(nil, nonce, box, s.bind(sealed[:header], about))
		if err != nil {
			continue // another key may have the same id
		}
		return parse(note)
	}
	return Note{}, ErrInvalid
}

// parse reads a note that was authenticated.
func parse(text []byte) (n Note, err error) {
	n.Kind, text = text[0], text[1:]
	text = text[copy(n.ID[:], text):]
	n.Expires, n.Data = time.UnixMilli(int64(binary.BigEndian.Uint64(text))), text[8:]
	if !time.Now().Before(n.Expires) {
		return Note{}, ErrExpired
	}
	return n, nil
}

// bind returns the additional data of a token.
func (s *Codec) bind(head, about []byte) []byte {
	b := make([]byte, 0, len(prefix)+header+8+len(s.scope)+len(about))
	b = append(append(b, prefix...), head...)
	b = binary.BigEndian.AppendUint64(b, uint64(len(s.scope)))
	return append(append(b, s.scope...), about...)
}

// Use marks a note as used. The error is ErrUsed for the second use, also in another process
// that shares uses, and otherwise says why the uses cannot be looked up.
func (s *Codec) Use(ctx context.Context, n Note) error {
	return s.uses.Add(ctx, n.ID, n.Expires)
}

// Return takes the use of a note back: nothing came of it, and the client may try again.
func (s *Codec) Return(ctx context.Context, n Note) error { return s.uses.Remove(ctx, n.ID) }

// Close closes the uses.
func (s *Codec) Close() error { return s.uses.Close() }
