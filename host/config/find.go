package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/junctor-mcp/junctor/host/fault"
)

// Find returns the path to load: explicit if not empty, else $JUNCTOR_CONFIG,
// else the first that exists of ./junctor.hcl and the user's own file. A nil
// lookup is [os.LookupEnv].
//
// Its error is a [*fault.Error] of code [fault.ConfigMissing].
func Find(explicit string, lookup func(string) (string, bool)) (string, error) {
	if lookup == nil {
		lookup = os.LookupEnv
	}
	if explicit != "" {
		return named(explicit, "as asked for")
	}
	if path, _ := lookup("JUNCTOR_CONFIG"); path != "" {
		return named(path, "which JUNCTOR_CONFIG names")
	}
	places := []string{"junctor.hcl"}
	if path := userFile(lookup); path != "" {
		places = append(places, path)
	}
	for _, path := range places {
		if present(path) {
			return path, nil
		}
	}
	return "", fault.New(fault.ConfigMissing, "no configuration found; looked at %s", strings.Join(places, " and ")).
		WithHint("write junctor.hcl, or name a file or directory with --config or JUNCTOR_CONFIG")
}

func named(path, why string) (string, error) {
	if present(path) {
		return path, nil
	}
	return "", fault.New(fault.ConfigMissing, "there is no configuration at %s, %s", path, why).
		WithHint("check the path; it is a file, or a directory of *.hcl files")
}

// present is true for what exists but cannot be looked at: Load says why.
func present(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// userFile is where a person keeps a configuration for every directory.
func userFile(lookup func(string) (string, bool)) string {
	if home, _ := lookup("JUNCTOR_HOME"); home != "" {
		return filepath.Join(home, "config", "junctor.hcl")
	}
	// The XDG specification says to ignore a relative path.
	if dir, _ := lookup("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "junctor", "junctor.hcl")
	}
	if home, _ := lookup("HOME"); home != "" {
		return filepath.Join(home, ".config", "junctor", "junctor.hcl")
	}
	return ""
}
