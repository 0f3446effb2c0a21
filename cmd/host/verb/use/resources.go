package use

import (
	"context"
	"encoding/json"

	"github.com/spf13/cobra"

	"github.com/junctor-mcp/junctor/cmd/host/invocation"
	"github.com/junctor-mcp/junctor/cmd/host/items"
	"github.com/junctor-mcp/junctor/cmd/host/results"
	"github.com/junctor-mcp/junctor/cmd/host/verb"
	"github.com/junctor-mcp/junctor/host"
	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/gateway"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/policy"
)

// Resources returns the verb resources.
func Resources(inv *invocation.Invocation) *cobra.Command {
	flags := &items.Flags{Need: items.ResourceLists}
	cmd := &cobra.Command{
		Use:               "resources [SERVER…]",
		Short:             "List resources and resource templates",
		ValidArgsFunction: inv.CompletesFor(&flags.Needs, items.CompleteServers),
		RunE: listing(inv, flags, func(app *host.App, of func(server string) bool) error {
			return printResources(inv, app, of)
		}),
	}
	flags.Add(inv, cmd)
	return cmd
}

// resourceJSON is the JSON form of a resource or a resource template.
type resourceJSON struct {
	URI         string `json:"uri,omitempty"`
	Template    string `json:"uriTemplate,omitempty"`
	Server      string `json:"server"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	MIME        string `json:"mimeType,omitempty"`
}

func printResources(inv *invocation.Invocation, app *host.App, of func(server string) bool) error {
	list := []resourceJSON{}
	add := func(it *catalog.Item, kind policy.Kind) {
		if !of(it.Server) || !app.Gateway.Visible(authn.Local(), kind, it.Server, it.Name) {
			return
		}
		r := resourceJSON{URI: it.Exposed, Server: it.Server, Title: it.Title, Description: it.Description}
		if kind == policy.Template {
			r.URI, r.Template = "", it.Exposed
		}
		r.MIME, _ = mcp.TextMember(it.Raw, "mimeType")
		list = append(list, r)
	}
	snapshot := app.Catalog.Snapshot()
	for _, r := range snapshot.Resources {
		add(r, policy.Resource)
	}
	for _, t := range snapshot.Templates {
		add(&t.Item, policy.Template)
	}
	if inv.Machine() {
		return inv.PrintJSON(list)
	}
	var rows [][]string
	for _, r := range list {
		about := r.Description
		if about == "" {
			about = r.Title
		}
		rows = append(rows, []string{r.URI + r.Template, r.Server, r.MIME, about})
	}
	inv.Table([]string{"RESOURCE", "SERVER", "TYPE", "DESCRIPTION"}, rows)
	return nil
}

// readOptions are the argument and flags of read.
type readOptions struct {
	inv    *invocation.Invocation
	uri    string // or SERVER/URI, or @SERVER:URI
	output string
	full   bool
	needs  invocation.Needs
}

// Read returns the verb read.
func Read(inv *invocation.Invocation) *cobra.Command {
	o := &readOptions{inv: inv}
	cmd := &cobra.Command{
		Use:   "read URI",
		Short: "Read a resource",
		Long: `Read a resource and print it. URI is one that "junctor resources" lists, one that a template there can make,
or SERVER/URI, or @SERVER:URI, when it is to be asked of one server.`,
		Args:              verb.Takes("URI"),
		ValidArgsFunction: inv.CompletesFor(&o.needs, items.CompleteResource),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.uri = args[0]
			return o.run(cmd.Context())
		},
	}
	cmd.Flags().StringVarP(&o.output, "output", "o", "", "write the contents to this `FILE` instead")
	cmd.Flags().BoolVar(&o.full, "full", false, "print all of it on a terminal, however long")
	invocation.RootFlag(cmd, &o.needs.Roots, "")
	return cmd
}

func (o *readOptions) run(ctx context.Context) error {
	inv := o.inv
	if err := results.CheckOutput(o.output); err != nil {
		return err
	}
	app, err := inv.Load(ctx, o.needs)
	if err != nil {
		return err
	}
	wait := inv.Spin("reading")
	defer wait.Stop()
	server, uri, named, err := items.SplitResource(app, o.uri)
	at, _ := app.Catalog.Snapshot().Listed(catalog.Location{Server: server, URI: uri})
	if err == nil && !named {
		at, err = app.Gateway.Locate(ctx, authn.Local(), uri)
		if fault.Is(err, fault.NameUnknown) {
			err = fault.As(err).WithHint("run `junctor resources` to list them, or write SERVER/URI to ask one server")
		}
	}
	if err != nil {
		return err
	}
	params, err := json.Marshal(map[string]string{"uri": uri})
	if err != nil {
		return err
	}
	call := gateway.LocalCall{Method: mcp.MethodReadResource, Params: params, Resource: at}
	reply, err := app.Gateway.CallLocally(ctx, call)
	wait.Stop()
	if err != nil {
		return err
	}
	if err := results.Answered(inv, at.Server, reply); err != nil {
		return err
	}
	if o.output != "" {
		return results.Save(inv, reply.Result, o.output, o.full)
	}
	return results.Print(inv, reply.Result, results.Options{Full: o.full, Saves: true})
}
