package plugintest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/sdk"
)

type fileVaultSettings struct {
	Password string `hcl:"password,optional" doc:"Would encrypt the files." sensitive:"true"`
}

// A fileVault is a vault with one unencrypted file for each secret, and one
// flaw.
type fileVault struct {
	flaw, dir string
	log       hclog.Logger
	done      chan struct{}
	once      sync.Once

	mu  sync.Mutex
	own map[string]bool // guarded by mu; keys stored through this vault
}

func newFileVault(flaw string, s *sdk.StoreServer) (sdk.Vault, error) {
	v := &fileVault{flaw: flaw, dir: s.Dir, log: s.Log, done: make(chan struct{}), own: map[string]bool{}}
	if flaw == "volatile" {
		var err error
		if v.dir, err = os.MkdirTemp(filepath.Dir(s.Dir), "volatile"); err != nil {
			return nil, err
		}
	}
	go func() { <-v.done }() // represents a resource such as a D-Bus connection
	return v, os.MkdirAll(v.dir, 0o700)
}

func (v *fileVault) Close() error {
	if v.flaw != "ajar" {
		v.once.Do(func() { close(v.done) })
	}
	return nil
}

func (v *fileVault) file(key string) string {
	if v.flaw == "folding" {
		key = strings.ToLower(key)
	}
	return filepath.Join(v.dir, fmt.Sprintf("%x", sha256.Sum256([]byte(key))))
}

func (v *fileVault) Secret(_ context.Context, key string) ([]byte, bool, error) {
	text, err := os.ReadFile(v.file(key))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	_, value, _ := bytes.Cut(text, []byte("\n"))
	return value, err == nil, err
}

func (v *fileVault) SetSecret(_ context.Context, key string, value []byte, _ string) error {
	switch {
	case v.flaw == "confiding":
		v.log.Info("storing", "key", key, "value", string(value))
	case v.flaw == "stingy" && len(value) > 2<<10:
		value = value[:2<<10]
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.own[key] = true
	f, err := os.CreateTemp(v.dir, "new")
	if err != nil {
		return err
	}
	_, err = f.Write(append([]byte(key+"\n"), value...))
	return errors.Join(err, f.Close(), os.Rename(f.Name(), v.file(key)))
}

func (v *fileVault) DeleteSecret(_ context.Context, key string) error {
	if err := os.Remove(v.file(key)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (v *fileVault) Keys(context.Context) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(v.dir, "*"))
	var keys []string
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			return nil, err
		}
		key, _, _ := strings.Cut(string(text), "\n")
		v.mu.Lock()
		if v.flaw != "selfish" || v.own[key] {
			keys = append(keys, key)
		}
		v.mu.Unlock()
	}
	return keys, err
}
