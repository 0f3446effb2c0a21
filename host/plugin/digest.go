package plugin

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"path/filepath"
	"time"

	"github.com/junctor-mcp/junctor/host/cache"
	"github.com/junctor-mcp/junctor/host/fault"
)

// A knownDigest is the cached digest of a program. It is what the cache keeps, as JSON: a file
// with other members counts as none.
type knownDigest struct {
	File   string `json:"file"`   // fileVersion
	SHA256 string `json:"sha256"` // lower-case hex
}

// digestName returns the name of the cache file for a program.
func digestName(path string) string {
	sum := sha256.Sum256([]byte(path))
	return filepath.Join("programs", hex.EncodeToString(sum[:16])+".json")
}

// openRemembered opens and checks a program. It takes the digest from the cache if the
// program has not changed since it was hashed. Otherwise it hashes the program.
//
// A cached digest may identify a manifest. It does not prove what the program is: verify
// must succeed before the program runs, and a pin is compared with a computed digest only.
// describe.go calls it, and the reading of a digest alone.
func (s *knownPrograms) openRemembered(path string) (*program, error) {
	dir := s.opts.Cache
	b, err := openUnhashed(path)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	version, ok := fileVersion(b.stat)
	if ok {
		if b.digest = cachedDigest(dir, b.path, version); b.digest != "" {
			return b, nil
		}
	}
	if b.digest, err = b.hash(); err != nil {
		b.close()
		return nil, err
	}
	b.hashed = true
	if ok && lastChange(b.stat).Before(now.Add(-s.limits.settled)) {
		if text, err := json.Marshal(knownDigest{File: version, SHA256: b.digest}); err == nil {
			dir.Write(digestName(b.path), text)
		}
	}
	return b, nil
}

// digest returns the SHA-256 of the program at a path, as the file is now.
func (s *knownPrograms) digest(path string) (string, error) {
	b, err := s.openRemembered(path)
	if err != nil {
		return "", err
	}
	defer b.close()
	return b.digest, nil
}

// cachedDigest returns the cached digest of a version of a program, or "".
func cachedDigest(dir cache.Dir, path, version string) string {
	text, ok := dir.Read(digestName(path))
	if !ok {
		return ""
	}
	var known knownDigest
	if json.Unmarshal(text, &known) != nil || known.File != version {
		return ""
	}
	// The digest becomes part of a file name.
	if sum, err := hex.DecodeString(known.SHA256); err != nil || hex.EncodeToString(sum) != known.SHA256 ||
		len(sum) != sha256.Size {
		return ""
	}
	return known.SHA256
}

// verify hashes the open file and fails if the digest is another one. A success is
// remembered. It may be called concurrently, and blocks while the file is hashed.
func (b *program) verify(dir cache.Dir) error {
	b.verifying.Lock()
	defer b.verifying.Unlock()
	if b.hashed {
		return nil
	}
	digest, err := b.hash()
	switch {
	case err != nil:
		return err
	case digest != b.digest:
		dir.Write(digestName(b.path), nil)
		return fault.New(fault.PluginChecksum, "%s has sha256 %s, the cache of digests has %s for it",
			b.path, digest, b.digest).
			WithHint("start junctor again; it has removed the digest from the cache")
	}
	b.hashed = true
	return nil
}
