// Package clientfiles opens the files of MCP clients and of configurations that a verb writes, and
// records the entries that were written.
package clientfiles

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"github.com/junctor-mcp/junctor/cmd/host/invocation"
	"github.com/junctor-mcp/junctor/cmd/host/terminal"
	"github.com/junctor-mcp/junctor/host/clientconfig"
	"github.com/junctor-mcp/junctor/host/fault"
)

// An Export says which entry `junctor export --write` wrote into which file, for
// `junctor doctor`. It holds no token.
type Export struct {
	Client  string   `json:"client"`
	Path    string   `json:"path"`
	Scope   string   `json:"scope"`
	Name    string   `json:"name"`
	Command []string `json:"command,omitempty"`
	URL     string   `json:"url,omitempty"`
	Token   string   `json:"token_env,omitempty"`
}

const (
	maxExports    = 100
	maxExportFile = 1 << 20 // bytes
)

// exportsFile returns the path of the records, or "" without a data directory.
func exportsFile(inv *invocation.Invocation) string {
	if inv.Dirs.Data == "" {
		return ""
	}
	return filepath.Join(inv.Dirs.Data, "exports.json")
}

// Exports returns the records. A damaged file has none.
func Exports(inv *invocation.Invocation) (all []Export) {
	path := exportsFile(inv)
	if info, err := os.Stat(path); path == "" || err != nil || info.Size() > maxExportFile {
		return nil
	}
	text, err := os.ReadFile(path)
	if err != nil || json.Unmarshal(text, &all) != nil {
		return nil
	}
	return all[:min(len(all), maxExports)]
}

// Record remembers an entry. Without a data directory nothing is remembered, and the
// export has succeeded nevertheless.
func Record(inv *invocation.Invocation, scope, path, client string, t clientconfig.Target) {
	if inv.FindDirs() != nil || exportsFile(inv) == "" {
		return
	}
	one := Export{Client: client, Path: path, Scope: scope, Name: t.Name, Command: t.Command, URL: t.URL,
		Token: t.Token}
	all := slices.DeleteFunc(Exports(inv), func(o Export) bool { return o.Path == path && o.Name == t.Name })
	all = append(all, one)
	text, err := json.MarshalIndent(all[max(0, len(all)-maxExports):], "", "  ")
	if err == nil {
		err = os.MkdirAll(inv.Dirs.Data, 0o700)
	}
	if err == nil {
		err = terminal.ReplaceFile(exportsFile(inv), text)
	}
	if err != nil {
		inv.Log.Warn("the export was not recorded for junctor doctor", "error", err)
	}
}

// Fault converts errors of the package clientconfig into faults.
func Fault(err error) error {
	if bad, ok := errors.AsType[*clientconfig.UnfitError](err); ok {
		return fault.New(fault.Usage, "%s", bad.What).WithHint("%s", bad.Hint)
	}
	if bad, ok := errors.AsType[*clientconfig.FileError](err); ok {
		return &fault.Error{Code: fault.ExportFile, Message: bad.What, At: bad.Path, Hint: bad.Hint}
	}
	return err
}

func FileExists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
