package credentials

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/junctor-mcp/junctor/cmd/host/invocation"
	"github.com/junctor-mcp/junctor/cmd/host/items"
	"github.com/junctor-mcp/junctor/cmd/host/secrets"
	"github.com/junctor-mcp/junctor/cmd/host/terminal"
	"github.com/junctor-mcp/junctor/cmd/host/verb"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/secret"
)

// secretOptions are the argument and the flags of the verbs of secret.
type secretOptions struct {
	inv     *invocation.Invocation
	name    string
	servers []string // of grant
	yes     bool     // of lock: ask nothing
}

// Secret returns the verb secret.
func Secret(inv *invocation.Invocation) *cobra.Command {
	group := &cobra.Command{
		Use: "secret", Short: "Store secrets that the configuration names with keyring()", Args: verb.TakesVerb,
		Long: `Store secrets in the key ring of this machine or, without one, in an encrypted file, for
keyring("NAME") in the configuration. The credentials of auth providers are stored there too and are not listed.

A secret is handed only to the servers that it was granted to: those that use it in the configuration that is loaded when
it is set, each with the program and arguments, or the host, that it has then. Another configuration, or another program,
needs "junctor secret grant".`,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	group.AddCommand(
		&cobra.Command{
			Use: "set NAME", Short: "Store a secret: typed at a prompt, or all of standard input",
			Args: verb.Takes("NAME"),
			Long: `Store a secret, in place of one of the same name. It is typed at a prompt, without being shown, or read from
standard input, without its last line break. It is no argument, because every user of the machine could see it there.`,
			Example:           "  junctor secret set github\n  pass show github | junctor secret set github",
			ValidArgsFunction: cobra.NoFileCompletions,
			RunE: func(cmd *cobra.Command, args []string) error {
				o := &secretOptions{inv: inv, name: args[0]}
				return o.set(cmd.Context())
			},
		},
		secretGrantVerb(inv),
		&cobra.Command{
			Use: "get NAME", Short: "Print a secret", Args: verb.Takes("NAME"),
			ValidArgsFunction: cobra.NoFileCompletions,
			RunE: func(cmd *cobra.Command, args []string) error {
				o := &secretOptions{inv: inv, name: args[0]}
				return o.get(cmd.Context())
			},
		},
		&cobra.Command{
			Use: "list", Short: "List the names of the secrets", Args: verb.Takes(),
			RunE: func(cmd *cobra.Command, _ []string) error {
				o := &secretOptions{inv: inv}
				return o.list(cmd.Context())
			},
		},
		&cobra.Command{
			Use: "remove NAME", Short: "Remove a secret", Args: verb.Takes("NAME"),
			ValidArgsFunction: cobra.NoFileCompletions,
			RunE: func(cmd *cobra.Command, args []string) error {
				o := &secretOptions{inv: inv, name: args[0]}
				return o.remove(cmd.Context())
			},
		},
		secretUnlockVerb(inv),
		secretLockVerb(inv),
	)
	return group
}

// set stores the secret.
func (o *secretOptions) set(ctx context.Context) error {
	inv, name := o.inv, o.name
	s, err := secrets.Open(ctx, inv)
	if err != nil {
		return err
	}
	value, err := readSecret(ctx, inv, name)
	if err != nil {
		return err
	}
	defer clear(value)
	if len(value) == 0 {
		return fault.New(fault.Usage, "the secret %q is empty", name).
			WithHint("to delete it run `junctor secret remove %s`", name)
	}
	// Grant first: without the secret a grant has no effect.
	if err := s.User().Grant(ctx, name, secrets.FirstRecipients(inv, name)...); err != nil {
		return err
	}
	if err := s.User().Set(ctx, name, value); err != nil {
		return err
	}
	if inv.Machine() {
		return inv.PrintJSON(map[string]string{"name": name, "stored": s.Where()})
	}
	inv.Printf("stored %s in %s\n", name, s.Where())
	return nil
}

// readSecret reads a secret from the terminal or from standard input.
func readSecret(ctx context.Context, inv *invocation.Invocation, name string) ([]byte, error) {
	if terminal.IsTerminal(inv.Stdin) {
		text, err := inv.AskValue(ctx, "Secret "+name, true)
		return []byte(text), err
	}
	value, err := terminal.Interruptible(ctx, func() ([]byte, error) {
		return io.ReadAll(io.LimitReader(inv.Stdin, secret.MostValue+2))
	})
	if err != nil {
		return nil, fault.Because(fault.Usage, err, "reading the secret from standard input")
	}
	value = bytes.TrimSuffix(value, []byte("\n"))
	return bytes.TrimSuffix(value, []byte("\r")), nil
}

// get prints the secret.
func (o *secretOptions) get(ctx context.Context) error {
	inv, name := o.inv, o.name
	s, err := secrets.Open(ctx, inv)
	if err != nil {
		return err
	}
	value, err := s.User().Get(ctx, name)
	if err != nil {
		return err
	}
	defer clear(value)
	switch {
	case inv.JSON:
		return inv.PrintJSON(map[string]string{"name": name, "value": string(value)})
	case inv.OutTTY:
		inv.Printf("%s\n", value)
		return nil
	}
	_, err = inv.Stdout.Write(value) // exactly the value, for a program at the other end of a pipe
	return err
}

// list prints the names of all secrets.
func (o *secretOptions) list(ctx context.Context) error {
	inv := o.inv
	s, err := secrets.Open(ctx, inv)
	if err != nil {
		return err
	}
	names, err := s.User().List(ctx)
	if err != nil {
		return err
	}
	if inv.Machine() {
		return inv.PrintJSON(map[string]any{"names": append([]string{}, names...), "stored": s.Where()})
	}
	if len(names) == 0 {
		fmt.Fprintln(inv.Stderr, terminal.Safe("no secrets in "+s.Where()))
	}
	for _, name := range names {
		inv.Printf("%s\n", name)
	}
	return nil
}

// remove removes the secret.
func (o *secretOptions) remove(ctx context.Context) error {
	inv, name := o.inv, o.name
	s, err := secrets.Open(ctx, inv)
	if err != nil {
		return err
	}
	if err := s.User().Remove(ctx, name); err != nil {
		return err
	}
	if inv.Machine() {
		return inv.PrintJSON(map[string]string{"name": name})
	}
	inv.Printf("removed %s\n", name)
	return nil
}

func secretGrantVerb(inv *invocation.Invocation) *cobra.Command {
	o := &secretOptions{inv: inv}
	cmd := &cobra.Command{
		Use: "grant NAME", Short: "Let servers of the configuration have a secret", Args: verb.Takes("NAME"),
		Long: `Let the servers of the configuration that use a secret have it, as they are reached now: with this program and
these arguments, or at this host. It is needed for another configuration than the one for which the secret was set, and
after a server's command or host has changed.`,
		Example:           "  junctor secret grant github\n  junctor secret grant github --server issues",
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.name = args[0]
			return o.grant(cmd.Context())
		},
	}
	cmd.Flags().StringArrayVar(&o.servers, "server", nil,
		"a `SERVER` that may have it; repeatable; all that use it if not given")
	_ = cmd.RegisterFlagCompletionFunc("server", inv.Completes(items.CompleteServers))
	return cmd
}

// grant lets servers have the secret.
func (o *secretOptions) grant(ctx context.Context) error {
	inv, name, servers := o.inv, o.name, o.servers
	app, err := inv.Load(ctx, invocation.Needs{})
	if err != nil {
		return err
	}
	if _, err := app.Secrets().User().Get(ctx, name); err != nil {
		return err
	}
	for _, s := range servers {
		if _, err := items.ServerNamed(app, s); err != nil {
			return err
		}
	}
	var to []secret.Recipient
	for _, r := range app.Recipients(name) {
		if len(servers) == 0 || slices.Contains(servers, r.Server) {
			to = append(to, r)
		}
	}
	if len(to) == 0 && len(servers) > 0 {
		named := strings.Join(servers, ", ")
		return fault.New(fault.Usage, "keyring(%q) is not used by %s in %s", name, named, app.Config().Path).
			WithHint("omit --server to grant it to every server that uses it")
	}
	if len(to) == 0 {
		return fault.New(fault.Usage, "no server of %s uses keyring(%q)", app.Config().Path, name).
			WithHint("check the names; the configuration is the one that --config names, or the one found here")
	}
	if err := app.Secrets().User().Grant(ctx, name, to...); err != nil {
		return err
	}
	names := []string{}
	for _, r := range to {
		if !slices.Contains(names, r.Server) {
			names = append(names, r.Server)
		}
	}
	if inv.Machine() {
		return inv.PrintJSON(map[string]any{"name": name, "servers": names})
	}
	for _, s := range names {
		inv.Printf("granted %s to %s\n", name, s)
	}
	return nil
}
