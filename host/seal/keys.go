package seal

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/google/renameio/v2/maybe"

	"github.com/junctor-mcp/junctor/host/filelock"
	"github.com/junctor-mcp/junctor/host/ownership"
)

const (
	keyFile  = "key"
	lockFile = "key.lock"
	usesFile = "uses.sqlite"

	maxKeys  = 16
	maxFile  = 4 << 10         // bytes of the key file
	lockTime = 5 * time.Second // for another process that creates the key
)

// An UnwritableError says that a directory cannot hold keys. The caller may use keys in memory.
type UnwritableError struct {
	Dir string
	Err error
}

func (e *UnwritableError) Error() string {
	return fmt.Sprintf("%s cannot be written: %v", e.Dir, e.Err)
}

// Unwrap returns the cause.
func (e *UnwritableError) Unwrap() error { return e.Err }

// An UnsafeError says that others could read or change a file or directory of keys, or that the
// file is damaged. Command corrects it.
type UnsafeError struct{ Path, Why, Command string }

func (e *UnsafeError) Error() string { return e.Path + " " + e.Why }

// OpenDir returns the keys and the uses of the tokens of all processes that use a directory.
// The key file has a key a line: the first seals. OpenDir creates directory and file if
// they are missing. The error is an [UnwritableError], an [UnsafeError], or that of a file that
// cannot be read. It may block for lockTime. Package host calls it at the start of a process.
func OpenDir(dir string) ([]Key, *File, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, nil, &UnwritableError{dir, err}
	}
	if why, command := ownership.Readable(dir); why != "" {
		return nil, nil, &UnsafeError{dir, why, command}
	}
	ctx, cancel := context.WithTimeout(context.Background(), lockTime)
	defer cancel()
	release, err := filelock.Lock(ctx, filepath.Join(dir, lockFile))
	if err != nil {
		return nil, nil, &UnwritableError{dir, err}
	}
	defer release()
	path := filepath.Join(dir, keyFile)
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		k := NewKey()
		if err := maybe.WriteFile(path, append(k.text(), '\n'), 0o600); err != nil {
			return nil, nil, &UnwritableError{dir, err}
		}
	}
	keys, err := readKeys(path)
	if err != nil {
		return nil, nil, err
	}
	return keys, NewFile(filepath.Join(dir, usesFile)), nil
}

// text returns the key as a line of the key file has it.
func (k Key) text() []byte { return base64.RawURLEncoding.AppendEncode(nil, k[:]) }

// readKeys reads a key file that only this user can access.
func readKeys(path string) ([]Key, error) {
	if why, command := ownership.Readable(path); why != "" {
		return nil, &UnsafeError{path, why, command}
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, err
	}
	keys, err := parseKeys(text)
	if err != nil {
		return nil, &UnsafeError{path, err.Error(), "rm"}
	}
	return keys, nil
}

// parseKeys reads the text of a key file.
func parseKeys(text []byte) (keys []Key, err error) {
	if len(text) > maxFile {
		return nil, fmt.Errorf("has more than %d bytes", maxFile)
	}
	for number, line := range bytes.Split(bytes.TrimRight(text, "\n"), []byte("\n")) {
		b, err := base64.RawURLEncoding.Strict().DecodeString(string(line))
		if err != nil || len(b) != len(Key{}) {
			return nil, fmt.Errorf("has no key in line %d", number+1)
		}
		keys = append(keys, Key(b))
	}
	if len(keys) > maxKeys {
		return nil, fmt.Errorf("has %d keys, and at most %d are read", len(keys), maxKeys)
	}
	return keys, nil
}
