package invocation

import (
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/junctor-mcp/junctor/host/fault"
)

// absoluteRoots returns the roots as absolute paths. It fails if one is not an existing
// directory.
func absoluteRoots(n Needs) (roots []string, err error) {
	if n.completing {
		return n.Roots, nil
	}
	for _, path := range n.Roots {
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

// A LayerFlag is the value of --config, which may be given several times.
type LayerFlag struct{ Layers *[]string }

func (f *LayerFlag) Set(path string) error {
	if len(*f.Layers) == 0 || path != last(*f.Layers) {
		*f.Layers = append(*f.Layers, path)
	}
	return nil
}

func (f *LayerFlag) String() string {
	if f.Layers == nil {
		return ""
	}
	return last(*f.Layers)
}

func (f *LayerFlag) Type() string { return "stringArray" }

// Append, Replace and GetSlice implement [pflag.SliceValue].
func (f *LayerFlag) Append(path string) error { return f.Set(path) }

func (f *LayerFlag) Replace(paths []string) error {
	*f.Layers = nil
	for _, path := range paths {
		_ = f.Set(path)
	}
	return nil
}

func (f *LayerFlag) GetSlice() []string { return *f.Layers }

// RootFlag adds --root.
func RootFlag(cmd *cobra.Command, roots *[]string, about string) {
	cmd.Flags().StringArrayVar(roots, "root", nil, "a `DIRECTORY` that servers are told of when they ask for roots"+about+"; may be repeated")
	_ = cmd.MarkFlagDirname("root")
}
