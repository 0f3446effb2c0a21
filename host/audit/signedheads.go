package audit

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/junctor-mcp/junctor/host/fault"
)

// headEvery is the longest time between two heads while rows are written. The writer signs
// heads on its goroutine; the verb that verifies a log reads them. The functions of this file
// keep no state, and read or write the files that they are given.
const headEvery = time.Hour

// headsSuffix is added to the path of a log for the file with its signed heads. Each line is
// HEAD TIME SIGNATURE.
const headsSuffix = ".heads"

// maxHeads bounds a file with heads, in bytes: a head an hour for ten years is less.
const maxHeads = 32 << 20

// headMessage returns what is signed of a head. The form of a head and its signature are what
// users check with other programs: they must stay.
func headMessage(head, at string) []byte {
	return []byte("junctor audit head 1\n" + head + "\n" + at + "\n")
}

// signHead returns the line of a head.
func signHead(key ed25519.PrivateKey, head string, now time.Time) string {
	at := now.UTC().Format(time.RFC3339)
	return head + " " + at + " " + base64.StdEncoding.EncodeToString(ed25519.Sign(key, headMessage(head, at)))
}

// keepHead signs a head and appends it to the file beside the log. It returns the signature.
func keepHead(key ed25519.PrivateKey, path, head string, now time.Time) (signed string, err error) {
	signed = signHead(key, head, now)
	f, err := os.OpenFile(path+headsSuffix, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return signed, err
	}
	_, err = f.WriteString(signed + "\n")
	return signed, errors.Join(err, f.Sync(), f.Close())
}

// SignedHeads returns the heads in the file beside a log whose signatures are valid, the
// oldest one first, and a finding for each other line.
func SignedHeads(path string, key ed25519.PublicKey) (heads []string, bad []Finding, err error) {
	name := path + headsSuffix
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil, fault.New(fault.AuditUnknown, "there are no signed heads at %s", name).
			WithHint(
				"sign_key in the audit block signs them; without them, only verify without --public-key is possible",
			)
	case err != nil:
		return nil, nil, err
	case info.Size() > maxHeads:
		return nil, nil, fault.New(fault.AuditFile, "%s has %d bytes, more than %d", name, info.Size(), maxHeads).
			WithHint("keep its last lines only")
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, nil, err
	}
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		seq, ok := int64(0), len(fields) == 3
		if ok {
			seq, _, ok = ParseHead(fields[0])
		}
		if ok {
			signature, err := base64.StdEncoding.DecodeString(fields[2])
			ok = err == nil && ed25519.Verify(key, headMessage(fields[0], fields[1]), signature)
		}
		switch {
		case ok:
			heads = append(heads, fields[0])
		case len(bad) < maxFindings:
			bad = append(bad, Finding{seq, "altered", "the signature of a head is not valid"})
		}
	}
	if len(heads) == 0 {
		bad = append(bad, Finding{0, "removed", "there is no head with a valid signature"})
	}
	return heads, bad, nil
}

// LoadSignKey reads a private key from a PEM file that only its owner can read.
func LoadSignKey(path string) (ed25519.PrivateKey, error) {
	info, err := os.Stat(path)
	if err == nil && writableBits && info.Mode().Perm()&0o077 != 0 {
		return nil, keyFault(path, errors.New("other users can use it"), "run `chmod 600 "+path+"`")
	}
	parsed, err := readKey(path, "PRIVATE KEY", x509.ParsePKCS8PrivateKey)
	if err != nil {
		return nil, keyFault(path, err, "make one with `openssl genpkey -algorithm ed25519 -out FILE`")
	}
	key, ok := parsed.(ed25519.PrivateKey)
	if !ok {
		return nil, keyFault(path, fmt.Errorf("it is a %T", parsed), "use a key of the kind ed25519")
	}
	return key, nil
}

// LoadPublicKey reads the public key that heads are checked with.
func LoadPublicKey(path string) (ed25519.PublicKey, error) {
	parsed, err := readKey(path, "PUBLIC KEY", x509.ParsePKIXPublicKey)
	if err != nil {
		return nil, keyFault(path, err, "make one with `openssl pkey -in KEY -pubout -out FILE`")
	}
	key, ok := parsed.(ed25519.PublicKey)
	if !ok {
		return nil, keyFault(path, fmt.Errorf("it is a %T", parsed), "use a key of the kind ed25519")
	}
	return key, nil
}

func keyFault(path string, why error, hint string) error {
	return fault.New(fault.AuditFile, "the key %s of the audit log cannot be used: %v", path, why).WithHint("%s", hint)
}

// maxKey bounds the file of a key, in bytes.
const maxKey = 16 << 10

func readKey(path, kind string, parse func([]byte) (any, error)) (any, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular() || info.Size() > maxKey:
		return nil, errors.New("it is not a file of a key")
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(text)
	if block == nil || block.Type != kind {
		return nil, fmt.Errorf("it has no PEM block %q", kind)
	}
	return parse(block.Bytes)
}
