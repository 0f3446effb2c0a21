package command

import (
	"encoding/json"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/host/config/source"
)

// maxPackageFile is the maximum size of a package.json that is read.
const maxPackageFile = 1 << 20

// A packageFile is what counts of a package.json.
type packageFile struct {
	Main    string            `json:"main"`
	Module  string            `json:"module"`
	Bin     json.RawMessage   `json:"bin"` // a path, or paths by name
	Scripts map[string]string `json:"scripts"`
}

// targets adds the files that the package.json at a path names as the program of the package or
// in a script.
func (r *reader) targets(path string) {
	if filepath.Base(path) != "package.json" {
		return
	}
	p, ok := readPackageFile(path)
	if !ok {
		return
	}
	dir := filepath.Dir(path)
	for _, name := range append(p.programs(), p.Main, p.Module) {
		if name == "" || len(name) > MaxText {
			continue
		}
		for _, ending := range slices.Concat([]string{""}, scriptEndings, directoryFiles) {
			r.existing("", filepath.Join(dir, name)+filepath.FromSlash(ending))
		}
	}
	for _, line := range p.Scripts {
		if len(line) > MaxText {
			continue
		}
		for _, part := range strings.FieldsFunc(line, separatesWords) {
			for _, ending := range append([]string{""}, scriptEndings...) {
				r.existing("", source.AbsoluteIn(dir, part)+ending)
			}
		}
	}
}

// readPackageFile reads a package.json. It reports whether it is one.
func readPackageFile(path string) (p packageFile, ok bool) {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return p, false // nothing is waited for
	}
	f, err := os.Open(path)
	if err != nil {
		return p, false
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxPackageFile))
	return p, err == nil && json.Unmarshal(text, &p) == nil
}

// programs returns the paths of bin.
func (p *packageFile) programs() []string {
	var one string
	if json.Unmarshal(p.Bin, &one) == nil {
		return []string{one}
	}
	var several map[string]string
	if json.Unmarshal(p.Bin, &several) != nil {
		return nil
	}
	return slices.Collect(maps.Values(several))
}
