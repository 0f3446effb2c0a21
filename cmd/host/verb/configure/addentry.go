package configure

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/cmd/host/invocation"
	"github.com/junctor-mcp/junctor/cmd/host/terminal"
	"github.com/junctor-mcp/junctor/host/clientconfig"
	"github.com/junctor-mcp/junctor/host/clientimport"
	"github.com/junctor-mcp/junctor/host/configedit"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/registry"
)

// entryOptions are the flags of add for the entry of a registry.
type entryOptions struct {
	registryFlags
	into        writeTarget
	inputs      []string
	remote, yes bool
}

// isEntry reports whether the arguments of add name an entry of a registry.
func isEntry(args []string, dash int) bool {
	last := args[len(args)-1]
	return dash < 0 && len(args) <= 2 && strings.Contains(last, "/") && !strings.Contains(last, "://")
}

// findEntry asks the registries for a version of a server: NAME or NAME@VERSION.
func findEntry(ctx context.Context, inv *invocation.Invocation, name string, f *registryFlags) (registry.Entry, error) {
	clients, err := registries(inv, f)
	if err != nil {
		return registry.Entry{}, err
	}
	name, version, given := strings.Cut(name, "@")
	if !given {
		version = "latest"
	}
	for _, c := range clients {
		wait := inv.Spin("asking " + c.URL())
		got, stored, failed := c.Version(ctx, name, version)
		wait.Stop()
		if failed == nil {
			remarkStored(inv, c, stored)
			return got, nil
		}
		err = failed
		if !fault.Is(failed, fault.RegistryUnknown) {
			break // another registry may have another server of this name
		}
	}
	return registry.Entry{}, err
}

// addEntry adds the entry of a registry to the configuration. args are NAME ENTRY or ENTRY.
func addEntry(ctx context.Context, inv *invocation.Invocation, args []string, x *entryOptions, later bool) error {
	target, taken, err := importTarget(inv, x.into)
	if err != nil {
		return err
	}
	found, err := findEntry(ctx, inv, args[len(args)-1], &x.registryFlags)
	if err != nil {
		return err
	}
	switch found.Status {
	case "deleted":
		return fault.New(fault.RegistryEntry, "%s %s was deleted from the registry: %s", found.Name, found.Version,
			found.Message)
	case "deprecated":
		inv.Warn(strings.TrimSuffix(fmt.Sprintf("%s %s is deprecated: %s", found.Name, found.Version, found.Message),
			": "),
			"")
	}
	name := clientimport.Label(found.Short())
	if len(args) == 2 {
		name = args[0]
	}
	if err := checkNew(name, target.Path, taken); err != nil {
		return err
	}
	secrets := map[string]string{}
	server, err := serverOf(ctx, inv, found, name, x, secrets)
	if err != nil {
		return err
	}
	got := clientimport.ConvertEntry(server.Server, server.Inputs, found.Name+"@"+found.Version, inv.IsSet)
	got.Notes = append(got.Notes, server.Notes...)
	for i, s := range got.Secrets {
		got.Secrets[i].Value = secrets[strings.TrimPrefix(s.Where, "inputs.")]
	}
	if err := checkRefused(ctx, inv, target, configedit.Append(target.Text, got.Blocks())); err != nil {
		return err
	}
	if err := agreeToAdd(ctx, inv, found, got, target, x.yes); err != nil {
		return err
	}
	return putAndShow(ctx, inv, got, target, name, later, nil)
}

// serverOf makes a server of an entry, and asks for what it needs at a terminal. Answers that
// are secrets are added to secrets by their input.
func serverOf(ctx context.Context, inv *invocation.Invocation, found registry.Entry, name string, x *entryOptions,
	secrets map[string]string) (registry.Server, error) {
	option, err := chooseOption(found, x.remote)
	if err != nil {
		return registry.Server{}, err
	}
	given := map[string]string{}
	for _, text := range x.inputs {
		id, value, ok := strings.Cut(text, "=")
		if !ok {
			return registry.Server{}, fault.New(fault.Usage, "--input %q has no =", id).
				WithHint("write --input NAME=VALUE")
		}
		given[id] = value
	}
	used := map[string]bool{}
	request := registry.Request{Name: name, Option: option, Given: given}
	var failed error
	if inv.CanAsk() {
		request.Ask = func(q registry.Question) (string, bool) {
			value, err := askInput(ctx, inv, q)
			if err != nil {
				failed = err
			}
			if q.Secret && value != "" {
				secrets[q.ID] = value
			}
			return value, value != ""
		}
	}
	server, err := found.Server(request)
	if err == nil {
		err = failed
	}
	for _, in := range server.Inputs {
		if value, ok := given[in.ID]; ok && in.Secret {
			secrets[in.ID] = value
		}
		used[in.ID] = true
	}
	return server, err
}

// chooseOption returns the first way to use a server that works here.
func chooseOption(found registry.Entry, remote bool) (registry.Option, error) {
	all := found.Options()
	if remote {
		all = slices.DeleteFunc(all, func(o registry.Option) bool { return o.Kind != "remote" })
	}
	for _, o := range all {
		if o.Problem == "" {
			return o, nil
		}
	}
	why := "it has neither a package nor a remote"
	switch {
	case len(all) > 0:
		why = all[0].Problem
	case remote:
		why = "it has no remote"
	}
	return registry.Option{}, fault.New(fault.RegistryEntry, "%s %s cannot be used: %s",
		found.Name, found.Version, why).
		WithHint("add the server by its command or URL: junctor add NAME -- COMMAND")
}

// askInput asks for a value at the terminal. An empty answer leaves it out.
func askInput(ctx context.Context, inv *invocation.Invocation, q registry.Question) (string, error) {
	label := q.ID
	if about := strings.Join(strings.Fields(terminal.Safe(q.Description)), " "); about != "" {
		label += " (" + invocation.Short(about) + ")"
	}
	if len(q.Choices) > 0 {
		label += ", one of " + strings.Join(q.Choices, ", ")
	}
	return inv.AskValue(ctx, label, q.Secret)
}

// agreeToAdd shows what the entry comes to, and asks whether to add and start it.
func agreeToAdd(ctx context.Context, inv *invocation.Invocation, found registry.Entry, got clientimport.Result,
	target *clientconfig.File, yes bool) error {
	if yes {
		return nil
	}
	_, _ = fmt.Fprintf(terminal.SafeWriter(inv.Stderr), "%s %s: %s\n\n%s\n", found.Name, found.Version,
		strings.Join(strings.Fields(found.Description), " "), got.HCL)
	if err := showAdditions(inv, target, got.Blocks()); err != nil {
		return err
	}
	if !inv.CanAsk() {
		return fault.New(fault.Usage, "the server comes from a registry, so nothing was added without an answer").
			WithHint("if the block above is what you want, repeat the command with --yes")
	}
	agreed, err := inv.AskYes(ctx, "Add and start it?")
	if err != nil {
		return err
	}
	if !agreed {
		return fault.New(fault.Usage, "nothing was added")
	}
	return nil
}
