package plugin

import (
	"path/filepath"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/sdk"
)

// DescribeCached is Describe without starting anything: it returns what the
// program at path said about itself when it was described before. It fails with
// [fault.PluginDescribe] when it never was.
func (s *Supervisor) DescribeCached(path, pin string) (sdk.Manifest, string, error) {
	b, err := openProgram(path)
	if err != nil {
		return sdk.Manifest{}, "", err
	}
	defer b.close()
	if err := pinned(b, pin); err != nil {
		return sdk.Manifest{}, "", err
	}
	if text, ok := s.opts.Cache.Read(filepath.Join("manifests", b.digest+".json")); ok {
		if m, err := parseManifest(text); err == nil {
			return m, b.digest, nil
		}
	}
	return sdk.Manifest{}, "", fault.New(fault.PluginDescribe, "%s was not described before", path).
		WithHint("run `junctor validate` once")
}
