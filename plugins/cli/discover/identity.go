package discover

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

const (
	maxDigests = 256     // remembered digests
	maxHashed  = 1 << 30 // bytes of a program whose content is read; a larger one is known by its size and time
)

// A stamp identifies a file without reading it, together with its digest.
// Hashing a large binary takes a tenth of a second.
type stamp struct {
	Path     string
	Size     int64
	Modified int64 // ns
	Inode    uint64
	Digest   string
}

const digestFile = "digests.json"

// digest returns the hex SHA-256 of an executable. For a script it is the hash
// of the script alone, without the files that it loads.
func (c cache) digest(path string) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", err
	}
	// A tool may have put a named pipe there, which an open would wait for.
	f, err := os.OpenFile(real, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, os.ErrPermission) {
		return unreadable(real)
	}
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return "", err
	case !info.Mode().IsRegular():
		return "", errors.New("it is not a regular file")
	case info.Size() > maxHashed:
		return unreadable(real)
	}
	now := stamp{Path: real, Size: info.Size(), Modified: info.ModTime().UnixNano(), Inode: inode(info)}
	var known []stamp
	if text, ok := c.read(digestFile); ok {
		_ = json.Unmarshal(text, &known)
	}
	for _, s := range known {
		if digest := s.Digest; len(digest) == 2*sha256.Size {
			if s.Digest = ""; s == now {
				return digest, nil
			}
		}
	}
	h := sha256.New()
	if _, err := io.Copy(h, io.LimitReader(f, maxHashed)); err != nil { // it may grow
		return "", err
	}
	now.Digest = hex.EncodeToString(h.Sum(nil))
	known = slices.DeleteFunc(known, func(s stamp) bool { return s.Path == real })
	known = append(known, now)
	text, err := json.Marshal(known[max(0, len(known)-maxDigests):])
	if err == nil {
		c.write(digestFile, text)
	}
	return now.Digest, nil
}

// unreadable returns a substitute for the digest of a program that may be run
// but not read, or is too large for that. It changes with the file's size, time or inode.
func unreadable(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(stamp{Path: path, Size: info.Size(), Modified: info.ModTime().UnixNano(),
		Inode: inode(info)})
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), nil
}

// keyOf returns the key of a result: a hash of everything that it depends on,
// including the executable of this plugin, because a newer plugin may
// understand more.
func (c cache) keyOf(o *Options, digest string) string {
	own := ""
	if self, err := os.Executable(); err == nil && c.dir != "" {
		own, _ = c.digest(self)
	}
	return hashed(struct {
		Depth, Nodes          int
		Own, Digest           string
		Command, Only, Except []string
	}{o.Depth, o.Nodes, own, digest, o.Command, o.Only, o.Except})
}

// keyOfAnswers returns the key for the answers of a program. It does not depend
// on the selected commands.
func (c cache) keyOfAnswers(o *Options, digest string) string {
	return hashed(struct {
		Digest, Dir string
		Command     []string
		Time        time.Duration
		Output      int
		Environment []string
	}{digest, o.Dir, o.Command, o.ProbeTime, o.ProbeOutput, fixed})
}

// hashed returns the hex SHA-256 of v as JSON.
func hashed(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // strings and numbers can always be encoded
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
