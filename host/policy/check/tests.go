package check

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/config/inbound"
	"github.com/junctor-mcp/junctor/host/config/source"
	"github.com/junctor-mcp/junctor/host/policy"
	"github.com/junctor-mcp/junctor/host/schema"
	"github.com/junctor-mcp/junctor/host/suggest"
)

// Tests reports names in the test blocks that are not known. Such a test passes or fails for
// another reason than its author thinks. The verb that runs test blocks calls it first. The
// functions of this file are pure.
func Tests(c *config.Config, in *catalog.Catalog) (all source.Diagnostics) {
	roles := slices.Concat(c.Policy.Roles, c.Managed.Policy.Roles)
	var groups []string
	for _, rules := range append([]policy.Rules{c.Policy, c.Managed.Policy}, c.Policies...) {
		for _, m := range rules.Members {
			if m.Holder.Kind == "group" {
				groups = append(groups, m.Holder.Name)
			}
		}
	}
	for _, auth := range c.Gateway.HTTP.Auth {
		if t, static := auth.Settings.(inbound.StaticToken); static {
			roles = append(roles, t.Roles...)
		}
	}
	for _, t := range c.Tests {
		for _, role := range t.Principal.Roles {
			if !slices.Contains(roles, role) {
				all = append(all, testWarning(t.At, nearest(role, roles, ""), "the policy has no role %q", role))
			}
		}
		for _, group := range t.Principal.Groups {
			if !slices.Contains(groups, group) {
				all = append(all, testWarning(t.At, nearest(group, groups, ""), "the policy has no group %q", group))
			}
		}
		for _, u := range t.Uses {
			if u.Item.Kind == policy.Tool {
				all = append(all, testedCall(u, in)...)
			}
		}
	}
	return all
}

// testedCall reports a call of a tool that the server does not have, and arguments that the
// tool does not have.
func testedCall(u config.TestedUse, in *catalog.Catalog) (all source.Diagnostics) {
	if slices.Contains(in.Unknown(""), u.Item.Server) {
		return nil
	}
	tool, known := in.Snapshot().OwnTool(u.Item.Server, u.Item.Name)
	if !known {
		var names []string
		for _, t := range in.Snapshot().Tools {
			if t.Server == u.Item.Server {
				names = append(names, t.Name)
			}
		}
		if len(names) == 0 {
			return nil // the server is not configured or has no tools: the decision says so
		}
		return source.Diagnostics{
			testWarning(
				u.At,
				nearest(u.Item.Name, names, "a test has the server's own name of a tool"),
				"server %q lists no tool %q",
				u.Item.Server,
				u.Item.Name,
			),
		}
	}
	var given map[string]json.RawMessage
	var names []string
	for _, p := range schema.Properties(tool.Input) {
		names = append(names, p.Name)
	}
	if json.Unmarshal(u.Arguments, &given) != nil || len(names) == 0 {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if !slices.Contains(names, name) {
			all = append(
				all,
				testWarning(
					u.At,
					nearest(name, names, "its arguments are "+strings.Join(names, ", ")),
					"tool %q lists no argument %q",
					u.Item.Name,
					name,
				),
			)
		}
	}
	return all
}

// nearest returns a hint with the name that may be meant, or the hint otherwise.
func nearest(name string, known []string, otherwise string) string {
	if near := suggest.Nearest(name, known); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return otherwise
}

func testWarning(at source.Position, hint, format string, args ...any) source.Diagnostic {
	return source.Diagnostic{
		Severity: source.Warning,
		Summary:  fmt.Sprintf(format, args...),
		Hint:     hint,
		In:       "test",
		At:       at,
		End:      at,
	}
}
