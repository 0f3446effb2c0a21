package configure

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/cmd/host/invocation"
	"github.com/junctor-mcp/junctor/host/clientconfig"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/fault"
)

// checkRefused fails if the new text of a configuration has servers that the managed configuration
// would not let be used. Servers that were in the file before, and refused before, do not count.
// The verbs that add servers call it before they write.
func checkRefused(ctx context.Context, inv *invocation.Invocation, f *clientconfig.File, text []byte) error {
	refused := config.Refused(ctx, f.Path, text, inv.Managed, inv.Lookup)
	if len(refused) == 0 {
		return nil
	}
	for name := range config.Refused(ctx, f.Path, f.Text, inv.Managed, inv.Lookup) {
		delete(refused, name)
	}
	names := slices.Sorted(maps.Keys(refused))
	if len(names) == 0 {
		return nil
	}
	hint := "ask the administrator of this machine"
	if len(names) == 1 {
		return fault.New(fault.Denied,
			"the managed configuration does not allow the server %q: %s; nothing was written",
			names[0], refused[names[0]]).
			WithHint("%s", hint)
	}
	return fault.New(fault.Denied,
		"the managed configuration does not allow the servers %s (%s: %s); nothing was written",
		strings.Join(names, ", "), names[0], refused[names[0]]).
		WithHint("%s; `junctor import --only SERVER` adds some of a file", hint)
}

// usable returns the servers of a configuration that the managed configuration lets be used.
func usable(ctx context.Context, inv *invocation.Invocation, into writeTarget, names []string) []string {
	target, _, err := importTarget(inv, into)
	if err != nil {
		return names
	}
	refused := config.Refused(ctx, target.Path, target.Text, inv.Managed, inv.Lookup)
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return refused[name] != "" })
}
