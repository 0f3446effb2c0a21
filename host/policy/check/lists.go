// Package check compares a configuration with the lists of its servers and with the clients
// that can authenticate: names that match nothing, conditions that cannot work, and the test
// blocks of the policy. It sends no request.
//
// The verbs that check, test and explain configurations use it, the console and plan/capture. All
// functions only read a configuration, a snapshot of the catalog and, in results.go, the policy in
// effect of an app; they may be called concurrently. lists.go,
// rules.go and tests.go make diagnostics, each for other settings; principals.go and results.go
// run the test blocks.
package check

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/config/source"
	"github.com/junctor-mcp/junctor/host/fault"
)

// Lists reports settings about tools that do not match the known lists of the servers.
func Lists(c *config.Config, in *catalog.Catalog) source.Diagnostics {
	places := c.ToolPlaces()
	var ds source.Diagnostics
	for _, n := range in.Snapshot().Notes {
		at, ok := places[n.At]
		if !ok {
			continue
		}
		d := source.Diagnostic{
			Severity: source.Warning,
			Summary:  n.Text,
			Hint:     n.Hint,
			In:       fmt.Sprintf("server %q", n.Server),
			At:       at,
			End:      at,
		}
		if n.Refused {
			d.Severity, d.Code = source.Error, fault.ConfigInvalid
		}
		ds = append(ds, d)
	}
	ds = append(ds, rules(c, in)...)
	slices.SortStableFunc(ds, func(x, y source.Diagnostic) int {
		return cmp.Or(
			cmp.Compare(x.At.File, y.At.File), cmp.Compare(x.At.Line, y.At.Line), cmp.Compare(x.At.Column, y.At.Column),
		)
	})
	return ds[:min(len(ds), source.MaxDiagnostics)]
}
