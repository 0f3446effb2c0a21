// Package credentials has the verbs of the group credentials.
//
// login.go is the verbs login and logout, auth.go the state of logins, and secret.go and
// secretlock.go the stored secrets and the password of their file. A verb is run once in a process,
// on the main goroutine. Package secrets opens the store. Only secret get prints a secret.
package credentials

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/junctor-mcp/junctor/cmd/host/invocation"
	"github.com/junctor-mcp/junctor/cmd/host/items"
	"github.com/junctor-mcp/junctor/cmd/host/processes"
	"github.com/junctor-mcp/junctor/cmd/host/terminal"
	"github.com/junctor-mcp/junctor/cmd/host/verb"
	"github.com/junctor-mcp/junctor/host"
	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/login"
	"github.com/junctor-mcp/junctor/sdk"
)

// portsVariable is the variable for the ports of the callback.
const portsVariable = "JUNCTOR_CALLBACK_PORTS"

// Login returns the verb login.
func Login(inv *invocation.Invocation) *cobra.Command {
	o := &loginOptions{inv: inv}
	cmd := &cobra.Command{
		Use:   "login SERVER",
		Short: "Log in to a server, as its auth block says",
		Long: `Log in to a server, as its auth block says, and store the credentials in the key ring or an encrypted file.

The page to log in on opens in the browser. Without one, and with --no-browser, NO_BROWSER or CI set, its address
is printed: open it anywhere, and paste the address that it leads to in the end.

With --instance, the running process logs in, with the configuration and the store of secrets that it has open. The
address of the page is printed: open it on the machine of the process.`,
		Example: `  junctor login github
  junctor login github --no-browser
  junctor login github --scope repo --scope gist`,
		Args:              verb.Takes("SERVER"),
		ValidArgsFunction: inv.Completes(completeLogin),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.server = args[0]
			return o.run(cmd.Context())
		},
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&o.scopes, "scope", nil, "ask for this `SCOPE` as well; may be repeated")
	flags.BoolVar(&o.noBrowser, "no-browser", false, "print the page's address instead of opening it")
	flags.StringVar(&o.ports, "callback-port", "",
		"`PORT` of 127.0.0.1 for the end of the login: one, a range a-b, or 0 for any "+
			"(default 8085-8099, or "+portsVariable+")")
	tenantFlag(cmd, &o.tenant)
	processes.Flag(inv, cmd, &o.instance)
	for _, other := range []string{"scope", "no-browser", "callback-port", "tenant"} {
		cmd.MarkFlagsMutuallyExclusive("instance", other)
	}
	return cmd
}

// loginThrough makes a running process log in to the server.
func (o *loginOptions) loginThrough(ctx context.Context) error {
	inv, server := o.inv, o.server
	process, err := processes.One(ctx, inv, o.instance)
	if err != nil {
		return err
	}
	if err := processes.CheckNames(process.Status, []string{server}, false); err != nil {
		return err
	}
	done, err := process.Login(ctx, server, func(page string) {
		fmt.Fprintf(terminal.SafeWriter(inv.Stderr),
			"Open this address on the machine of the process:\n\n  %s\n\nWaiting for the end of the login.\n", page)
	})
	if err != nil {
		return err
	}
	if inv.Machine() {
		return inv.PrintJSON(done)
	}
	as := ""
	if done.Account != "" {
		as = " as " + done.Account
	}
	inv.Printf("process %s is logged in to %s%s\n", done.Instance, done.Server, as)
	return nil
}

// loginOptions are the argument and the flags of login.
type loginOptions struct {
	inv           *invocation.Invocation
	server        string
	scopes        []string
	noBrowser     bool
	ports, tenant string
	instance      string
}

// tenantFlag adds --tenant, for servers whose credentials are not shared.
func tenantFlag(cmd *cobra.Command, tenant *string) {
	cmd.Flags().StringVar(tenant, "tenant", "",
		"on whose behalf: `TENANT` where the server has share = \"tenant\", TENANT/SUBJECT with \"session\" "+
			"(default: your own)")
	_ = cmd.RegisterFlagCompletionFunc("tenant", cobra.NoFileCompletions)
}

func (o *loginOptions) run(ctx context.Context) error {
	if o.instance != "" {
		return o.loginThrough(ctx)
	}
	inv := o.inv
	app, s, tenant, err := authServer(ctx, inv, o.server, o.tenant)
	if err != nil {
		return err
	}
	for _, ports := range []string{inv.Get(portsVariable), host.RegisteredPort(s)} {
		if o.ports == "" {
			o.ports = ports
		}
	}
	out := terminal.SafeWriter(inv.Stderr)
	if hint, ok := login.HintFor(host.Address(s)); ok {
		inv.Note(s.Name, hint.String())
	}
	p, err := login.New(login.Options{
		In:        inv.Stdin,
		Out:       out,
		Server:    s.Name,
		Loopback:  host.OnLoopback(host.Address(s)),
		NoBrowser: o.noBrowser,
		Ports:     o.ports,
		Lookup:    inv.Lookup,
	})
	if err != nil {
		return fault.Because(fault.Usage, err, "the port of the callback").
			WithHint("write --callback-port 8085, 8085-8099 or 0")
	}
	account, err := app.Login(ctx, s, tenant, p, o.scopes)
	if err != nil {
		return nothingToLogIn(err, s)
	}
	if inv.Machine() {
		return inv.PrintJSON(map[string]string{"server": s.Name, "account": account, "stored": app.Secrets().Where()})
	}
	as := ""
	if account != "" {
		as = " as " + account
	}
	inv.Printf("logged in to %s%s; stored in %s\n", s.Name, as, app.Secrets().Where())
	return nil
}

// Logout returns the verb logout.
func Logout(inv *invocation.Invocation) *cobra.Command {
	o := &logoutOptions{inv: inv}
	cmd := &cobra.Command{
		Use:   "logout SERVER",
		Short: "Delete the credentials of a login, and revoke them if the server supports it",
		Args:  verb.Takes("SERVER"), ValidArgsFunction: inv.Completes(completeLogin),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.server = args[0]
			return o.run(cmd.Context())
		},
	}
	tenantFlag(cmd, &o.tenant)
	return cmd
}

// logoutOptions are the argument and the flag of logout.
type logoutOptions struct {
	inv            *invocation.Invocation
	server, tenant string
}

func (o *logoutOptions) run(ctx context.Context) error {
	app, s, tenant, err := authServer(ctx, o.inv, o.server, o.tenant)
	if err != nil {
		return err
	}
	if err := app.Logout(ctx, s, tenant); err != nil {
		return nothingToLogIn(err, s)
	}
	if o.inv.Machine() {
		return o.inv.PrintJSON(map[string]string{"server": s.Name})
	}
	o.inv.Printf("logged out of %s\n", s.Name)
	return nil
}

// authServer returns the app, a server with an auth block, and the tenant to act for.
func authServer(ctx context.Context, inv *invocation.Invocation, name, tenant string) (
	*host.App, *config.Server, string, error,
) {
	app, err := inv.Load(ctx, invocation.Needs{})
	if err != nil {
		return nil, nil, "", err
	}
	s, tenant, err := authServerOf(app, name, tenant)
	return app, s, tenant, err
}

// authServerOf is authServer for a loaded configuration.
func authServerOf(app *host.App, name, tenant string) (*config.Server, string, error) {
	s, err := items.ServerNamed(app, name)
	if err == nil {
		err = items.Enabled(app, name)
	}
	switch {
	case err != nil:
		return nil, "", err
	case s.Auth == nil && startsProgram(app, s):
		f := fault.New(fault.Usage,
			"server %q is a program that junctor starts, so there is nothing to log in to", name).
			WithHint(`give the program its credentials in the transport: env = { NAME = keyring("NAME") }, ` +
				`and store them with junctor secret set NAME`)
		f.At = s.At.String()
		return nil, "", f
	case s.Auth == nil:
		f := fault.New(fault.Usage, "server %q has no auth block, so there is nothing to log in to", name)
		f.At = s.At.String()
		if hint, ok := login.HintFor(host.Address(s)); ok {
			return nil, "", f.WithHint("%s", hint)
		}
		return nil, "", f.WithHint("write auth \"oauth\" { } or auth \"bearer\" { ... } in its block")
	case tenant != "" && s.Share == "global":
		return nil, "", fault.
			New(fault.Usage, "server %q is shared by all tenants, so its credentials belong to no tenant", name).
			WithHint(`omit --tenant, or write share = "tenant" in the server's block`)
	case tenant != "" && s.Share == "session" && !ofPerson(tenant):
		return nil, "", fault.
			New(fault.Usage, "server %q has credentials for each user, but %q names only a tenant", name, tenant).
			WithHint("write --tenant %s/SUBJECT, as in the error that the user gets", tenant)
	case tenant == "":
		tenant = host.Tenant(s, authn.Local())
	}
	return s, tenant, nil
}

// startsProgram reports whether the transport of a server starts a program and sends no
// requests over a network. Such a transport cannot have an auth block.
func startsProgram(app *host.App, s *config.Server) bool {
	return slices.ContainsFunc(app.Config().Plugins, func(p config.Plugin) bool {
		return p.Name == s.Transport.Plugin && (p.Source == "builtin/stdio" || p.Source == "builtin/cli")
	})
}

// ofPerson reports whether a text has the form TENANT/SUBJECT.
func ofPerson(tenant string) bool {
	of, subject, both := strings.Cut(tenant, "/")
	return both && of != "" && subject != ""
}

// nothingToLogIn adds a hint to the error of a provider without a login.
func nothingToLogIn(err error, s *config.Server) error {
	if e, ok := errors.AsType[*sdk.Error](err); !ok || e.Code != sdk.Unimplemented || e.Reason != "" {
		return err
	}
	f := *fault.As(err)
	if f.Code = fault.Usage; f.Hint == "" {
		f.Hint = fmt.Sprintf("it obtains credentials by itself: run `junctor status %s` to try them", s.Name)
	}
	return &f
}

// completeLogin completes servers with an auth block.
func completeLogin(app *host.App, before []string, _ string) (words []cobra.Completion, _ bool) {
	if len(before) > 0 {
		return nil, false
	}
	for _, s := range app.Config().Servers {
		if s.Enabled && s.Auth != nil {
			words = invocation.Offer(words, s.Name, s.Auth.Kind)
		}
	}
	return words, false
}
