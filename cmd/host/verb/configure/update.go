package configure

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/junctor-mcp/junctor/cmd/host/invocation"
	"github.com/junctor-mcp/junctor/host/clientconfig"
	"github.com/junctor-mcp/junctor/host/configedit"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/registry"
	"github.com/junctor-mcp/junctor/host/secret"
)

// updateOptions are the arguments and flags of update.
type updateOptions struct {
	inv *invocation.Invocation
	registryFlags
	names []string // of servers; without one all
	check bool     // change nothing
}

// Update returns the verb update.
func Update(inv *invocation.Invocation) *cobra.Command {
	o := &updateOptions{inv: inv}
	cmd := &cobra.Command{
		Use:   "update [NAME…]",
		Short: "Update servers that came from a registry",
		Long: `Update the servers with the attribute "registry" to the latest version in the registry: the package with its version, or
the URL. All else in their blocks stays as it is, and notes say which inputs the new version has that the old one has not.
The file as it was is kept in Junctor's data directory until the next change.`,
		Example:           "  junctor update\n  junctor update --check",
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.names = args
			return o.run(cmd.Context())
		},
	}
	o.add(cmd)
	cmd.Flags().BoolVar(&o.check, "check", false, "change nothing; end with status 1 if there is a newer version")
	return cmd
}

// updateJSON is the JSON form of an update.
type updateJSON struct {
	Server string `json:"server"`
	Entry  string `json:"entry"`
	From   string `json:"from"`
	To     string `json:"to"`
}

func (o *updateOptions) run(ctx context.Context) error {
	inv, names := o.inv, o.names
	target, have, err := importTarget(inv, writeTarget{})
	if err != nil {
		return err
	}
	registered, err := configedit.Registered(target.Text, target.Path)
	if err != nil {
		return err
	}
	for _, name := range names {
		if _, ok := registered[name]; ok {
			continue
		}
		if slices.Contains(have, name) {
			return fault.New(fault.Usage, "server %q has no attribute registry", name).
				WithHint("only servers that came from a registry can be updated")
		}
		return fault.New(fault.Usage, "%s has no server %q", target.Path, name)
	}
	if len(names) == 0 {
		names = slices.Sorted(maps.Keys(registered))
	}
	text, changed := target.Text, []updateJSON{}
	for _, name := range names {
		after, one, err := updateServer(ctx, inv, target, text, name, registered[name], &o.registryFlags)
		if err != nil {
			return err
		}
		if one != nil {
			text, changed = after, append(changed, *one)
		}
	}
	if len(changed) > 0 && !o.check {
		backup, err := writeEdited(ctx, inv, target, text, false)
		if err != nil {
			return err
		}
		defer inv.Remark("the file as it was: %s", backup)
		grantUpdated(ctx, inv, target.Path, changed)
	}
	if inv.Machine() {
		err = inv.PrintJSON(changed)
	} else {
		for _, c := range changed {
			inv.Printf("%s: %s %s → %s\n", c.Server, c.Entry, c.From, c.To)
		}
	}
	switch {
	case err != nil:
		return err
	case len(changed) == 0:
		inv.Remark("%s", "nothing to update")
	case o.check:
		return fault.New(fault.Outdated, "%d of the servers have a newer version in the registry", len(changed)).
			WithHint("run `junctor update`")
	}
	return nil
}

// grantUpdated grants the secrets of updated servers to their new commands and addresses: a
// grant is for the ones before. It warns if it cannot.
func grantUpdated(ctx context.Context, inv *invocation.Invocation, path string, changed []updateJSON) {
	app, err := edited(ctx, inv, path)
	if err != nil || app == nil {
		return // the next use says why
	}
	updated := func(r secret.Recipient) bool {
		return r.Config == app.ConfigID() &&
			slices.ContainsFunc(changed, func(c updateJSON) bool { return c.Server == r.Server })
	}
	user := app.Secrets().User()
	names, err := user.List(ctx)
	for _, name := range names {
		var had []secret.Recipient
		if had, err = user.Granted(ctx, name); err != nil {
			break
		}
		now := slices.DeleteFunc(app.Recipients(name), func(r secret.Recipient) bool { return !updated(r) })
		if !slices.ContainsFunc(had, updated) || len(now) == 0 {
			continue
		}
		if err = user.Grant(ctx, name, now...); err != nil {
			break
		}
	}
	if err != nil {
		inv.Warn("the secrets of the updated servers were not granted again: "+err.Error(),
			"run `junctor secret grant NAME`")
	}
}

// updateServer returns the text with the latest version of one server, or nil if it has it.
func updateServer(ctx context.Context, inv *invocation.Invocation, target *clientconfig.File, text []byte,
	name, origin string, f *registryFlags) ([]byte, *updateJSON, error) {
	at := strings.LastIndexByte(origin, '@')
	if at <= 0 {
		return nil, nil, fault.New(fault.Usage, "server %q: registry = %q is not NAME@VERSION", name, origin)
	}
	entry, version := origin[:at], origin[at+1:]
	now, err := findEntry(ctx, inv, entry, f)
	if err != nil || now.Version == version {
		return nil, nil, err
	}
	before, err := findEntry(ctx, inv, origin, f)
	if fault.Is(err, fault.RegistryUnknown) {
		return nil, nil, fault.New(fault.RegistryUnknown, "the registry no longer has %s, so the block of server %q "+
			"cannot be compared with version %s", origin, name, now.Version).
			WithHint("run `junctor remove %s` and `junctor add %s %s`, or write the new version into the block",
				name, name, entry)
	}
	if err != nil {
		return nil, nil, err
	}
	with := map[string]string{origin: entry + "@" + now.Version}
	was, is, err := matchingOptions(before, now, func(words map[string]string) bool {
		_, found, err := configedit.Replace(text, target.Path, name, words)
		return err == nil && len(found) == len(words)
	})
	if err != nil {
		return nil, nil, fault.Because(fault.RegistryEntry, err, "server %q cannot be updated to %s %s",
			name, entry, now.Version).
			WithHint("remove it and add it again, or edit its block")
	}
	maps.Copy(with, registry.Renamed(was, is))
	after, _, err := configedit.Replace(text, target.Path, name, with)
	if err != nil {
		return nil, nil, err
	}
	for _, note := range registry.InputChanges(was, is) {
		inv.Remark("%s: %s", name, note)
	}
	return after, &updateJSON{name, entry, version, now.Version}, nil
}

// matchingOptions returns the way in which a block uses the old version of an entry, and the
// same way for the new one.
func matchingOptions(before, now registry.Entry,
	inBlock func(map[string]string) bool) (was, is registry.Option, err error) {
	for _, was := range before.Options() {
		for _, is := range now.Options() {
			if is.Problem == "" && was.SameAs(is) && inBlock(registry.Renamed(was, is)) {
				return was, is, nil
			}
		}
	}
	return was, is, fault.New(fault.RegistryEntry,
		"the block and the new version have neither a package nor the host of a URL in common")
}
