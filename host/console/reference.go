package console

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

const (
	maskedPrefix = "masked:"
	maxReferred  = 200 // bytes of a name that links and forms have as it is
)

// references name tools, resources and prompts in links and forms. A name that a page does not
// show as it is, such as one with a secret, is named by a digest. The digest has a key of the
// process, so a secret that is easy to guess cannot be found with it. The Server's views have
// one. They are immutable and may be used concurrently.
type references struct {
	key   []byte
	texts texts
}

// newReferences returns references with a new key. Only newViews calls it.
func newReferences(t texts) *references {
	key := make([]byte, sha256.Size)
	_, _ = rand.Read(key) // it never fails
	return &references{key, t}
}

// of returns what names a name in a link or a form. It ends with the process if it is a digest.
func (r *references) of(name string) string {
	if len(name) <= maxReferred && r.texts.plain(name) == name {
		return name
	}
	return r.digest(name)
}

// means reports whether a text of a link or a form names a name.
func (r *references) means(given, name string) bool {
	return given == name || isDigest(given) && hmac.Equal([]byte(given), []byte(r.digest(name)))
}

func isDigest(given string) bool { return strings.HasPrefix(given, maskedPrefix) }

func (r *references) digest(name string) string {
	h := hmac.New(sha256.New, r.key)
	_, _ = h.Write([]byte(name))
	return maskedPrefix + hex.EncodeToString(h.Sum(nil)[:16])
}

// unmasked returns a URI that a person wrote after the masked form of a template, with what the
// form masks. ok is false if that cannot be told.
func (r *references) unmasked(uri, template string) (_ string, ok bool) {
	shown := r.texts.plain(template)
	if shown == template {
		return uri, true
	}
	same := 0
	for same < min(len(shown), len(template)) && shown[same] == template[same] {
		same++
	}
	end := 0
	for end < min(len(shown), len(template))-same && shown[len(shown)-1-end] == template[len(template)-1-end] {
		end++
	}
	mask, secret := shown[same:len(shown)-end], template[same:len(template)-end]
	if mask == "" || strings.ContainsAny(secret, "{}") || strings.Count(shown, mask) != 1 ||
		strings.Count(uri, mask) != 1 {
		return "", false
	}
	return strings.Replace(uri, mask, secret, 1), true
}
