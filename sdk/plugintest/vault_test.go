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

type drawerSettings struct {
	Password string `hcl:"password,optional" doc:"What would encrypt the files." sensitive:"true"`
}

// A drawer is a vault with a file for each secret, with one flaw. It does not
// encrypt them.
type drawer struct {
	flaw, dir string
	log       hclog.Logger
	done      chan struct{}
	once      sync.Once

	mu  sync.Mutex
	own map[string]bool // guarded by mu; what was stored through this one
}

func newDrawer(flaw string, s *sdk.StoreServer) (sdk.Vault, error) {
	d := &drawer{flaw: flaw, dir: s.Dir, log: s.Log, done: make(chan struct{}), own: map[string]bool{}}
	if flaw == "volatile" {
		var err error
		if d.dir, err = os.MkdirTemp(filepath.Dir(s.Dir), "volatile"); err != nil {
			return nil, err
		}
	}
	go func() { <-d.done }() // what a store may need, such as a connection to a bus
	return d, os.MkdirAll(d.dir, 0o700)
}

func (d *drawer) Close() error {
	if d.flaw != "ajar" {
		d.once.Do(func() { close(d.done) })
	}
	return nil
}

func (d *drawer) file(key string) string {
	if d.flaw == "folding" {
		key = strings.ToLower(key)
	}
	return filepath.Join(d.dir, fmt.Sprintf("%x", sha256.Sum256([]byte(key))))
}

func (d *drawer) Secret(_ context.Context, key string) ([]byte, bool, error) {
	text, err := os.ReadFile(d.file(key))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	_, value, _ := bytes.Cut(text, []byte("\n"))
	return value, err == nil, err
}

func (d *drawer) SetSecret(_ context.Context, key string, value []byte, _ string) error {
	switch {
	case d.flaw == "confiding":
		d.log.Info("storing", "key", key, "value", string(value))
	case d.flaw == "stingy" && len(value) > 2<<10:
		value = value[:2<<10]
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.own[key] = true
	f, err := os.CreateTemp(d.dir, "new")
	if err != nil {
		return err
	}
	_, err = f.Write(append([]byte(key+"\n"), value...))
	return errors.Join(err, f.Close(), os.Rename(f.Name(), d.file(key)))
}

func (d *drawer) DeleteSecret(_ context.Context, key string) error {
	if err := os.Remove(d.file(key)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (d *drawer) Keys(context.Context) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(d.dir, "*"))
	var keys []string
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			return nil, err
		}
		key, _, _ := strings.Cut(string(text), "\n")
		d.mu.Lock()
		if d.flaw != "selfish" || d.own[key] {
			keys = append(keys, key)
		}
		d.mu.Unlock()
	}
	return keys, err
}
