package seal

import (
	"bytes"
	"encoding/base64"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/junctor-mcp/junctor/testdata/bubble"
)

var someKey = Key{1, 2, 3}

func noteFor(d time.Duration) Note {
	return Note{ID: NewID(), Kind: 7, Expires: time.Now().Add(d), Data: []byte("state of a server")}
}

func sealed(t testing.TB, s *Codec, n Note, about string) string {
	t.Helper()
	token, err := s.Seal(n, []byte(about))
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// TestOpenReturnsTheNote: what was sealed comes back, and only for what it is about, with the
// same keys and in the same scope.
func TestOpenReturnsTheNote(t *testing.T) {
	s := New([]Key{someKey}, "here", nil)
	n := noteFor(time.Minute)
	token := sealed(t, s, n, "alice")
	got, err := s.Open(token, []byte("alice"))
	if err != nil || got.ID != n.ID || got.Kind != n.Kind || !bytes.Equal(got.Data, n.Data) ||
		got.Expires.UnixMilli() != n.Expires.UnixMilli() {
		t.Fatalf("%+v, %v", got, err)
	}
	if got, err := New([]Key{NewKey(), someKey}, "here", nil).Open(token, []byte("alice")); err != nil ||
		got.ID != n.ID {
		t.Errorf("a second key does not open the token: %v", err)
	}
	if strings.Contains(token, "state") || len(token) > 200 {
		t.Errorf("%s", token)
	}
	for what, open := range map[string]func() (Note, error){
		"about something else": func() (Note, error) { return s.Open(token, []byte("bob")) },
		"about nothing":        func() (Note, error) { return s.Open(token, nil) },
		"with another key": func() (Note, error) {
			return New([]Key{NewKey()}, "here", nil).Open(token, []byte("alice"))
		},
		"in another scope": func() (Note, error) {
			return New([]Key{someKey}, "there", nil).Open(token, []byte("alice"))
		},
		"with a part of it in scope": func() (Note, error) {
			return New([]Key{someKey}, "herea", nil).Open(token, []byte("lice"))
		},
	} {
		if n, err := open(); !errors.Is(err, ErrInvalid) || n.Data != nil {
			t.Errorf("%s: %+v, %v", what, n, err)
		}
	}
}

// TestEveryAlterationIsRefused changes each character of a token into others, and its length.
func TestEveryAlterationIsRefused(t *testing.T) {
	s := New([]Key{someKey}, "", nil)
	token := sealed(t, s, noteFor(time.Minute), "a")
	altered := []string{"", "junctor.", token + "A", token + "=", token + "\n", token[:20] + "\r\n" + token[20:],
		token[1:], token + token, " " + token, strings.ToUpper(token)}
	for i := range token {
		for bit := range 8 {
			b := []byte(token)
			b[i] ^= 1 << bit
			altered = append(altered, string(b))
		}
		altered = append(altered, token[:i], token[:i]+token[i+1:], token[:i]+"A"+token[i:])
	}
	for _, other := range altered {
		if _, err := s.Open(other, []byte("a")); !errors.Is(err, ErrInvalid) && other != token {
			t.Fatalf("%q: %v", other, err)
		}
	}
	if _, err := s.Open(token, []byte("a")); err != nil {
		t.Error(err)
	}
}

// TestTokensExpire opens a token before and after its time.
func TestTokensExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New([]Key{someKey}, "", nil)
		token := sealed(t, s, noteFor(time.Minute), "a")
		bubble.Sleep(time.Minute - time.Millisecond)
		if _, err := s.Open(token, []byte("a")); err != nil {
			t.Error(err)
		}
		bubble.Sleep(time.Millisecond)
		if _, err := s.Open(token, []byte("a")); !errors.Is(err, ErrExpired) {
			t.Error(err)
		}
		if _, err := s.Open(token, []byte("b")); !errors.Is(err, ErrInvalid) {
			t.Errorf("an expired token about something else: %v", err)
		}
	})
}

// TestDataIsBounded: the largest note fits, a larger one is refused, and so is a longer token.
func TestDataIsBounded(t *testing.T) {
	s := New([]Key{someKey}, "", nil)
	n := noteFor(time.Minute)
	n.Data = bytes.Repeat([]byte("x"), MaxData)
	token := sealed(t, s, n, "a")
	if got, err := s.Open(token, []byte("a")); err != nil || len(got.Data) != MaxData {
		t.Fatal(len(got.Data), err)
	}
	if len(token) != maxToken {
		t.Errorf("the longest token has %d bytes, and the limit is %d", len(token), maxToken)
	}
	n.Data = append(n.Data, 'x')
	if _, err := s.Seal(n, nil); err == nil ||
		!strings.Contains(err.Error(), "262145 bytes are more than the limit of 262144") {
		t.Error(err)
	}
	if _, err := s.Open(token+strings.Repeat("A", 1<<20), []byte("a")); !errors.Is(err, ErrInvalid) {
		t.Error(err)
	}
}

// canonical reports whether a token is the only text of its bytes.
func canonical(token string) bool {
	text, ok := strings.CutPrefix(token, "junctor.")
	raw, err := base64.RawURLEncoding.DecodeString(text)
	return ok && err == nil && base64.RawURLEncoding.EncodeToString(raw) == text
}

// FuzzOpen: no text but a token opens, and no two texts open as one token.
func FuzzOpen(f *testing.F) {
	s := New([]Key{someKey, {4}}, "s", nil)
	note := Note{ID: ID{9}, Kind: 1, Expires: time.Now().Add(1000 * time.Hour), Data: []byte("x")}
	token := sealed(f, s, note, "a")
	for _, seed := range []string{token, token[:len(token)-1], "junctor.", "junctor.AQ", "", "\n" + token,
		strings.Replace(token, "junctor.", "junctor.\n", 1)} {
		f.Add(seed, []byte("a"))
	}
	f.Fuzz(func(t *testing.T, text string, about []byte) {
		n, err := s.Open(text, about)
		switch {
		// Each process of the fuzzing has its own token.
		case err == nil && (!canonical(text) || string(about) != "a" || n.ID != note.ID || string(n.Data) != "x"):
			t.Errorf("%q about %q opens", text, about)
		case err != nil && (n.Data != nil || n.ID != ID{}):
			t.Errorf("an error with a note: %+v", n)
		}
	})
}
