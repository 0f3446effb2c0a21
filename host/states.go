package host

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/seal"
)

// openStates returns the codec of what clients carry from one request to the next. Processes
// of one configuration share the key and the uses, in the data directory. Without a directory
// that can be written to, both are in memory, and no state outlives the process.
func openStates(o Options) (*seal.Codec, error) {
	if o.OneShot || o.Dirs.Data == "" {
		return inMemory(), nil
	}
	dir := filepath.Join(o.Dirs.Data, "state")
	keys, uses, err := seal.OpenDir(dir)
	if unwritable, ok := errors.AsType[*seal.UnwritableError](err); ok {
		o.Log.Warn("calls that wait for their clients do not outlive this process, "+
			"because the key of their states is kept in memory", "error", unwritable)
		return inMemory(), nil
	}
	if unsafe, ok := errors.AsType[*seal.UnsafeError](err); ok {
		return nil, fault.New(
			fault.StateKey, "the key of request states is not used: %s", unsafe,
		).WithHint("run `%s %s`", unsafe.Command, unsafe.Path)
	}
	if err != nil {
		return nil, fault.New(
			fault.StateKey, "the key of request states is not used: %s", err,
		).WithHint("see that %s can be read", dir)
	}
	return seal.New(keys, scopeOf(o.Config), uses), nil
}

func inMemory() *seal.Codec { return seal.New([]seal.Key{seal.NewKey()}, "", nil) }

// scopeOf returns what tells the servers of a configuration from those of others that have the
// same names.
func scopeOf(at config.Location) string {
	if len(at.Text) > 0 {
		return fmt.Sprintf("%x", sha256.Sum256(at.Text))
	}
	path, err := at.Canonical()
	if err != nil {
		return at.Path
	}
	return path
}

// statesDiagnostic returns the diagnostic of a key that cannot be used.
func statesDiagnostic(err error) *config.Diagnostic {
	f := fault.As(err)
	return &config.Diagnostic{Severity: config.Error, Summary: f.Message, Hint: f.Hint, Code: f.Code}
}
