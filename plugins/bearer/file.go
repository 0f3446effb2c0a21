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

// lookAgain is how long a token from a file is used before the file is read
// again. A replaced token is thus used soon.
const lookAgain = time.Minute

// A file is a token file that another program updates.
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
			Code: sdk.AuthRequired, Reason: "token_file", Path: "token_file",
			Message: "the token in " + f.path + " " + problem,
			Hint:    "the file holds the token and nothing else; it is looked at again by itself",
		}
	}
	return token, time.Now().Add(lookAgain), nil
}

// read returns the text of the file, limited in size. It accepts regular files
// only, because reading a pipe, for example, could block for ever.
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
	text, err := io.ReadAll(io.LimitReader(r, maxToken+3)) // a token, a line ending and one more byte
	if err != nil {
		return "", errors.New("cannot be read")
	}
	return string(text), nil
}

func (f *file) refused() sdk.ChallengeResult {
	return sdk.ChallengeResult{Reason: "the server refused the token in " + f.path + ", which token_file names"}
}
