package secret

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/filelock"
)

// newPasswordBytes is the size of a generated password, 256 bits.
const newPasswordBytes = 32

// KeptPath returns the path in dir of the file that keeps the password of an encrypted
// file. An encrypted file elsewhere may lie in a project that is published: its password
// is never kept beside it. This file has the files that hold passwords; password.go chooses the
// source.
func KeptPath(dir, encrypted string) string {
	name := filepath.Base(encrypted)
	if filepath.Dir(encrypted) != dir {
		name = digest(encrypted)
	}
	return filepath.Join(dir, name+".password")
}

// kept reads the kept password. found is false without one. The functions of this file keep no
// state.
func kept(path string) (password []byte, found bool, err error) {
	if path == "" {
		return nil, false, nil
	}
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	password, err = passwordFile(path)
	return password, true, err
}

// keepNew generates a password and keeps it. Of processes that do so at once, all return
// the password of the first.
func keepNew(ctx context.Context, path string) ([]byte, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, unkept(path, err)
	}
	unlock, err := filelock.Lock(ctx, path+".lock")
	if err != nil {
		return nil, lockFault(path+".lock", err)
	}
	defer unlock()
	if password, found, err := kept(path); found {
		return password, err
	}
	raw := make([]byte, newPasswordBytes)
	_, _ = rand.Read(raw) // never fails
	password := []byte(base64.RawURLEncoding.EncodeToString(raw))
	return password, keep(path, password)
}

// keep writes the password to a file that only this user can read.
func keep(path string, password []byte) error {
	text := append(append([]byte{}, password...), '\n')
	defer clear(text)
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if err == nil {
		err = replace(path, text)
	}
	if err != nil {
		return unkept(path, err)
	}
	return nil
}

func unkept(path string, err error) error {
	return fault.Because(fault.SecretStore, err, "keeping the password in %s", path).
		WithHint("check that you may write to %s and that the disk has space", filepath.Dir(path))
}

const (
	maxPassword = 4 << 10 // bytes

	fileVariable = "JUNCTOR_SECRETS_PASSWORD_FILE"
	fdVariable   = "JUNCTOR_SECRETS_PASSWORD_FD"

	passwordHint = "run `junctor secret unlock` on a terminal, which keeps the password in a file that only you can read; or name such a file " +
		"(password_file in the secret_store block, or " + fileVariable + ") or a descriptor (password_fd, or " +
		fdVariable + ")"
)

// passwordFile reads the first line of a file that only this user can read.
func passwordFile(path string) ([]byte, error) {
	hint := "the first line of a file that only you can read is the password: chmod 600 " + path
	info, err := os.Stat(path)
	if err != nil {
		return nil, fault.Because(fault.SecretLocked, err, "the password file").WithHint("%s", hint)
	}
	if !info.Mode().IsRegular() {
		return nil, fault.New(fault.SecretLocked, "the password file %s is not a regular file", path).
			WithHint("to read from a pipe, pass its descriptor: password_fd, or %s", fdVariable)
	}
	if !private(info) {
		return nil, fault.New(fault.SecretLocked,
			"other users may read or write the password file %s: its mode is %04o", path, info.Mode().Perm()).
			WithHint("%s", hint)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fault.Because(fault.SecretLocked, err, "the password file").WithHint("%s", hint)
	}
	defer f.Close()
	return firstLine(f, "the password file "+path)
}

// firstLine reads up to the end of the line or of the input.
func firstLine(r io.Reader, from string) ([]byte, error) {
	var line [maxPassword + 1]byte
	defer clear(line[:])
	n := 0
	for n < len(line) && !bytes.ContainsRune(line[:n], '\n') {
		m, err := r.Read(line[n:])
		n += m
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, fault.Because(fault.SecretLocked, err, "reading %s", from).WithHint("%s", passwordHint)
		}
	}
	text, _, _ := bytes.Cut(line[:n], []byte("\n"))
	text = bytes.TrimSuffix(text, []byte("\r"))
	switch {
	case len(text) == 0:
		return nil, fault.New(fault.SecretLocked, "the first line of %s is empty", from).WithHint("%s", passwordHint)
	case len(text) > maxPassword:
		return nil, fault.New(fault.SecretLocked, "the first line of %s exceeds %d bytes", from, maxPassword).
			WithHint("%s", passwordHint)
	}
	return bytes.Clone(text), nil
}
