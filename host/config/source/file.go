package source

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/junctor-mcp/junctor/host/hcltext"
	"github.com/junctor-mcp/junctor/host/lazyregexp"
	"github.com/junctor-mcp/junctor/host/regularfile"
)

const (
	MaxFile  = hcltext.MaxBytes // of one file
	MaxTotal = 8 << 20          // bytes in all files
	MaxFiles = 256
)

// A File is one file of the configuration. Only decoding and the first snippet change it.
type File struct {
	Name   string // as the user would write it, for messages
	Dir    string // absolute
	Text   []byte
	Tokens hclsyntax.Tokens
	Body   *hclsyntax.Body

	words *Words // of the language
	snip  snippetState
}

// ReadFile reads a regular file of at most limit bytes.
func ReadFile(path string, limit int64) ([]byte, error) {
	text, err := regularfile.Read(path, limit)
	if tooLarge, ok := errors.AsType[*regularfile.TooLargeError](err); ok {
		return nil, fmt.Errorf("larger than %d KiB", tooLarge.Limit>>10)
	}
	if err != nil {
		return nil, Cause(err)
	}
	return text, nil
}

// Canonical returns an absolute path without symbolic links.
func Canonical(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(path)
}

// Cause returns err without the operation and the path, which the caller's message
// already names.
func Cause(err error) error {
	var at *os.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}

// Words are the words of the language, which messages may show wherever they are.
type Words struct {
	Blocks     func() map[string]bool // types of blocks
	Messages   func() map[string]bool // that HCL's own messages have in quotes
	IsFunction func(word string) bool // a function, or probably a misspelt one
	EnvName    *lazyregexp.Regexp     // names of environment variables
	SecretName *lazyregexp.Regexp     // names of stored secrets
}

// FilesAt lists the files to read, sorted. It skips hidden files and lock files of a
// directory. Lock files are HCL but not configuration.
func FilesAt(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read the configuration: %w", Cause(err))
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read the directory: %w", Cause(err))
	}
	var names []string
	for _, e := range entries {
		name := e.Name()
		if !strings.HasSuffix(name, ".hcl") || strings.HasSuffix(name, ".lock.hcl") || name[0] == '.' {
			continue
		}
		names = append(names, filepath.Join(path, name))
	}
	if len(names) == 0 {
		return nil, errors.New("the directory holds no *.hcl file")
	}
	if len(names) > MaxFiles {
		return nil, fmt.Errorf("the directory holds more than %d *.hcl files", MaxFiles)
	}
	return names, nil
}
