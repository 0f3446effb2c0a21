package main

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/junctor-mcp/junctor/sdk"
)

// lookAgain is how long the token of a file is used before the file is looked
// at again: who puts a new one there goes on soon.
const lookAgain = time.Minute

// A file holds a token that somebody else keeps fresh.
type file struct {
	*settings
	path string
}

func newFile(s *settings, dir string) *file {
	path := s.TokenFile
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	return &file{s, path}
}

func (f *file) token(context.Context) (string, time.Time, error) {
	text, err := f.read()
	token, problem := f.clean(text)
	if err != nil {
		problem = err.Error()
	}
	if problem != "" {
		return "", time.Time{}, &sdk.Error{
			Code: sdk.AuthRequired, Reason: "token_file", Path: "token_file", Message: "the token in " + f.path + " " + problem,
			Hint: "the file holds the token and nothing else; it is looked at again by itself",
		}
	}
	return token, time.Now().Add(lookAgain), nil
}

// read reads a file of a bounded size. Anything else under that name, a pipe
// for example, could keep a reader for ever.
func (f *file) read() (string, error) {
	info, err := os.Stat(f.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", errors.New("is not there: there is no such file")
	case errors.Is(err, fs.ErrPermission):
		return "", errors.New("cannot be read: this user has no permission")
	case err != nil:
		return "", errors.New("cannot be read")
	case !info.Mode().IsRegular():
		return "", errors.New("cannot be read: that is no regular file")
	}
	r, err := os.Open(f.path)
	if err != nil {
		return "", errors.New("cannot be read: this user has no permission")
	}
	defer r.Close()
	text, err := io.ReadAll(io.LimitReader(r, maxToken+3)) // and an end of line
	if err != nil {
		return "", errors.New("cannot be read")
	}
	return string(text), nil
}

func (f *file) refused() sdk.ChallengeResult {
	return sdk.ChallengeResult{Reason: "the server refused the token in " + f.path + ", which token_file names"}
}
