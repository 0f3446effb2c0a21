package main

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

func resourcesVerb(inv *invocation.Invocation) *cobra.Command {
	var f items.Flags
	cmd := &cobra.Command{
		Use:               "resources [SERVER…]",
		Short:             "List resources and resource templates",
		ValidArgsFunction: inv.CompletesFor(&f.Needs, items.CompleteServers),
		RunE: func(cmd *cobra.Command, args []string) error {
			return verb.ForeignArgument(cmd, args, listResources(cmd.Context(), inv, args, f))
		},
	}
	f.Add(inv, cmd)
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

func listResources(ctx context.Context, inv *invocation.Invocation, args []string, f items.Flags) error {
	f.Need = items.ResourceLists
	return items.Lists(ctx, inv, args, f, func(app *host.App, of func(string) bool) error { return printResources(inv, app, of) })
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

func readVerb(inv *invocation.Invocation) *cobra.Command {
	var needs invocation.Needs
	var output string
	var full bool
	cmd := &cobra.Command{
		Use:   "read URI",
		Short: "Read a resource",
		Long: `Read a resource and print it. URI is one that "junctor resources" lists, one that a template there can make,
or SERVER/URI, or @SERVER:URI, when it is to be asked of one server.`,
		Args:              verb.Takes("URI"),
		ValidArgsFunction: inv.CompletesFor(&needs, items.CompleteResource),
		RunE: func(cmd *cobra.Command, args []string) error {
			return read(cmd.Context(), inv, args[0], output, full, needs)
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "write the contents to this `FILE` instead")
	cmd.Flags().BoolVar(&full, "full", false, "print all of it on a terminal, however long")
	invocation.RootFlag(cmd, &needs.Roots, "")
	return cmd
}

func read(ctx context.Context, inv *invocation.Invocation, word, output string, full bool, needs invocation.Needs) error {
	if err := results.CheckOutput(output); err != nil {
		return err
	}
	app, err := inv.Load(ctx, needs)
	if err != nil {
		return err
	}
	wait := inv.Spin("reading")
	defer wait.Stop()
	server, uri, named, err := items.SplitResource(app, word)
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
	reply, err := app.Gateway.CallLocally(ctx, gateway.LocalCall{Method: mcp.MethodReadResource, Params: params, Resource: at})
	wait.Stop()
	if err != nil {
		return err
	}
	if err := results.Answered(inv, at.Server, reply); err != nil {
		return err
	}
	if output != "" {
		return results.Save(inv, reply.Result, output, full)
	}
	return results.Print(inv, reply.Result, results.Options{Full: full, Saves: true})
}
