package use

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/junctor-mcp/junctor/cmd/host/invocation"
	"github.com/junctor-mcp/junctor/cmd/host/items"
	"github.com/junctor-mcp/junctor/host"
	"github.com/junctor-mcp/junctor/host/control"
)

// serverInspection is the JSON form of inspect for a server.
type serverInspection struct {
	*control.Server
	Instructions string `json:"instructions,omitempty"` // of the server, for models

	Tools     []inspectedItem `json:"tool_list"`
	Resources []inspectedItem `json:"resource_list"`
	Prompts   []inspectedItem `json:"prompt_list"`
}

// inspectedItem is an item of a server.
type inspectedItem struct {
	Name        string `json:"name"` // of a resource: its URI
	Access      string `json:"access,omitempty"`
	Description string `json:"description,omitempty"`
}

// inspectServer connects to a server, and shows what it says about itself and what it offers.
func inspectServer(ctx context.Context, inv *invocation.Invocation, app *host.App, name string) error {
	servers, err := items.Wanted(app, []string{name})
	if err != nil {
		return err
	}
	in := serverInspection{
		Server:    items.ConnectAll(ctx, inv, app, servers)[0],
		Tools:     []inspectedItem{},
		Resources: []inspectedItem{},
		Prompts:   []inspectedItem{},
	}
	if in.Error != nil {
		return in.Error.Fault()
	}
	in.Instructions = app.Hide(app.Catalog.Said()[name].Instructions)
	snapshot := app.Catalog.Snapshot()
	for _, t := range snapshot.Tools {
		if t.Server == name {
			in.Tools = append(in.Tools, inspectedItem{t.Exposed, t.Class.Kind.String(), t.Description})
		}
	}
	for _, r := range snapshot.Resources {
		if r.Server == name {
			in.Resources = append(in.Resources, inspectedItem{Name: r.Name, Description: r.Description})
		}
	}
	for _, p := range snapshot.Prompts {
		if p.Server == name {
			in.Prompts = append(in.Prompts, inspectedItem{Name: p.Exposed, Description: p.Description})
		}
	}
	if inv.Machine() {
		return inv.PrintJSON(in)
	}
	printServerInspection(inv, in)
	return nil
}

func printServerInspection(inv *invocation.Invocation, in serverInspection) {
	var about struct{ Name, Title, Version string }
	_ = json.Unmarshal(in.ServerInfo, &about) // as the server says; fields of other types stay empty
	inv.PrintFields("%s %s\n", about.Name, about.Version)
	if about.Title != "" {
		inv.PrintFields("%s\n", about.Title)
	}
	inv.PrintFields("\nprotocol   %s\ntransport  %s\nconnected  in %d ms\n", in.Revision, in.Transport, in.Latency)
	for _, n := range in.Notes {
		inv.PrintFields("note       %s\n", n)
	}
	if in.Instructions != "" {
		inv.Printf("\nINSTRUCTIONS\n")
		for line := range strings.Lines(in.Instructions) {
			inv.PrintFields("  %s\n", line)
		}
	}
	tables := []struct {
		header string
		items  []inspectedItem
	}{{"TOOL", in.Tools}, {"RESOURCE", in.Resources}, {"PROMPT", in.Prompts}}
	for _, t := range tables {
		var rows [][]string
		for _, it := range t.items {
			rows = append(rows, []string{it.Name, it.Access, it.Description})
		}
		if len(rows) > 0 {
			inv.Printf("\n")
			inv.Table([]string{t.header, "", "DESCRIPTION"}, rows)
		}
	}
}
