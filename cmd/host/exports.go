package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"

	"github.com/junctor-mcp/junctor/cmd/host/terminal"
	"github.com/junctor-mcp/junctor/host/clientconfig"
)

// An exportRecord says which entry `junctor export --write` wrote into which file, for
// `junctor doctor`. It holds no token.
type exportRecord struct {
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
func (e *env) exportsFile() string {
	if e.dirs.Data == "" {
		return ""
	}
	return filepath.Join(e.dirs.Data, "exports.json")
}

// exports returns the records. A damaged file has none.
func (e *env) exports() (all []exportRecord) {
	path := e.exportsFile()
	if info, err := os.Stat(path); path == "" || err != nil || info.Size() > maxExportFile {
		return nil
	}
	text, err := os.ReadFile(path)
	if err != nil || json.Unmarshal(text, &all) != nil {
		return nil
	}
	return all[:min(len(all), maxExports)]
}

// recordExport remembers an entry. Without a data directory nothing is remembered, and the
// export has succeeded nevertheless.
func (e *env) recordExport(scope, path, client string, t clientconfig.Target) {
	if e.findDirs() != nil || e.exportsFile() == "" {
		return
	}
	one := exportRecord{Client: client, Path: path, Scope: scope, Name: t.Name, Command: t.Command, URL: t.URL, Token: t.Token}
	all := slices.DeleteFunc(e.exports(), func(o exportRecord) bool { return o.Path == path && o.Name == t.Name })
	all = append(all, one)
	text, err := json.MarshalIndent(all[max(0, len(all)-maxExports):], "", "  ")
	if err == nil {
		err = os.MkdirAll(e.dirs.Data, 0o700)
	}
	if err == nil {
		err = terminal.ReplaceFile(e.exportsFile(), text)
	}
	if err != nil {
		e.log.Warn("the export was not recorded for junctor doctor", "error", err)
	}
}
