package secret

import (
	"bytes"
	"context"
	"io"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/junctor-mcp/junctor/host/fault"
)

const (
	maxPassword = 4 << 10
	// fdPatience is how long a read from the descriptor may take.
	fdPatience = 5 * time.Second

	fileVariable = "JUNCTOR_SECRETS_PASSWORD_FILE"
	fdVariable   = "JUNCTOR_SECRETS_PASSWORD_FD"

	passwordHint = "run `junctor secret unlock` on a terminal, which keeps the password in a file that only you can read; or name such a file " +
		"(password_file in the secret_store block, or " + fileVariable + ") or a descriptor (password_fd, or " + fdVariable + ")"
)

// PasswordVariables are the variables that lead to the password.
var PasswordVariables = []string{fileVariable, fdVariable}

// PasswordOptions are the sources of the password of the encrypted file.
type PasswordOptions struct {
	File   string // password_file
	FD     int    // password_fd; 0 means none, otherwise at least 3
	Lookup func(string) (string, bool)
	Kept   string // the file of a kept password, which need not exist; empty: none
	// Prompt asks a person, twice if confirm is set. An empty answer to that question means
	// that a password is generated and kept. It may be nil.
	Prompt func(ctx context.Context, confirm bool) ([]byte, error)
}

// Passwords returns a function that reads the password from the first source of:
// File, FD, the variables JUNCTOR_SECRETS_PASSWORD_FILE and
// JUNCTOR_SECRETS_PASSWORD_FD, Kept, Prompt. Passwords claims the descriptor at once, so
// that no child process inherits it. The returned function reads it on the first
// call and keeps the text for later ones.
func Passwords(o PasswordOptions) func(ctx context.Context, fresh bool) ([]byte, error) {
	file, number := o.File, o.FD
	var wrong error
	if o.Lookup != nil && file == "" && number == 0 {
		file, _ = o.Lookup(fileVariable)
		if text, ok := o.Lookup(fdVariable); ok && file == "" && text != "" {
			var err error
			if number, err = strconv.Atoi(text); err != nil || number < 3 {
				wrong = fault.New(fault.SecretLocked, "%s is %q, not the number of a descriptor", fdVariable, text).
					WithHint("write a number from 3 on and open the descriptor, as in: junctor … 3<file")
			}
		}
	}
	switch {
	case file != "":
		return func(context.Context, bool) ([]byte, error) { return passwordFile(file) }
	case wrong != nil:
		return func(context.Context, bool) ([]byte, error) { return nil, wrong }
	case number != 0:
		return passwordFD(number)
	}
	return o.keptOrTyped
}

// keptOrTyped returns the kept password or asks for one.
func (o PasswordOptions) keptOrTyped(ctx context.Context, fresh bool) ([]byte, error) {
	if password, found, err := kept(o.Kept); found {
		return password, err
	}
	if o.Prompt == nil {
		return nil, fault.New(fault.SecretLocked, "there is no password for the encrypted file of secrets").WithHint("%s", passwordHint)
	}
	password, err := o.Prompt(ctx, fresh)
	if err == nil && len(password) == 0 && fresh && o.Kept != "" {
		return keepNew(ctx, o.Kept)
	}
	return password, err
}

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
		return nil, fault.New(fault.SecretLocked, "other users may read or write the password file %s: its mode is %04o", path, info.Mode().Perm()).
			WithHint("%s", hint)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fault.Because(fault.SecretLocked, err, "the password file").WithHint("%s", hint)
	}
	defer f.Close()
	return firstLine(f, "the password file "+path)
}

// descriptors holds the passwords read from descriptors, by number. A number is valid
// only once: after the descriptor is closed another file may get it.
var descriptors = struct {
	mu      sync.Mutex
	readers map[int]func(context.Context, bool) ([]byte, error) // guarded by mu
}{readers: map[int]func(context.Context, bool) ([]byte, error){}}

func passwordFD(number int) func(context.Context, bool) ([]byte, error) {
	descriptors.mu.Lock()
	defer descriptors.mu.Unlock()
	if descriptors.readers[number] == nil {
		descriptors.readers[number] = readOnce(number)
	}
	return descriptors.readers[number]
}

// readOnce returns a function that reads a descriptor on its first call and closes it.
func readOnce(number int) func(context.Context, bool) ([]byte, error) {
	var f *os.File
	if number >= 3 { // 0 to 2 are the protocol's and the terminal's
		f = claimDescriptor(number)
	}
	token := make(chan struct{}, 1)
	token <- struct{}{}
	var password []byte
	var failed error
	return func(ctx context.Context, _ bool) ([]byte, error) {
		select {
		case <-token:
			defer func() { token <- struct{}{} }()
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if f == nil && password == nil && failed == nil {
			failed = fault.New(fault.SecretLocked, "there is no descriptor %d to read the password from", number).
				WithHint("write a number from 3 on and open the descriptor, as in: junctor … 3<file")
		}
		if f != nil {
			_ = f.SetReadDeadline(time.Now().Add(fdPatience))
			password, failed = firstLine(f, "descriptor "+strconv.Itoa(number))
			_ = f.Close()
			f = nil
		}
		return bytes.Clone(password), failed
	}
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
		return nil, fault.New(fault.SecretLocked, "the first line of %s exceeds %d bytes", from, maxPassword).WithHint("%s", passwordHint)
	}
	return bytes.Clone(text), nil
}
