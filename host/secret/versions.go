package secret

import (
	"crypto/rand"
	"io"
	"os"
	"path/filepath"
)

// versions is the directory of the versions of secrets, each in a small file. Without a
// directory nothing seems to change. It may be used concurrently, by several processes.
type versions string

// maxVersion bounds how much of a version file is read, in bytes.
const maxVersion = 64

// read returns the version of an owner's secrets, or "" if there is none.
func (v versions) read(of string) string {
	if v == "" {
		return ""
	}
	f, err := os.Open(filepath.Join(string(v), of))
	if err != nil {
		return ""
	}
	defer f.Close()
	text, _ := io.ReadAll(io.LimitReader(f, maxVersion))
	return string(text)
}

// bump gives the secrets of an owner a new version. Errors are ignored: the secret is
// stored, and other processes only notice it later. scope and User call it after each change.
func (v versions) bump(of string) { v.write(of, rand.Text()) }

func (v versions) write(of, text string) {
	if v == "" || os.MkdirAll(string(v), 0o700) != nil {
		return
	}
	f, err := os.CreateTemp(string(v), ".new-*")
	if err != nil {
		return
	}
	_, err = f.WriteString(text)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil || os.Rename(f.Name(), filepath.Join(string(v), of)) != nil {
		_ = os.Remove(f.Name())
	}
}
