package host

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/fault"
)

// catalogDiagnostics is App.CatalogDiagnostics for one generation.
func (g *generation) catalogDiagnostics() config.Diagnostics {
	places := g.Config.ToolPlaces()
	var ds config.Diagnostics
	for _, n := range g.Catalog.Snapshot().Notes {
		at, ok := places[n.At]
		if !ok {
			continue
		}
		d := config.Diagnostic{
			Severity: config.Warning, Summary: n.Text, Hint: n.Hint, In: fmt.Sprintf("server %q", n.Server), At: at, End: at,
		}
		if n.Refused {
			d.Severity, d.Code = config.Error, fault.ConfigInvalid
		}
		ds = append(ds, d)
	}
	ds = append(ds, g.policyDiagnostics()...)
	slices.SortStableFunc(ds, func(x, y config.Diagnostic) int {
		return cmp.Or(cmp.Compare(x.At.File, y.At.File), cmp.Compare(x.At.Line, y.At.Line), cmp.Compare(x.At.Column, y.At.Column))
	})
	return ds[:min(len(ds), config.MaxDiagnostics)]
}
