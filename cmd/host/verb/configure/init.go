package configure

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/junctor-mcp/junctor/cmd/host/clientfiles"
	"github.com/junctor-mcp/junctor/cmd/host/invocation"
	"github.com/junctor-mcp/junctor/cmd/host/verb"
	"github.com/junctor-mcp/junctor/host/clientconfig"
	"github.com/junctor-mcp/junctor/host/clientimport"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/suggest"
)

// initOptions are the flags of init.
type initOptions struct {
	inv  *invocation.Invocation
	here bool
	from []string // clients
}

// Init returns the verb init.
func Init(inv *invocation.Invocation) *cobra.Command {
	o := &initOptions{inv: inv}
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Begin a configuration, with the servers that MCP clients of this machine have",
		Long: `Write the first configuration, for all directories of the user, or with --here for this one. It says which MCP clients of
this machine have servers, and imports those of --from CLIENT, or at a terminal those that you agree to. Secrets are stored, as
"junctor import --write" does. The files of the clients are not changed: "junctor export CLIENT" does that.`,
		Example: "  junctor init\n  junctor init --from claude-desktop --from cursor",
		Args:    verb.Takes(), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context()) },
	}
	cmd.Flags().BoolVar(&o.here, "here", false, "write junctor.hcl in the current directory")
	cmd.Flags().StringArrayVar(&o.from, "from", nil, "import the servers of this `CLIENT`; repeat it for several")
	_ = cmd.RegisterFlagCompletionFunc("from",
		cobra.FixedCompletions(clientconfig.Names(clientconfig.Clients), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// firstLines begin a new configuration.
const firstLines = `# Servers of Junctor. "junctor add" adds one, "junctor validate" checks this file.
`

// run writes the first configuration.
func (o *initOptions) run(ctx context.Context) error {
	inv := o.inv
	path, err := firstPath(inv, o.here)
	if err != nil {
		return err
	}
	target, err := clientfiles.Configuration(path, o.here && inv.ConfigPath() == "")
	if err != nil {
		return clientfiles.Fault(err)
	}
	if target.Text != nil {
		return fault.New(fault.Usage, "%s exists already", path).
			WithHint("junctor import CLIENT --write and junctor add add servers to it")
	}
	all, next, err := o.chosenServers(ctx)
	if err != nil {
		return err
	}
	got := clientimport.Convert(all, surroundings(inv, path, nil))
	text := []byte(firstLines)
	if len(got.Servers) > 0 {
		text = append(append(text, '\n'), got.Blocks()...)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fault.Because(fault.Usage, err, "the directory of the configuration cannot be made")
	}
	if _, err := writeEdited(ctx, inv, target, text, false); err != nil {
		return err
	}
	got.Secrets = storeImported(ctx, inv, path, got.Secrets)
	if inv.Interrupted.Load() {
		// Without the secrets the servers are of little use, and a second init would find the file.
		if err := os.Remove(path); err != nil {
			return fault.Because(fault.Interrupted, err, "interrupted, and %s stays", path)
		}
		return fault.New(fault.Interrupted, "interrupted: nothing was written").WithHint("run the command again")
	}
	if inv.JSON {
		return inv.PrintJSON(map[string]any{"file": path, "servers": append([]string{}, got.Servers...)})
	}
	inv.Remark("wrote %s", path)
	if len(all.Servers) > 0 {
		remarkImport(inv, got)
	}
	if inv.App != nil {
		warnLocked(ctx, inv)
	}
	inv.Remark("next: %s", next)
	return nil
}

// chosenServers returns the servers of the clients that the flags name, or that the user agrees
// to, and says what to do next.
func (o *initOptions) chosenServers(ctx context.Context) (all clientconfig.Content, next string, err error) {
	found, err := serversOfClients(o.inv, o.from)
	if err != nil {
		return all, "", err
	}
	next = "junctor add NAME -- COMMAND, junctor tools, and junctor export CLIENT to give it to a client"
	for _, c := range found {
		use := len(o.from) > 0
		if !use && o.inv.CanAsk() {
			if use, err = agreeToImport(ctx, o.inv, c); err != nil {
				return all, "", err
			}
		}
		if !use {
			o.inv.Remark("%s has %s: junctor import %s --write adds them", c.client.Title, c.count(), c.client.Name)
			continue
		}
		all.Servers = append(all.Servers, c.file.Servers...)
		all.Inputs = append(all.Inputs, c.file.Inputs...)
		all.Notes = append(all.Notes, c.file.Notes...)
		all.Access = cmp.Or(all.Access, c.file.Access)
		all.Permissions = cmp.Or(all.Permissions, c.file.Permissions)
		next = nextFor(c.client)
	}
	return all, next, nil
}

// nextFor says how a client whose servers were imported gets Junctor in their place.
func nextFor(c *clientconfig.Client) string {
	if c.ReadOnly() {
		return fmt.Sprintf("junctor tools, and put junctor serve into the file of %s in the place of its servers",
			c.Title)
	}
	return fmt.Sprintf(
		"junctor tools, and junctor import %s --write --replace, which puts Junctor in the place of these "+
			"servers in the file of %s", c.Name, c.Title,
	)
}

// firstPath returns where the first configuration goes.
func firstPath(inv *invocation.Invocation, here bool) (string, error) {
	switch {
	case inv.Get(config.InlineVariable) != "":
		return "", fault.New(fault.Usage, "%s has the configuration", config.InlineVariable).WithHint("unset it")
	case inv.ConfigPath() != "":
		return filepath.Abs(inv.ConfigPath())
	case here:
		return filepath.Abs(config.FoundName)
	case inv.Get("JUNCTOR_CONFIG") != "":
		return filepath.Abs(inv.Get("JUNCTOR_CONFIG"))
	}
	if path := config.OwnPath(inv.Lookup); path != "" {
		return path, nil
	}
	return "", fault.New(fault.Usage, "the directory of your configuration is not known").
		WithHint("set HOME, or add --here")
}

// clientServers are the servers in the file of a client.
type clientServers struct {
	client *clientconfig.Client
	file   clientconfig.Content
}

func (c clientServers) count() string {
	n := len(clientimport.Others(c.file.Servers))
	if n == 1 {
		return "1 server"
	}
	return fmt.Sprintf("%d servers", n)
}

// serversOfClients reads the files of the clients with these names, in their order, or of all
// clients that have one.
func serversOfClients(inv *invocation.Invocation, names []string) (all []clientServers, err error) {
	clients := clientconfig.Clients
	if len(names) > 0 {
		if clients, err = clientsNamed(names); err != nil {
			return nil, err
		}
	}
	for _, c := range clients {
		got, err := serversOf(inv, c)
		switch {
		case err == nil:
			all = append(all, got)
		case len(names) > 0:
			return nil, err
		case fault.Is(err, fault.ImportFile) && !errors.Is(err, errNoServers) && !errors.Is(err, fs.ErrNotExist):
			f := fault.As(err)
			inv.Warn(strings.TrimSpace("the file of "+c.Title+" is not read: "+f.Message+" "+placeIn(f.At)),
				"mend it, then run `junctor import "+c.Name+" --write`")
		}
	}
	return all, nil
}

// placeIn returns a place for the end of a sentence, or "".
func placeIn(at string) string {
	if at == "" {
		return ""
	}
	return "at " + at
}

// errNoServers marks the error of a client's file without servers.
var errNoServers = errors.New("no servers")

func clientsNamed(names []string) (all []*clientconfig.Client, err error) {
	for _, name := range names {
		c := clientconfig.Find(name)
		if c == nil {
			names := clientconfig.Names(clientconfig.Clients)
			return nil, verb.WithSuggestion(fault.New(fault.Usage, "there is no client %q", name),
				suggest.Nearest(name, names),
				"one of "+strings.Join(names, ", "))
		}
		all = append(all, c)
	}
	return all, nil
}

// serversOf reads the file of one client.
func serversOf(inv *invocation.Invocation, c *clientconfig.Client) (clientServers, error) {
	path, err := importPath(importOptions{scope: string(clientconfig.User)}, c.Name, inv.Get)
	if err != nil {
		return clientServers{}, err
	}
	text, err := readRegular(path)
	if err != nil {
		return clientServers{}, fault.Because(fault.ImportFile, err, "the file of %s cannot be read", c.Title)
	}
	file, err := clientFile(text, path, c, clientconfig.User, inv.Get)
	if err == nil && len(file.Servers) > 0 && len(clientimport.Others(file.Servers)) == 0 {
		none := fault.New(fault.ImportFile, "the only server in %s is Junctor itself", path).
			WithHint("omit --from %s", c.Name)
		none.Err = errNoServers
		return clientServers{}, none
	}
	if err != nil {
		return clientServers{}, err
	}
	if len(file.Servers) == 0 {
		none := fault.New(fault.ImportFile, "%s has no servers", path).
			WithHint("run `junctor import %s` to see why", c.Name)
		none.Err = errNoServers
		return clientServers{}, none
	}
	return clientServers{c, file}, nil
}

// agreeToImport asks whether to import the servers of a client. An empty answer is yes: a
// server runs only when it is used.
func agreeToImport(ctx context.Context, inv *invocation.Invocation, c clientServers) (bool, error) {
	return inv.AskNo(ctx, fmt.Sprintf("Import %s of %s?", c.count(), c.client.Title))
}
