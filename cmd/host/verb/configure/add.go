package configure

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"github.com/junctor-mcp/junctor/cmd/host/invocation"
	"github.com/junctor-mcp/junctor/host/clientconfig"
	"github.com/junctor-mcp/junctor/host/clientimport"
	"github.com/junctor-mcp/junctor/host/configedit"
	"github.com/junctor-mcp/junctor/host/fault"
)

// addOptions holds the arguments and flags of add.
type addOptions struct {
	inv *invocation.Invocation
	invocation.ServerFlags
	words []string
	dash  int  // the words after it are a command; less than 0: there is none
	later bool // do not ask the new server
	into  writeTarget
	scope string
	entry entryOptions
}

// Add returns the verb add.
func Add(inv *invocation.Invocation) *cobra.Command {
	o := &addOptions{inv: inv}
	cmd := &cobra.Command{
		Use:   "add NAME URL | NAME -- COMMAND [ARGUMENT...] | [NAME] REGISTRY-NAME[@VERSION]",
		Short: "Add a server to the configuration",
		Long: `Add a server block to the end of the configuration, or of a new junctor.hcl. --user adds it to your own configuration, which is
used in every directory, and --here to that of this directory; both are used together here. All else in the file stays as it is. The
file as it was is kept in Junctor's data directory until the next change. A server is a URL, or a program with its arguments after --.

A value that may be a secret is not written: keyring() stands in its place, and a note names the command that stores it.
--env NAME without a value passes on a variable.

REGISTRY-NAME is one that "junctor search" lists. Its version is pinned. Required inputs are asked for at a terminal, or stay
references that you fill in; --input gives them. The block is shown, and added if you agree.

The server is started or asked at once, and its tools are shown. If that fails, the block stays, unless its program does
not exist; at a terminal you are asked.`,
		Example: `  junctor add files -- npx -y @modelcontextprotocol/server-filesystem .
  junctor add github --env GITHUB_TOKEN -- npx -y @modelcontextprotocol/server-github
  junctor add linear https://mcp.linear.app/mcp
  junctor add io.github.example/weather --input CITY=Oslo`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) < 2 && (len(args) == 0 || !isEntry(args, cmd.ArgsLenAtDash())) {
				return fault.New(fault.Usage, "a name, and a URL or a command, are missing").
					WithHint("write junctor add NAME URL, junctor add NAME -- COMMAND ARGUMENT..., or " +
						"junctor add REGISTRY-NAME, which junctor search lists")
			}
			return nil
		},
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.words, o.dash = args, cmd.ArgsLenAtDash()
			return o.run(cmd.Context())
		},
	}
	o.flags(cmd)
	return cmd
}

// flags adds the flags of add to a command.
func (o *addOptions) flags(cmd *cobra.Command) {
	o.into.add(cmd)
	f := cmd.Flags()
	f.StringVar(&o.scope, "scope", "", "a `SCOPE`, whose configuration: user, which is --user; project, that of the "+
		"project that this directory is in; or local, your own for that project alone")
	cmd.MarkFlagsMutuallyExclusive("scope", "user", "here")
	scopes := []string{string(clientconfig.User), string(clientconfig.Project), scopeLocal}
	_ = cmd.RegisterFlagCompletionFunc("scope", cobra.FixedCompletions(scopes, cobra.ShellCompDirectiveNoFileComp))
	f.StringArrayVar(&o.Env, "env", nil, "`NAME=VALUE`, or NAME to pass on: a variable of the program; can be repeated")
	f.StringArrayVar(&o.Headers, "header", nil, "a `HEADER` for a URL, as \"NAME: VALUE\"; can be repeated")
	f.StringVar(&o.Dir, "cwd", "", "working `DIRECTORY` of the program")
	o.entry.registryFlags.add(cmd)
	f.BoolVar(&o.later, "no-start", false, "do not start or ask the server")
	f.StringArrayVar(&o.entry.inputs, "input", nil, "`NAME=VALUE`: an input of an entry in a registry; can be repeated")
	f.BoolVar(&o.entry.remote, "remote", false, "use the remote of an entry, and not its package")
	f.BoolVarP(&o.entry.yes, "yes", "y", false, "add an entry of a registry without asking")
	f.BoolVar(&o.Sse, "sse", false, "the URL is of the older HTTP transport with server-sent events")
}

func (o *addOptions) run(ctx context.Context) error {
	if err := o.into.choose(o.scope, o.inv.Lookup); err != nil {
		return err
	}
	if isEntry(o.words, o.dash) {
		o.entry.into = o.into
		return addEntry(ctx, o.inv, o.words, &o.entry, o.later)
	}
	s, err := o.Server(o.words, o.dash)
	if err != nil {
		return err
	}
	return addServer(ctx, o.inv, s, o.later, o.into)
}

// addServer adds one server to the configuration, and shows its tools.
func addServer(ctx context.Context, inv *invocation.Invocation, s clientconfig.Server, later bool,
	into writeTarget) error {
	target, taken, err := importTarget(inv, into)
	if err != nil {
		return err
	}
	if err := checkNew(s.Name, target.Path, taken); err != nil {
		return err
	}
	got := clientimport.Convert(clientconfig.Content{Servers: []clientconfig.Server{s}},
		surroundings(inv, target.Path, taken))
	var wantsLogin func() error
	if s.URL != "" && len(s.Headers) == 0 {
		wantsLogin = func() error { return addLogin(ctx, inv, s, into) }
	}
	if err := putAndShow(ctx, inv, got, target, s.Name, later, wantsLogin); err != nil {
		return err
	}
	noteState(inv, s.Name, s.Command)
	noteRelative(inv, target.Path, s)
	return nil
}

// addLogin gives the block of a new server an auth block.
func addLogin(ctx context.Context, inv *invocation.Invocation, s clientconfig.Server, into writeTarget) error {
	target, _, err := importTarget(inv, into)
	if err != nil {
		return err
	}
	text, err := configedit.Remove(target.Text, target.Path, s.Name)
	if err != nil {
		return err
	}
	s.OAuth = &clientconfig.OAuth{}
	got := clientimport.Convert(clientconfig.Content{Servers: []clientconfig.Server{s}},
		surroundings(inv, target.Path, nil))
	if _, err := writeEdited(ctx, inv, target, configedit.Append(text, got.HCL), false); err != nil {
		return err
	}
	inv.Remark(`%s wants a login, so its block has auth "oauth"; run junctor login %s`, s.Name, s.Name)
	return nil
}

// checkNew refuses the name of a new server that is taken or not valid.
func checkNew(name, path string, taken []string) error {
	if slices.Contains(taken, name) {
		return fault.New(fault.Usage, "%s has a server %q already", path, name).
			WithHint("choose another name, or run `junctor remove %s` first", name)
	}
	if !clientimport.ValidName(name) {
		return fault.New(fault.Usage, "%q cannot be the name of a server", name).
			WithHint("use letters, digits, - and _, starting with a letter, at most 40, without __ and a _ at the end")
	}
	return nil
}

// putAndShow writes the block of one new server, stores its secrets and shows its tools.
func putAndShow(ctx context.Context, inv *invocation.Invocation, got clientimport.Result, target *clientconfig.File,
	name string, later bool, wantsLogin func() error) error {
	if err := putImport(ctx, inv, &got, target, false); err != nil || inv.JSON {
		return err
	}
	remarkImport(inv, got)
	if !later && len(got.Secrets) == 0 {
		return showAdded(ctx, inv, target.Path, name, wantsLogin)
	}
	inv.Remark("junctor tools %s shows what it offers", name)
	return nil
}
