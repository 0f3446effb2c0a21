package invocation

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/config/review"
	"github.com/junctor-mcp/junctor/host/config/source"
	"github.com/junctor-mcp/junctor/host/fault"
)

// Locate finds the configuration of a verb, and its content if it needs trust. Diagnostics
// without content say why it cannot be read.
func (inv *Invocation) Locate(ctx context.Context, n Needs, may bool) (
	config.Location, *review.Content, source.Diagnostics, error,
) {
	layers := inv.Layers
	if len(n.Paths) > 0 {
		layers = n.Paths
	}
	if n.Direct.Given() {
		inv.Naming = &n.Direct
		at, err := n.Direct.location(last(layers))
		return at, nil, nil, err
	}
	at, err := config.FindLayers(layers, inv.Lookup)
	if fault.Is(err, fault.ConfigMissing) && len(layers) == 0 {
		if _, managedErr := os.Lstat(inv.Managed); managedErr == nil { // the administrator's is enough
			return config.Location{Path: inv.Managed}, nil, nil, nil
		}
	}
	if err != nil {
		return at, nil, nil, err
	}
	if diags, err := inv.askAgain(ctx, &at, n, may); err != nil || diags.HasErrors() {
		return at, nil, diags, err
	}
	content, diags, err := inv.Trusted(ctx, at, n, may)
	return at, content, diags, err
}

// askAgain finds out whether the user has trusted a configuration that was named. An entry of a
// client and a service name one for good, while tools of wrapped programs may change a trusted
// file, because Junctor asks again. at becomes one that has to be trusted. A file with another
// name, such as a link or that of its directory, and a weaker layer are only compared with what
// was trusted.
func (inv *Invocation) askAgain(ctx context.Context, at *config.Location, n Needs,
	may bool) (source.Diagnostics, error) {
	store, err := inv.TrustStore()
	if err != nil {
		return nil, nil // without a place for records, there are none
	}
	records, err := store.List()
	if err != nil {
		return nil, nil // the user named the file; doctor says why the records cannot be read
	}
	for i, l := range append([]config.Location{*at}, at.Under...) {
		if l.Found || l.Own || l.Text != nil {
			continue
		}
		path, _ := l.Canonical()
		names := l.Names()
		for _, r := range records {
			switch {
			case i == 0 && r.Path == path:
				at.Found, at.Named = true, true
			case slices.Contains(names, r.Path) || slices.Contains(names, filepath.Dir(r.Path)) || l.Has(r.Path):
				known := config.Location{Path: r.Path, Found: true}
				real, err := known.Canonical()
				if err != nil {
					continue // it is gone, so nothing of it is used
				}
				if real != r.Path {
					return nil, fault.New(fault.ConfigUntrusted,
						"%s leads to %s, and the configuration that was trusted there was another one", r.Path, real).
						WithHint("a directory on the way to it became a link; remove the link, or name the configuration by the other path")
				}
				if _, diags, err := inv.Trusted(ctx, known, n, may); err != nil || diags.HasErrors() {
					return diags, err
				}
			}
		}
	}
	return nil, nil
}

// absoluteRoots returns the roots as absolute paths. It fails if one is not an existing
// directory.
func absoluteRoots(n Needs) (roots []string, err error) {
	if n.completing {
		return n.Roots, nil
	}
	for _, path := range n.Roots {
		info, err := os.Stat(path)
		if err == nil && !info.IsDir() {
			return nil, fault.New(fault.Usage, "--root %s is not a directory", path).
				WithHint("name the directory of the file")
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

// ContentDigest returns a text that changes with the content of the configuration at a
// location, with its layers.
func (inv *Invocation) ContentDigest(at config.Location) string {
	var all []string
	for _, path := range append([]string{at.Path}, at.UnderPaths()...) {
		all = append(all, config.ContentDigest(path, inv.Lookup))
	}
	return strings.Join(all, " ")
}
