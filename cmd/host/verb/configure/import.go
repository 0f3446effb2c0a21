package configure

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/junctor-mcp/junctor/cmd/host/clientfiles"
	"github.com/junctor-mcp/junctor/cmd/host/invocation"
	"github.com/junctor-mcp/junctor/cmd/host/verb"
	"github.com/junctor-mcp/junctor/host/clientconfig"
	"github.com/junctor-mcp/junctor/host/clientimport"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/configedit"
	"github.com/junctor-mcp/junctor/host/fault"
)

// importOptions are the argument and the flags of import.
type importOptions struct {
	inv                *invocation.Invocation
	from               string // a client, a file or -
	scope              string
	only               []string
	write, replace, ok bool // --write, --replace, --yes
	into               writeTarget
	foreign            bool // the user may not have written the file

	prepare func() error // runs before anything is written; may be nil
}

// Import returns the verb import.
func Import(inv *invocation.Invocation) *cobra.Command {
	o := &importOptions{inv: inv}
	cmd := &cobra.Command{
		Use:   "import [CLIENT|FILE|-]",
		Short: "Convert the servers of an MCP client into a configuration",
		Long: `Print the servers in the configuration of an MCP client as server blocks. The file may be that of a client by its name
(` + strings.Join(clientconfig.Names(clientconfig.Clients), ", ") + `),
any file in the format of one of them, a catalog of Docker MCP (YAML), a bundle (.mcpb), or standard input (-), where a
pasted mcpServers object will do. Without an argument, list the clients of this machine and how many servers they have.

Variables become env(). Values that may be secrets are not printed: keyring() stands in their place, or env() in settings
such as url that take no stored secret. A note names each and says how to set it. Notes also say what has no equivalent. An
access control list or permission levels become a policy that never allows more. The client's file is not changed.

With --write, add the blocks to the end of the configuration, or to a new junctor.hcl, and store the secrets, as "junctor
secret set" does; one whose name is taken is left to you. All else in the configuration stays as it is, and
the file as it was is kept in Junctor's data directory until the next change. Servers whose name the configuration has already are left out. A bundle is unpacked
into Junctor's data directory.

Only the file of a client in your own scope counts as yours. Of every other file, --write shows what the blocks would run,
read and contact, as "junctor trust" does, and asks. Without a terminal the blocks are written with enabled = false; --yes
adds them as they are.

With --replace too, put one entry in the place of the imported ones in the client's own file: the one that "junctor export
CLIENT" writes. Comments stay, and the file as it was is kept beside it.`,
		Example: `  junctor import
  junctor import claude-desktop
  junctor import cursor --scope project --write --replace
  junctor import docker-mcp.yaml --only github --write
  junctor import - < mcp.json`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 && !o.write && !o.replace && len(o.only) == 0 {
				return nil // the list of clients
			}
			return verb.Takes("CLIENT|FILE|-")(cmd, args)
		},
		ValidArgsFunction: func(_ *cobra.Command, before []string, _ string) (
			words []cobra.Completion, _ cobra.ShellCompDirective,
		) {
			if len(before) == 0 {
				for _, c := range clientconfig.Clients {
					words = append(words, cobra.CompletionWithDesc(c.Name, c.Title))
				}
			}
			return words, cobra.ShellCompDirectiveDefault
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return listClients(inv)
			}
			o.from = args[0]
			return o.run(cmd.Context())
		},
	}
	o.flags(cmd)
	return cmd
}

// flags adds the flags of import to a command.
func (o *importOptions) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&o.write, "write", false, "add the blocks to the configuration")
	o.into.add(cmd)
	f.BoolVar(&o.replace, "replace", false,
		"with --write: put Junctor in the place of the imported entries in the client's file")
	f.BoolVarP(&o.ok, "yes", "y", false, "add what another person may have written, and replace, without asking")
	f.StringArrayVar(&o.only, "only", nil, "import this `SERVER` of the file; repeat it for several")
	f.StringVar(&o.scope, "scope", string(clientconfig.User),
		"a `SCOPE`, whose file of a client: "+strings.Join(clientconfig.ReadScopes, ", "))
	_ = cmd.RegisterFlagCompletionFunc("scope",
		cobra.FixedCompletions(clientconfig.ReadScopes, cobra.ShellCompDirectiveNoFileComp))
}

// run prints the servers of a client's file, or adds them to the configuration.
func (o *importOptions) run(ctx context.Context) error {
	inv, from, x := o.inv, o.from, *o
	if err := checkReplace(inv, x, from); err != nil {
		return err
	}
	x.into.user = x.into.user || startsOwn(inv, x)
	x.foreign = isForeign(x, from, inv.Get)
	switch {
	case isBundle(from):
		return importBundle(ctx, inv, x, from)
	case isManifest(from):
		return importManifest(ctx, inv, x, from)
	}
	text, path, err := readImport(ctx, inv, x, from)
	if err != nil {
		return err
	}
	if isRegistryEntry(from, text) {
		return importEntry(ctx, inv, x, text, path)
	}
	file, err := clientFile(text, path, clientconfig.Find(from), clientconfig.Scope(x.scope), inv.Get)
	if err != nil {
		return err
	}
	if file.Servers, err = onlyServers(file.Servers, x.only); err != nil {
		return err
	}
	return putContent(ctx, inv, x, file, from)
}

// putContent prints what a file says as a configuration, or adds it to the configuration.
func putContent(ctx context.Context, inv *invocation.Invocation, x importOptions, file clientconfig.Content,
	from string) error {
	var had []string
	got, err := putConverted(ctx, inv, x, func(into string, taken []string) (clientimport.Result, error) {
		had = taken
		return clientimport.Convert(file, surroundings(inv, into, taken)), nil
	})
	if err != nil || !x.replace {
		return err
	}
	return replaceEntries(ctx, inv, x, clientconfig.Find(from),
		replaceable(file, got, usable(ctx, inv, x.into, had), storedSecrets(ctx, inv)))
}

// putConverted converts servers for the configuration at a path, which is empty if they are
// printed, and whose servers are taken. It prints the result, or adds it to the configuration.
func putConverted(ctx context.Context, inv *invocation.Invocation, x importOptions,
	convert func(into string, taken []string) (clientimport.Result, error)) (clientimport.Result, error) {
	var target *clientconfig.File
	var taken []string
	into := ""
	if x.write {
		var err error
		if target, taken, err = importTarget(inv, x.into); err != nil {
			return clientimport.Result{}, err
		}
		into = target.Path
	}
	got, err := convert(into, taken)
	if err != nil {
		return got, err
	}
	if target != nil && len(got.Servers)+len(got.Policy) > 0 {
		if err := checkPolicy(got, target); err != nil {
			return got, err
		}
		if err := checkRefused(ctx, inv, target, configedit.Append(target.Text, got.Blocks())); err != nil {
			return got, err // before the question, and before servers are disabled
		}
		if x.foreign {
			if x.foreign, err = reviewForeign(ctx, inv, x.ok, &got, target); err != nil {
				return got, err
			}
		}
		if x.prepare != nil {
			if err := x.prepare(); err != nil {
				return got, err
			}
		}
	}
	if err := putImport(ctx, inv, &got, target, x.foreign); err != nil {
		return got, err
	}
	if !inv.JSON {
		remarkImport(inv, got)
	}
	return got, nil
}

// standardInput is the path in messages of what is pasted.
const standardInput = "standard input"

// surroundings returns what a conversion may know. into is the path of the configuration, and
// empty if it is not known.
func surroundings(inv *invocation.Invocation, into string, taken []string) clientimport.Environment {
	if into != "" {
		into = filepath.Dir(into)
	}
	return clientimport.Environment{Taken: taken, IsSet: inv.IsSet, IsFile: isFileOfUser, Into: into}
}

// importTarget opens the configuration that --write adds to, and returns the names of its
// servers.
func importTarget(inv *invocation.Invocation, w writeTarget) (*clientconfig.File, []string, error) {
	f, err := targetFile(inv, w)
	if err != nil {
		return nil, nil, err
	}
	names, err := configedit.Servers(f.Text, f.Path)
	if err != nil {
		return nil, nil, fault.Because(fault.ConfigInvalid, err, "nothing was written").
			WithHint("run `junctor validate`")
	}
	return f, names, nil
}

// targetFile opens the configuration that a verb changes. Its text may be invalid.
func targetFile(inv *invocation.Invocation, w writeTarget) (*clientconfig.File, error) {
	path, found := config.FoundName, w.here || inv.ConfigPath() == "" && !w.user
	at, err := config.Find(inv.ConfigPath(), inv.Lookup)
	switch {
	case err == nil && at.Text != nil:
		return nil, fault.New(fault.Usage, "the configuration is in %s and not in a file", config.InlineVariable).
			WithHint("unset it, or name a file with --config")
	case w.user:
		if path, err = w.own(inv); err != nil {
			return nil, err
		}
	case w.here:
	case err == nil:
		path, found = at.Path, at.Found
	case inv.ConfigPath() != "":
		path = inv.ConfigPath()
	case inv.Get("JUNCTOR_CONFIG") != "" && fault.Is(err, fault.ConfigMissing):
		path, found = inv.Get("JUNCTOR_CONFIG"), false
	case !fault.Is(err, fault.ConfigMissing):
		return nil, err
	}
	path, err = filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return nil, fault.New(fault.Usage, "the configuration %s is a directory", path).
			WithHint("omit --write and redirect the output to a file in it")
	}
	f, err := clientfiles.Configuration(path, found)
	if err != nil {
		return nil, clientfiles.Fault(err)
	}
	return f, nil
}

// putImport prints the blocks, or writes them to the end of target and stores their secrets.
// got.Secrets keeps those that were not stored.
func putImport(ctx context.Context, inv *invocation.Invocation, got *clientimport.Result, target *clientconfig.File,
	foreign bool) error {
	if target != nil && len(got.Servers)+len(got.Policy) > 0 {
		backup, err := writeEdited(ctx, inv, target, configedit.Append(target.Text, got.Blocks()), foreign)
		if err != nil {
			return err
		}
		inv.Remark("%s: added to %s", strings.Join(added(*got), ", "), target.Path)
		if backup != "" {
			inv.Remark("the file as it was: %s", backup)
		}
		got.Secrets = storeImported(ctx, inv, target.Path, got.Secrets)
	}
	switch {
	case inv.JSON:
		secrets := make([]map[string]any, 0, len(got.Secrets))
		for _, s := range got.Secrets {
			secrets = append(secrets,
				map[string]any{"name": s.Name, "variable": s.Variable, "server": s.Server, "from": s.Where})
		}
		return inv.PrintJSON(map[string]any{
			"hcl":     string(got.Blocks()),
			"servers": append([]string{}, got.Servers...),
			"secrets": secrets,
			"notes":   append([]string{}, got.Notes...),
		})
	case target == nil:
		_, err := inv.Stdout.Write(got.Blocks())
		return err
	}
	return nil
}

// remarkImport says what was left out, and what to do next.
func remarkImport(inv *invocation.Invocation, got clientimport.Result) {
	for _, n := range got.Notes {
		inv.Remark("%s", n)
	}
	for _, s := range got.Secrets {
		if s.Variable != "" {
			inv.Remark("%s: %s is a secret and was left out; set the variable %s where junctor starts",
				s.Server, s.Where,
				s.Variable)
			continue
		}
		inv.Remark("%s: %s is a secret and was left out; store it: junctor secret set %s", s.Server, s.Where, s.Name)
	}
	if len(got.Servers) == 0 && got.Policy == nil {
		inv.Remark("nothing was added")
	}
}

// checkPolicy refuses to add a policy to a configuration that has one. Its servers are not
// added without it, because they could be used by more clients than before.
func checkPolicy(got clientimport.Result, target *clientconfig.File) error {
	if got.Policy == nil {
		return nil
	}
	has, err := configedit.Has(target.Text, target.Path, "policy")
	if err != nil || !has {
		return err
	}
	return fault.New(fault.Usage, "%s has a policy block already, and the file says who may use its servers",
		target.Path).
		WithHint("omit --write, and add the blocks and the rules by hand; nothing was written")
}

// added returns the names of what an import adds.
func added(got clientimport.Result) []string {
	if got.Policy == nil {
		return got.Servers
	}
	return append(slices.Clone(got.Servers), "policy")
}
