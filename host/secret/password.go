package secret

import (
	"bytes"
	"context"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/junctor-mcp/junctor/host/fault"
)

// fdPatience is how long a read from the descriptor may take.
const fdPatience = 5 * time.Second

// PasswordVariables are the variables that lead to the password.
var PasswordVariables = []string{fileVariable, fdVariable}

// PasswordOptions are the sources of the password of the encrypted file. They do not change
// after Passwords. Prompt is called by one goroutine of a File at a time.
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
// call and keeps the text for later ones. Package host calls it once for each encrypted file.
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
		return nil, fault.New(fault.SecretLocked, "there is no password for the encrypted file of secrets").
			WithHint("%s", passwordHint)
	}
	password, err := o.Prompt(ctx, fresh)
	if err == nil && len(password) == 0 && fresh && o.Kept != "" {
		return keepNew(ctx, o.Kept)
	}
	return password, err
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

// readOnce returns a function that reads a descriptor on its first call and closes it. The
// function may be called concurrently: callers wait for each other.
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
