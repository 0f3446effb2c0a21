package credential

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

// lockPoll is how often a lock that another process has is tried: it cannot be
// waited for in a way that ctx ends.
const lockPoll = 25 * time.Millisecond

// LockFile is a lock between processes, and between brokers of one process, for
// [Options]. Whoever holds it loses it with its process. The file is made when it
// is needed and stays: removing it would let two hold the lock.
func LockFile(path string) func(context.Context) (release func(), err error) {
	return func(ctx context.Context) (func(), error) {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return nil, err
		}
		l := flock.New(path, flock.SetPermissions(0o600))
		locked, err := l.TryLockContext(ctx, lockPoll)
		if err != nil || !locked {
			_ = l.Close()
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			return nil, fmt.Errorf("locking %s: %w", path, err)
		}
		return func() { _ = l.Close() }, nil
	}
}
