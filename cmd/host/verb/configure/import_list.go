package configure

import (
	"strconv"

	"github.com/junctor-mcp/junctor/cmd/host/clientfiles"
	"github.com/junctor-mcp/junctor/cmd/host/invocation"
	"github.com/junctor-mcp/junctor/host/clientconfig"
	"github.com/junctor-mcp/junctor/host/clientimport"
)

// A foundClient is a file of a client on this machine.
type foundClient struct {
	Client  string `json:"client"`
	Title   string `json:"title"`
	Scope   string `json:"scope"`
	File    string `json:"file"`
	Servers int    `json:"servers"`
	Error   string `json:"error,omitempty"` // why the file cannot be read
}

// listClients prints the files of clients on this machine and in this directory. import calls it.
func listClients(inv *invocation.Invocation) error {
	found := []foundClient{}
	for _, scope := range []clientconfig.Scope{clientconfig.User, clientconfig.Project, clientconfig.Local} {
		for _, c := range clientconfig.Clients {
			if one, ok := findClient(inv, c, scope); ok {
				found = append(found, one)
			}
		}
	}
	if inv.Machine() {
		return inv.PrintJSON(found)
	}
	if len(found) == 0 {
		inv.Remark("no client has a file on this machine; junctor import FILE takes any other file")
		return nil
	}
	var rows [][]string
	for _, one := range found {
		servers := strconv.Itoa(one.Servers)
		if one.Error != "" {
			servers = "unreadable"
		}
		rows = append(rows, []string{one.Client, servers, one.Scope, one.File})
	}
	inv.Table([]string{"CLIENT", "SERVERS", "SCOPE", "FILE"}, rows)
	return nil
}

// findClient reads the file of a client, if there is one.
func findClient(inv *invocation.Invocation, c *clientconfig.Client,
	scope clientconfig.Scope) (one foundClient, ok bool) {
	if c.Places(scope, clientconfig.Home{Lookup: inv.Get}) == nil {
		return one, false
	}
	path, err := importPath(importOptions{scope: string(scope)}, c.Name, inv.Get)
	if err != nil || !clientfiles.FileExists(path) {
		return one, false
	}
	one = foundClient{Client: c.Name, Title: c.Title, Scope: string(scope), File: path}
	text, err := readRegular(path)
	var file clientconfig.Content
	if err == nil {
		file, err = clientFile(text, path, c, scope, inv.Get)
	}
	if scope == clientconfig.Local && len(file.Servers) == 0 {
		return one, false
	}
	if err != nil {
		one.Error = err.Error()
	}
	for _, s := range clientimport.Others(file.Servers) {
		if s.Problem == "" {
			one.Servers++
		}
	}
	return one, true
}
