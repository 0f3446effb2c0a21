// Package filelock takes locks that exclude other processes, by means of files.
//
// The operating system owns such a lock, so it ends with the process that holds it.
package filelock

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

// poll is the time between two attempts. The system's own wait does not end with a
// context.
const poll = 10 * time.Millisecond

// Lock waits until it holds the lock of the file at path, and returns the function
// that releases it. The lock excludes other processes and other calls in this one. Lock
// creates the file and its directories if needed; only this user can access them. It
// fails with ctx's error when ctx ends first, and if the file cannot be created or
// locked.
//
// The file stays after the release. Removing it would let two processes lock two
// different files of the same name.
func Lock(ctx context.Context, path string) (release func(), err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	l := flock.New(path, flock.SetPermissions(0o600))
	if _, err := l.TryLockContext(ctx, poll); err != nil {
		_ = l.Close()
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, fmt.Errorf("locking %s: %w", path, err)
	}
	return func() { _ = l.Close() }, nil
}
