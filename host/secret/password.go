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
	mostPassword = 4 << 10
	// fdPatience is how long whoever gave a descriptor may take to write.
	fdPatience = 5 * time.Second

	fileVariable = "JUNCTOR_SECRETS_PASSWORD_FILE"
	fdVariable   = "JUNCTOR_SECRETS_PASSWORD_FD"

	ways = "give it in a file that only you can read (password_file in the secret_store block, or " + fileVariable +
		"), by a descriptor (password_fd, or " + fdVariable + "), or run the command on a terminal, which asks"
)

// PasswordOptions are the ways to the password of the encrypted file.
type PasswordOptions struct {
	File   string // password_file
	FD     int    // password_fd; 0: none, 3 or more
	Lookup func(string) (string, bool)
	// Prompt asks a person, twice when confirm is set; nil where there is none.
	Prompt func(ctx context.Context, confirm bool) ([]byte, error)
}

// Passwords finds the password by the first way there is: configured file,
// configured descriptor, the two variables in this order, a person. It takes
// the descriptor at once, lest a program that is started inherit it, and reads
// it when the password is asked for; from then on it has the text.
func Passwords(o PasswordOptions) func(ctx context.Context, fresh bool) ([]byte, error) {
	file, number := o.File, o.FD
	var wrong error
	if o.Lookup != nil && file == "" && number == 0 {
		file, _ = o.Lookup(fileVariable)
		if text, ok := o.Lookup(fdVariable); ok && file == "" && text != "" {
			var err error
			if number, err = strconv.Atoi(text); err != nil || number < 3 {
				wrong = fault.New(fault.SecretLocked, "%s is %q, which is no descriptor", fdVariable, text).
					WithHint("3 or more, as in: junctor … 3<file")
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
	case o.Prompt != nil:
		return o.Prompt
	}
	return func(context.Context, bool) ([]byte, error) {
		return nil, fault.New(fault.SecretLocked, "there is no password for the encrypted file of secrets").WithHint("%s", ways)
	}
}

// passwordFile reads the first line of a file that only we can read.
func passwordFile(path string) ([]byte, error) {
	hint := "the first line of a file that only you can read is the password: chmod 600 " + path
	info, err := os.Stat(path)
	if err != nil {
		return nil, fault.Because(fault.SecretLocked, err, "the password file").WithHint("%s", hint)
	}
	if !info.Mode().IsRegular() {
		return nil, fault.New(fault.SecretLocked, "the password file %s is not a regular file", path).
			WithHint("a pipe is given by its descriptor: password_fd, or %s", fdVariable)
	}
	if !private(info) {
		return nil, fault.New(fault.SecretLocked, "others may use the password file %s, whose mode is %04o", path, info.Mode().Perm()).
			WithHint("%s", hint)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fault.Because(fault.SecretLocked, err, "the password file").WithHint("%s", hint)
	}
	defer f.Close()
	return firstLine(f, "the password file "+path)
}

// descriptors are the passwords of descriptors: a number means what it did when
// the program began, and later another file may have it.
var descriptors = struct {
	mu   sync.Mutex
	read map[int]func(context.Context, bool) ([]byte, error) // guarded by mu
}{read: map[int]func(context.Context, bool) ([]byte, error){}}

func passwordFD(number int) func(context.Context, bool) ([]byte, error) {
	descriptors.mu.Lock()
	defer descriptors.mu.Unlock()
	if descriptors.read[number] == nil {
		descriptors.read[number] = readOnce(number)
	}
	return descriptors.read[number]
}

// readOnce reads a descriptor when it is first asked, and closes it.
func readOnce(number int) func(context.Context, bool) ([]byte, error) {
	var f *os.File
	if number >= 3 { // the first three are the protocol's and the terminal's
		f = claimDescriptor(number)
	}
	turn := make(chan struct{}, 1)
	turn <- struct{}{}
	var password []byte
	var failed error
	return func(ctx context.Context, _ bool) ([]byte, error) {
		select {
		case <-turn:
			defer func() { turn <- struct{}{} }()
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if f == nil && password == nil && failed == nil {
			failed = fault.New(fault.SecretLocked, "there is no descriptor %d to read the password from", number).
				WithHint("3 or more, as in: junctor … 3<file")
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

// firstLine reads until the end of the line, or of the input.
func firstLine(r io.Reader, from string) ([]byte, error) {
	var line [mostPassword + 1]byte
	defer clear(line[:])
	n := 0
	for n < len(line) && !bytes.ContainsRune(line[:n], '\n') {
		m, err := r.Read(line[n:])
		n += m
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, fault.Because(fault.SecretLocked, err, "reading %s", from).WithHint("%s", ways)
		}
	}
	text, _, _ := bytes.Cut(line[:n], []byte("\n"))
	text = bytes.TrimSuffix(text, []byte("\r"))
	switch {
	case len(text) == 0:
		return nil, fault.New(fault.SecretLocked, "%s has no password in its first line", from).WithHint("%s", ways)
	case len(text) > mostPassword:
		return nil, fault.New(fault.SecretLocked, "the first line of %s has more than %d bytes", from, mostPassword).WithHint("%s", ways)
	}
	return bytes.Clone(text), nil
}
