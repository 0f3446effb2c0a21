package configure

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/cmd/host/invocation"
	"github.com/junctor-mcp/junctor/host/bundle"
	"github.com/junctor-mcp/junctor/host/clientconfig"
	"github.com/junctor-mcp/junctor/host/fault"
)

// isBundle reports whether a path is that of a bundle.
func isBundle(path string) bool {
	return slices.Contains([]string{".mcpb", ".dxt"}, strings.ToLower(filepath.Ext(path)))
}

// importBundle prints the server of a bundle, or unpacks it and adds its server to the
// configuration. import calls it for a file that isBundle.
func importBundle(ctx context.Context, inv *invocation.Invocation, x importOptions, path string) error {
	bad := func(err error) error {
		return fault.Because(fault.ImportFile, err, "%s cannot be imported", path).
			WithHint("get the bundle again from its publisher, and check that you may read it")
	}
	f, err := os.Open(path)
	if err != nil {
		return bad(err)
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return bad(err)
	}
	if !info.Mode().IsRegular() {
		return fault.New(fault.ImportFile, "%s is not a regular file", path).WithHint("give the path of a bundle")
	}
	b, err := bundle.Open(f, info.Size())
	if err != nil {
		return bad(err)
	}
	if err := inv.FindDirs(); err != nil {
		return err
	}
	if inv.Dirs.Data == "" {
		return fault.New(fault.Usage, "the data directory of Junctor is not known").WithHint("set HOME or JUNCTOR_HOME")
	}
	dir := filepath.Join(inv.Dirs.Data, "bundles", b.Directory())
	server, inputs := b.Server(dir, runtime.GOOS)
	if x.write && server.Problem == "" {
		x.prepare = func() error {
			if err := b.Unpack(dir); err != nil {
				return bad(err)
			}
			inv.Remark("unpacked into %s", dir)
			return nil
		}
	} else if server.Problem == "" {
		inv.Remark("--write unpacks it into %s", dir)
	}
	return putContent(ctx, inv, x, clientconfig.Content{Servers: []clientconfig.Server{server}, Inputs: inputs}, path)
}
