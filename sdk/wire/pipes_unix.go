//go:build linux || darwin

package wire

import (
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
	"time"
)

// passesPipes reports whether this system can pass descriptors between processes.
const passesPipes = true

// firstByte is the byte that carries the descriptors.
const firstByte = 'P'

// pipeTime limits how long the host waits for the descriptors.
const pipeTime = 5 * time.Second

// passable reports whether a file may be passed to the host: a pipe or a socket. Only
// these have deadlines and do not block the host.
func passable(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&(os.ModeNamedPipe|os.ModeSocket) != 0 && info.Mode()&os.ModeCharDevice == 0
}

// sendPipes passes two files over a data socket, and closes them here.
func sendPipes(c *net.UnixConn, from, to *os.File) error {
	defer from.Close()
	defer to.Close()
	var fds [2]int
	for i, f := range []*os.File{from, to} {
		raw, err := f.SyscallConn()
		if err != nil {
			return err
		}
		// Control keeps the descriptor valid while it runs only. The files are not
		// closed before sendPipes returns.
		if err := raw.Control(func(fd uintptr) { fds[i] = int(fd) }); err != nil {
			return err
		}
	}
	_, _, err := c.WriteMsgUnix([]byte{firstByte}, syscall.UnixRights(fds[0], fds[1]), nil)
	return err
}

// receivePipes receives the two files of sendPipes. It accepts exactly two descriptors,
// of pipes or sockets, and closes any others.
func receivePipes(c *net.UnixConn) (from, to *os.File, err error) {
	if err := c.SetReadDeadline(time.Now().Add(pipeTime)); err != nil {
		return nil, nil, err
	}
	defer func() {
		if err == nil {
			err = c.SetReadDeadline(time.Time{})
		}
	}()
	first, rights := make([]byte, 1), make([]byte, syscall.CmsgSpace(4*4)) // space for more than two
	n, size, flags, _, err := c.ReadMsgUnix(first, rights)
	if err != nil {
		return nil, nil, fmt.Errorf("receive descriptors: %w", err)
	}
	fds, err := descriptors(rights[:size])
	if err == nil && (n != 1 || first[0] != firstByte || flags&syscall.MSG_CTRUNC != 0 || len(fds) != 2) {
		err = fmt.Errorf("%w: %d descriptors instead of two", ErrProtocol, len(fds))
	}
	var files []*os.File
	for _, fd := range fds {
		if err == nil {
			err = syscall.SetNonblock(fd, true) // before NewFile, which looks at it
		}
		files = append(files, os.NewFile(uintptr(fd), "server"))
	}
	for _, f := range files {
		if err == nil && !passable(f) {
			err = fmt.Errorf("%w: a descriptor is neither a pipe nor a socket", ErrProtocol)
		}
	}
	if err != nil {
		for _, f := range files {
			_ = f.Close()
		}
		return nil, nil, err
	}
	enlarge(files[0])
	return files[0], files[1], nil
}

// descriptors returns the descriptors in control messages. The caller closes them, also
// after an error.
func descriptors(text []byte) (fds []int, err error) {
	messages, err := syscall.ParseSocketControlMessage(text)
	if err != nil {
		return nil, errors.Join(ErrProtocol, err)
	}
	for _, m := range messages {
		some, err := syscall.ParseUnixRights(&m)
		if err != nil {
			return fds, errors.Join(ErrProtocol, err)
		}
		fds = append(fds, some...)
	}
	return fds, nil
}

// endSending ends sending on a socket, which may be open for receiving too. It does
// nothing to a pipe.
func endSending(f *os.File) {
	if raw, err := f.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) { _ = syscall.Shutdown(int(fd), syscall.SHUT_WR) })
	}
}
