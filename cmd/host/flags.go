package main

import (
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/junctor-mcp/junctor/host/fault"
)

// absoluteRoots returns the roots as absolute paths. It fails if one is not an existing
// directory.
func absoluteRoots(n loadOptions) (roots []string, err error) {
	if n.completing {
		return n.roots, nil
	}
	for _, path := range n.roots {
		info, err := os.Stat(path)
		if err == nil && !info.IsDir() {
			return nil, fault.New(fault.Usage, "--root %s is not a directory", path).WithHint("name the directory of the file")
		}
		if err == nil {
			path, err = filepath.Abs(path)
		}
		if err != nil {
			return nil, fault.New(fault.Usage, "--root: %s", err).WithHint("name a directory that exists")
		}
		roots = append(roots, path)
	}
	return roots, nil
}

// A layerFlag is the value of --config, which may be given several times.
type layerFlag struct{ layers *[]string }

func (f *layerFlag) Set(path string) error {
	if len(*f.layers) == 0 || path != last(*f.layers) {
		*f.layers = append(*f.layers, path)
	}
	return nil
}

func (f *layerFlag) String() string {
	if f.layers == nil {
		return ""
	}
	return last(*f.layers)
}

func (f *layerFlag) Type() string { return "stringArray" }

// Append, Replace and GetSlice implement [pflag.SliceValue].
func (f *layerFlag) Append(path string) error { return f.Set(path) }

func (f *layerFlag) Replace(paths []string) error {
	*f.layers = nil
	for _, path := range paths {
		_ = f.Set(path)
	}
	return nil
}

func (f *layerFlag) GetSlice() []string { return *f.layers }

// rootFlag adds --root.
func rootFlag(cmd *cobra.Command, roots *[]string, about string) {
	cmd.Flags().StringArrayVar(roots, "root", nil, "a `DIRECTORY` that servers are told of when they ask for roots"+about+"; may be repeated")
	_ = cmd.MarkFlagDirname("root")
}
