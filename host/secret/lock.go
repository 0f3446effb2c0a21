package secret

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"github.com/junctor-mcp/junctor/host/fault"
)

// Waiting for a lock: whoever holds it writes one small file. It is tried again
// and again, for the system's own wait does not end with ctx.
const (
	lockPatience = 10 * time.Second
	lockPause    = 10 * time.Millisecond
)

// lockFile waits until no other process, and nobody else in this one, holds the
// lock of a path. It is the system's, so it ends with the process. The file
// stays: removing it would let two processes lock two files of one name.
func lockFile(ctx context.Context, path string) (release func(), err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, lockFault(path, err)
	}
	within, cancel := context.WithTimeout(ctx, lockPatience)
	defer cancel()
	l := flock.New(path, flock.SetPermissions(0o600))
	if _, err = l.TryLockContext(within, lockPause); err == nil {
		return func() { _ = l.Close() }, nil
	}
	_ = l.Close()
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case within.Err() != nil:
		err = errors.New("another process holds the lock")
	}
	return nil, lockFault(path, err)
}

func lockFault(path string, err error) error {
	return fault.Because(fault.SecretStore, err, "locking %s", path).
		WithHint("see that you may write to it, and that no other Junctor hangs")
}
