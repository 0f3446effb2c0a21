package configure

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/junctor-mcp/junctor/cmd/host/invocation"
	"github.com/junctor-mcp/junctor/cmd/host/terminal"
	"github.com/junctor-mcp/junctor/cmd/host/verb"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/registry"
)

// registryVariable names the registries that are asked, separated by spaces.
const registryVariable = "JUNCTOR_REGISTRY"

// maxRegistries bounds the registries that one command asks.
const maxRegistries = 8

// registryFlags are the flags of verbs that ask registries.
type registryFlags struct {
	urls    []string
	offline bool
}

func (f *registryFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&f.urls, "registry", nil, "ask the registry at this `URL`; repeat it for several "+
		"(default: "+registryVariable+", else the official one)")
	cmd.Flags().BoolVar(&f.offline, "offline", false, "use what registries answered before, and ask no server")
}

// registries returns the registries to ask, in their order.
func registries(inv *invocation.Invocation, f *registryFlags) (all []*registry.Client, err error) {
	urls := f.urls
	if len(urls) == 0 {
		urls = strings.Fields(inv.Get(registryVariable))
	}
	if len(urls) == 0 {
		urls = []string{registry.Official}
	}
	if len(urls) > maxRegistries {
		return nil, fault.New(fault.Usage, "%d registries are too many", len(urls)).
			WithHint("name at most %d", maxRegistries)
	}
	if err := inv.FindDirs(); err != nil {
		return nil, err
	}
	for _, u := range urls {
		c, err := registry.NewClient(u, inv.Dirs.Cache, f.offline)
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
}

// searchOptions are the argument and the flags of search.
type searchOptions struct {
	inv *invocation.Invocation
	registryFlags
	text string
}

// Search returns the verb search.
func Search(inv *invocation.Invocation) *cobra.Command {
	o := &searchOptions{inv: inv}
	cmd := &cobra.Command{
		Use:   "search TEXT",
		Short: "Search registries for servers",
		Long: `List the servers in MCP registries whose name contains TEXT, the best match first. "junctor add NAME" adds one.

Answers are kept: --offline, and a registry that cannot be reached, use them.`,
		Example:           "  junctor search github\n  junctor search --registry https://registry.example.com weather",
		Args:              verb.Takes("TEXT"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.text = args[0]
			return o.run(cmd.Context())
		},
	}
	o.add(cmd)
	return cmd
}

// entryJSON is the JSON form of a search result.
type entryJSON struct {
	Name        string `json:"name"`
	Version     string `json:"version"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description"`
	Status      string `json:"status,omitempty"`
	Registry    string `json:"registry"`
}

func (o *searchOptions) run(ctx context.Context) error {
	inv := o.inv
	clients, err := registries(inv, &o.registryFlags)
	if err != nil {
		return err
	}
	found, seen := []entryJSON{}, map[string]bool{}
	var failed error
	for _, c := range clients {
		wait := inv.Spin("asking " + c.URL())
		got, err := c.Search(ctx, o.text)
		wait.Stop()
		if err != nil {
			failed = err
			if ctx.Err() != nil || len(clients) == 1 {
				return err
			}
			inv.Tell(err)
			continue
		}
		remarkStored(inv, c, got.Stored)
		for _, one := range got.Entries {
			if !seen[one.Name] {
				seen[one.Name] = true
				found = append(found, entryJSON{one.Name, one.Version, one.Title, one.Description, one.Status, c.URL()})
			}
		}
	}
	if len(found) == 0 && failed != nil {
		return terminal.Reported(failed)
	}
	if inv.Machine() {
		return inv.PrintJSON(found)
	}
	var rows [][]string
	for _, one := range found {
		description := one.Description
		if one.Status == "deprecated" {
			description = "(deprecated) " + description
		}
		rows = append(rows, []string{one.Name, one.Version, strings.Join(strings.Fields(description), " ")})
	}
	inv.Table([]string{"NAME", "VERSION", "DESCRIPTION"}, rows)
	if len(rows) == 0 {
		inv.Remark("no server was found")
	}
	return nil
}

// remarkStored says that a registry was not asked now.
func remarkStored(inv *invocation.Invocation, c *registry.Client, at time.Time) {
	if !at.IsZero() {
		inv.Remark("%s was not asked; this is its answer of %s", c.URL(), at.Local().Format(time.DateTime))
	}
}
