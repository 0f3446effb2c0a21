// Package regularfile reads files that another program may have replaced by something that
// has effects or never ends, such as a device or a named pipe.
package regularfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// ErrIrregular is the error for anything but a regular file.
var ErrIrregular = errors.New("not a regular file")

// A TooLargeError is the error for a file that is larger than the limit.
type TooLargeError struct{ Limit int64 } // in bytes

func (e *TooLargeError) Error() string { return fmt.Sprintf("larger than %d bytes", e.Limit) }

// Read reads a regular file of at most limit bytes. It checks the type of the file before
// it opens it, because opening a device can have effects. It opens without blocking,
// because a named pipe would wait for a writer. It checks the type again afterwards, because the
// file may have been replaced. Errors are of the type [*fs.PathError].
func Read(path string, limit int64) ([]byte, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "read", Path: path, Err: ErrIrregular}
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "read", Path: path, Err: ErrIrregular}
	}
	text, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(text)) > limit {
		err = &fs.PathError{Op: "read", Path: path, Err: &TooLargeError{limit}}
	}
	if err != nil {
		return nil, err
	}
	return text, nil
}
